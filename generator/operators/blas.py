"""Vector updates and inner products of the solvers, each from its formula.

A formula assigns spinor fields x, y, z, w from fields and run-time scalars a, b, c; `norm(f)` adds |f|^2 and
`dot(f, g)` adds <f, g> = sum conj(f) g (two reals) of the values just computed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generator.cost import Cost
from generator.spec import KernelSpec

REALS = 24
"""Reals of a Dirac spinor."""
_FIELDS, _SCALARS = "xyzw", "abc"


@dataclass(frozen=True)
class Update:
    """An element-wise kernel.

    Attributes:
        name: as in kernel names.
        formula: statements separated by `;`.
        complex_scalars: True if a, b, c are complex.
    """

    name: str
    formula: str
    complex_scalars: bool = False

    family = "update"
    group = "blas"
    template = "update.hpp.j2"
    axes = ("precision",)

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return ast.parse(self.formula.replace("; ", "\n")).body

    @cached_property
    def outputs(self) -> list[str]:
        """Fields written, in order."""
        return [s.targets[0].id for s in self._statements if isinstance(s, ast.Assign)]  # type: ignore[attr-defined]

    @cached_property
    def inputs(self) -> list[str]:
        """Fields whose stored values are read."""
        read: list[str] = []
        written: list[str] = []
        for s in self._statements:
            value = s.value  # type: ignore[attr-defined]
            for node in ast.walk(value):
                if isinstance(node, ast.Name) and node.id in _FIELDS and node.id not in read + written:
                    read.append(node.id)
            if isinstance(s, ast.Assign):
                written.append(s.targets[0].id)  # type: ignore[attr-defined]
        return sorted(read)

    @cached_property
    def scalars(self) -> list[str]:
        """Run-time coefficients used."""
        names = {n.id for s in self._statements for n in ast.walk(s) if isinstance(n, ast.Name)}
        return sorted(names & set(_SCALARS))

    @cached_property
    def _sums(self) -> list[tuple[str, list[str]]]:
        calls = [s.value for s in self._statements if isinstance(s, ast.Expr)]
        return [(c.func.id, [arg.id for arg in c.args]) for c in calls]  # type: ignore[attr-defined]

    @property
    def sums(self) -> int:
        """Real numbers that the kernel adds up."""
        return sum({"norm": 1, "dot": 2}[name] for name, _ in self._sums)

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template: lines of one colour vector, and the sums."""
        lines, sums, n = [], [], 0
        for s in self._statements:
            if isinstance(s, ast.Assign):
                target = s.targets[0].id  # type: ignore[attr-defined]
                lines.append(f"{target}[s] = {self._code(s.value)};")
        for name, fields in self._sums:
            sums.append(f"add_{name}<W>({', '.join(f'{f}[s]' for f in fields)}, sums + {n});")
            n += {"norm": 1, "dot": 2}[name]
        return {
            "formula": self.formula,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "fresh": [f for f in self.outputs if f not in self.inputs],
            "scalars": self.scalars,
            "complex_scalars": self.complex_scalars,
            "lines": lines,
            "sum_lines": sums,
            "sums": self.sums,
        }

    def _code(self, node: ast.expr) -> str:
        if isinstance(node, ast.BinOp):
            symbol = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(node.op)]
            left, right = self._code(node.left), self._code(node.right)
            if isinstance(node.op, ast.Mult | ast.Sub) and isinstance(node.right, ast.BinOp):
                right = f"({right})"
            return f"{left} {symbol} {right}"
        assert isinstance(node, ast.Name)
        return f"{node.id}[s]" if node.id in _FIELDS else node.id

    def cost(self, spec: KernelSpec) -> Cost:
        """Additions count one flop a real; a scalar costs 1 (real) or 3 (complex); norm 2 and dot 4 flops a real."""
        flops = 0
        for s in self._statements:
            for node in ast.walk(s):
                if isinstance(node, ast.BinOp):
                    scale = 3 if self.complex_scalars else 1
                    flops += REALS * (scale if isinstance(node.op, ast.Mult) else 1)
        flops += sum({"norm": 2, "dot": 4}[name] * REALS for name, _ in self._sums)
        moved = len(self.inputs) + len(self.outputs)
        size = spec.format.spinor_bytes(4)
        return Cost(flops=flops, reported=flops, bytes=moved * size, reals=moved * REALS)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.spinor_codec]


UPDATES = (
    Update("scale", "y = a*x"),
    Update("axpby", "y = a*x + b*y"),
    Update("caxpby", "y = a*x + b*y", complex_scalars=True),
    Update("norm2", "norm(x)"),
    Update("cdot", "dot(x, y)"),
    Update("residual", "y = x - y; norm(y)"),
    Update("cg_step", "y = y + a*x; w = w - a*z; norm(w)"),
    Update("bicgstab_direction", "y = x + a*(y - b*z)", complex_scalars=True),
    Update("bicgstab_half_step", "y = y - a*x; norm(y)", complex_scalars=True),
    Update("bicgstab_omega", "dot(x, y); norm(x)"),
    Update("bicgstab_step", "w = w + a*x + b*y", complex_scalars=True),
    Update("bicgstab_residual", "y = y - a*x; norm(y); dot(z, y)", complex_scalars=True),
)
"""All vector updates."""
