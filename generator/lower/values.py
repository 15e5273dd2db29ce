"""From what the user wrote to what one site computes: shifts moved to the fields, equal parts computed once, and costs.

shift(a*b, +mu) = shift(a, +mu) * shift(b, +mu): every shift ends at a field, which is then read at another site.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..algebra.gamma import DEGRAND_ROSSI, Basis, Matrix
from ..algebra.projector import factorise
from ..cost import combination_flops, multiply_flops
from ..errors import ExpressionError
from ..language.graph import FIFTH, LINEAR, NAMES, NUMBERS, Node
from .constants import conjugate, is_constant, spin_value
from .propagators import Elements

Displacement = tuple[int, ...]
"""A displacement in sites along each of NAMES."""
AT_HOME: Displacement = (0,) * len(NAMES)
Flavours = tuple["Value", ...]
"""Spinors of a site that belong together."""

PRODUCT_FLOPS = 3 * multiply_flops(3)
"""A product of two complex 3x3 matrices. What follows is of three colours; for others it goes with the cube."""
TA_FLOPS = 24
"""Three complex and three real differences, their halves, and the trace."""
EXP_FLOPS = PRODUCT_FLOPS + 31 + 90 + 2 * 54 + 42
"""Q^2, two traces, the three coefficients of eqs. 29-34 of hep-lat/0311018, and f0 + f1 Q + f2 Q^2."""
EXP_ADJOINT_FLOPS = 5 * PRODUCT_FLOPS + 31 + 90 + 2 * 60 + 2 * 30 + 5 * 54
"""Q^2, Q C, C Q, two traces with each of Q and Q^2, coefficients of eqs. 60-69 there, and the sum of eq. 74."""
DAMPED_ADJOINT_FLOPS = 250 + 36
"""Flops of the inverse and its norm, which decide whether a derivative is damped."""
PROJECT_U3_ADJOINT_FLOPS = DAMPED_ADJOINT_FLOPS + 4 * PRODUCT_FLOPS + 165 + 4 * 99 + 2 * 60 + 4 * 22 + 313
"""Products: four whole, one without its trace, four of nine independent reals; invariants of two matrices, four steps
of Newton's iteration for those of the root, sums and multiples."""
RELAXED_FLOPS = 3 * (30 + 2 * 84)
"""Of each hit its quaternion, and two rows of two matrices turned."""
PROJECT_FLOPS = PRODUCT_FLOPS + 3 * 300 + 150
"""One pass over the SU(2) subgroups; how many are needed depends on the matrix."""


@dataclass(frozen=True, eq=False)
class Value:
    """A number, matrix or spinor of one site; equal ones are one object.

    Attributes:
        op: as of graph.Node, without shift and total.
        kind: as there.
        args: values it is made of.
        data: for a load (field, direction, flavour or sink and source spin, displacement); for a unit, an element of a
            gamma matrix of the call, (its name, the row).
    """

    op: str
    kind: str
    args: tuple[Value, ...]
    data: Any = None


@dataclass(frozen=True)
class SpinMatrix:
    """A constant 4x4 matrix in spin, equal to others of the same text; or one of its factors of lower rank, m = b p."""

    text: str
    node: Node = field(compare=False)
    part: Literal["", "p", "b^+"] = ""

    def rows(self, basis: Basis) -> Matrix:
        """The elements of the spin matrix in a basis."""
        value = spin_value(self.node, basis)
        if not self.part:
            return value
        factors = factorise(value)
        return factors.project if self.part == "p" else factors.reconstruct.conj().T


def _base(matrix: Value) -> tuple[Value, bool]:
    """A matrix without its conjugation, and whether there was one."""
    return (matrix.args[0], True) if matrix.op == "adj" else (matrix, False)


@dataclass
class Lowering:
    """Makes values of nodes; one table of what exists already.

    Attributes:
        unitary: names of the fields of links in SU(3).
        flavours: spinors of a site that belong together.
        elements, spins: of propagators what is made already (lower/propagators.py).
    """

    unitary: frozenset[str] = frozenset()
    flavours: int = 1
    elements: dict[Any, Any] = field(default_factory=dict)
    spins: dict[Any, Any] = field(default_factory=dict)
    _values: dict[Any, Value] = field(default_factory=dict)
    _seen: dict[tuple[int, Displacement, int], tuple[Node, Value]] = field(default_factory=dict)

    def lower(self, node: Node, at: Displacement = AT_HOME, flavour: int = 0) -> Value:
        """The value of a node at a displaced site, of a flavour where it is a spinor."""
        key = (id(node), at, flavour)
        if key not in self._seen:
            self._seen[key] = node, self._lower(node, at, flavour)  # kept, for its id to stay its own
        return self._seen[key][1]

    def _lower(self, node: Node, at: Displacement, flavour: int) -> Value:
        if node.op == "shift":
            steps = node.data.vector
            if steps[FIFTH]:
                raise ExpressionError(f"{node.place}: {node}: the fifth dimension is for statements of actions alone")
            return self.lower(node.args[0], tuple(a + b for a, b in zip(at, steps, strict=True)), flavour)
        if node.op == "promote":
            return self.lower(node.args[0], at, flavour)
        if node.op == "element":
            elements = Elements(self, at)
            return elements.matrix(elements.of(node.args[0], *node.data))
        if node.op == "trace" and node.args[0].kind == "block":
            return Elements(self, at).trace(node.args[0])
        if node.op == "stored":
            raise ExpressionError(f"{node.place}: {node.op}(...) is for statements of actions")
        if node.op == "sign":
            if any(at[4:FIFTH]):
                raise ExpressionError(f"{node.place}: {node}: its sign after a step along {NAMES[4]} is not known")
            odd = sum(at[mu] for mu in node.data) % 2 == 1
            here = self.value("sign", "real", (), node.data)
            return self.value("neg", "real", (here,), None) if odd else here
        if node.op == "exp" and node.kind != "matrix":
            raise ExpressionError(
                f"{node.place}: {node}: exponentials of numbers, and of matrices in spin and colour, are for "
                "statements of actions; pass the result"
            )
        if node.op == "mul" and node.kind == "spinor" and node.args[0].kind in LINEAR:
            psi = tuple(self.lower(node.args[1], at, f) for f in range(self.flavours))
            return self._applied(node.args[0], at, psi)[flavour]
        if node.op in ("outer", "dot") and self.flavours > 1:
            return self._of_flavours(node, at)
        args = tuple(self.lower(a, at, flavour) for a in node.args)
        if node.op in ("add", "sub") and node.kind == "complex":
            args = tuple(self._as_complex(a) for a in args)
        if node.op in ("total", "totals"):
            return args[0]
        if node.op == "outer":
            return self._outer(*args)
        if node.op == "adj" and (args[0].op == "adj" or node.kind == "real"):
            return args[0].args[0] if args[0].op == "adj" else args[0]
        if node.op == "load":
            of_site = flavour if node.kind == "spinor" else 0
            name, mu = node.data if isinstance(node.data, tuple) else (node.data, of_site)
            return self.value("load", node.kind, (), (name, mu, at))
        if node.op == "mul" and args[0].op == "constant" and args[1].op == "mul" and args[1].args[0].op == "constant":
            factor, rest = args[1].args
            kind = "complex" if "complex" in (args[0].kind, factor.kind) else "real"
            args = (self.value("constant", kind, (), args[0].data * factor.data), rest)
        return self.value(node.op, node.kind, args, node.data)

    def _as_complex(self, v: Value) -> Value:
        """A number as a term of a complex sum."""
        if v.kind == "complex":
            return v
        if v.op == "constant":
            return self.value("constant", "complex", (), complex(v.data))
        return self.value("promote", "complex", (v,), None)

    def _of_flavours(self, node: Node, at: Displacement) -> Value:
        """Applies a bilinear of two spinors and sums over their flavours."""
        total: Value | None = None
        for f in range(self.flavours):
            args = tuple(self.lower(a, at, f) for a in node.args)
            part = self._outer(*args) if node.op == "outer" else self.value(node.op, node.kind, args, node.data)
            total = part if total is None else self.value("add", node.kind, (total, part), None)
        assert total is not None
        return total

    def _applied(self, op: Node, at: Displacement, psi: Flavours) -> Flavours:
        """Spinors of all flavours after what stands before them: matrices in spin, flavour, colour; sums of these."""
        if op.op == "promote":
            return self._applied(op.args[0], at, psi)
        if op.kind in NUMBERS:
            number = self.lower(op, at)
            return tuple(self.value("mul", "spinor", (number, p), None) for p in psi)
        if op.kind == "matrix" and op.op == "mul" and op.args[0].kind == "matrix":
            return self._applied(op.args[0], at, self._applied(op.args[1], at, psi))
        if op.kind == "matrix":
            matrix = self.lower(op, at)
            return tuple(self._times(matrix, p) for p in psi)
        if op.kind == "flavour" and self.flavours == 1:
            raise ExpressionError(f"{op.place}: {op}: flavours are for statements of actions alone")
        if op.kind == "flavour" and is_constant(op):
            return tuple(self._mixed(row, psi) for row in spin_value(op, None))
        if op.kind == "spin" and is_constant(op):
            spin = SpinMatrix(str(op), op)
            return tuple(self.value("spin", "spinor", (p,), spin) for p in psi)
        if op.op == "mul":
            return self._applied(op.args[0], at, self._applied(op.args[1], at, psi))
        if op.op not in ("add", "sub", "neg"):
            raise ExpressionError(f"{op.place}: {op}: it multiplies no spinor in a kernel")
        parts = [self._applied(a, at, psi) for a in op.args]
        return tuple(self.value(op.op, "spinor", args, None) for args in zip(*parts, strict=True))

    def _mixed(self, row: Sequence[complex], psi: Flavours) -> Value:
        """A combination of flavours."""
        total: Value | None = None
        for c, p in zip(row, psi, strict=True):
            if c == 0:
                continue
            number = c if c.imag else c.real
            kind = "complex" if c.imag else "real"
            part = p if c == 1 else self.value("mul", "spinor", (self.value("constant", kind, (), number), p), None)
            total = part if total is None else self.value("add", "spinor", (total, part), None)
        return total or self.value("mul", "spinor", (self.value("constant", "real", (), 0.0), psi[0]), None)

    def _outer(self, f: Value, g: Value) -> Value:
        """F g^+; of (S f)(T g)^+ with S^+ T = b p of lower rank that of b^+ f and p g, which have fewer spins."""
        matrix: Node | None = None
        bare_f, bare_g = (v.args[0] if v.op == "spin" else v for v in (f, g))
        if f.op == "spin":
            matrix = conjugate(f.data.node)
        if g.op == "spin":
            matrix = g.data.node if matrix is None else matrix * g.data.node
        if matrix is None or np.linalg.matrix_rank(spin_value(matrix, DEGRAND_ROSSI)) == 4:
            return self.value("outer", "matrix", (f, g), None)
        left = self.value("spin", "spinor", (bare_f,), SpinMatrix(str(matrix), matrix, "b^+"))
        right = self.value("spin", "spinor", (bare_g,), SpinMatrix(str(matrix), matrix, "p"))
        return self.value("outer", "matrix", (left, right), None)

    def _times(self, matrix: Value, psi: Value) -> Value:
        """A matrix in colour times a spinor; a link times its conjugate is 1."""
        if psi.op == "mul" and psi.args[0].kind == "matrix":
            (first, conjugated), (second, turned) = _base(matrix), _base(psi.args[0])
            if first is second and first.op == "load" and first.data[0] in self.unitary and conjugated != turned:
                return psi.args[1]
        return self.value("mul", "spinor", (matrix, psi), None)

    def value(self, op: str, kind: str, args: tuple[Value, ...], data: Any) -> Value:
        """The one of this operation on these."""
        key = (op, kind, tuple(id(a) for a in args), data)
        return self._values.setdefault(key, Value(op, kind, args, data))


_OF_THREE = {
    "ta": TA_FLOPS,
    "exp": EXP_FLOPS,
    "exp_adjoint": EXP_ADJOINT_FLOPS,
    **dict.fromkeys(("project", "project_u3"), PROJECT_FLOPS),
    **dict.fromkeys(("project_adjoint", "project_u3_adjoint"), PROJECT_U3_ADJOINT_FLOPS),
    "damped_adjoint": DAMPED_ADJOINT_FLOPS,
    "relaxed": RELAXED_FLOPS,
}


def flops(v: Value, spins: int, basis: Basis | None = None, colours: int = 3) -> int:
    """Arithmetic of one value, its arguments given. Numbers that do not depend on the site cost nothing."""
    if v.op == "spin":
        return sum(combination_flops(row, first=True, colours=colours) for row in v.data.rows(basis or DEGRAND_ROSSI))
    if v.op == "outer" and v.args[0].op == "spin":
        spins = len(v.args[0].data.rows(basis or DEGRAND_ROSSI))
    n = colours
    reals = {"real": 1, "complex": 2, "matrix": 2 * n * n, "spinor": 2 * n * spins}[v.kind]
    if v.op == "mul":
        a, b = v.args
        return _product_flops(a, b, reals, multiply_flops(n) * (n if b.kind == "matrix" else spins))
    counted = {
        **dict.fromkeys(("add", "sub"), reals),
        "epsilon": 30 * n * n,
        "trace": 8 * n * n - 2 if len(v.args) == 2 else 2 * (n - 1),
        "dot": 16 * n * spins - 2,
        "outer": n * n * (8 * spins - 2),
        "summed": 2 * n * n,
    }
    return counted.get(v.op, _OF_THREE.get(v.op, 0) * n**3 // 27)


def _product_flops(a: Value, b: Value, reals: int, of_matrix: int) -> int:
    if a.kind == "matrix":
        return of_matrix
    if a.op == "sign" or (is_number(a) and is_number(b)):
        return 0
    return reals if is_imaginary(a) or a.kind == "real" else 3 * reals


def is_imaginary(v: Value) -> bool:
    """Whether a value is a constant multiple of i."""
    return v.op == "constant" and isinstance(v.data, complex) and v.data.real == 0


def is_number(v: Value) -> bool:
    """Whether a value is the same at all sites."""
    arithmetic = ("mul", "neg", "add", "sub", "div", "promote")
    return v.op in ("parameter", "constant", "unit") or (v.op in arithmetic and all(map(is_number, v.args)))
