"""Vector updates and inner products of the solvers, each from its formula.

A formula assigns spinor fields x, y, z, w, u, v from fields and coefficients, statement by statement; `norm(f)` adds
|f|^2 and `dot(f, g)` adds <f, g> = sum conj(f) g of the values at that place. v is what corrections are added up in: it
is stored in the plain numbers in which the kernel computes, the others in its precision. Coefficients a, b, c come with
the call, the same for all right-hand sides. Every other name is a slot: a complex number in device memory that each
right-hand side has for itself.

A record with slots may have a scalar program: it runs once for each right-hand side, after the sums (which the
formula names) are complete, on the device: `alpha = rr / ww`. It knows + - * /, comparisons (1 or 0), `max`, `sqrt`,
`real` and `conj`. A quotient whose denominator is zero or not finite is 0 and deactivates the right-hand side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..cost import Cost
from ..spec import KernelSpec, Operator

MOST_SLOTS = 24
"""Slots of one kernel at most: runtime/kernels/arguments.hpp."""
_FIELDS, _COEFFICIENTS = "xyzwuv", "abc"
_TOTAL = "v"
_OPERANDS = {"u": "in", "v": "out"}
"""Fields whose operand has another name: those that hopping kernels use."""
_SUMS = {"norm": 1, "dot": 2}
_FUNCTIONS = {"max": "larger", "sqrt": "square_root", "real": "real_part", "conj": "conjugate"}
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Gt: "greater", ast.GtE: "not_less"}
_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def _statements(text: str) -> list[ast.stmt]:
    return ast.parse(text.replace("; ", "\n")).body


def _names(node: ast.AST) -> Iterator[str]:
    """Names in the order of the text, functions left out."""
    called = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in called)


def _target(s: ast.stmt) -> str:
    """The name assigned, empty for a bare sum."""
    return s.targets[0].id if isinstance(s, ast.Assign) else ""  # type: ignore[attr-defined]


def _view(field: str) -> str:
    """Name of the view of a field in the template."""
    return "Totals" if field == _TOTAL else "Spinors"


@dataclass(frozen=True, eq=False)
class Update(Operator):
    """An element-wise kernel.

    Attributes:
        name: as in kernel names.
        formula: statements separated by `;`.
        complex_scalars: True if the coefficients and slots of the formula are complex; else their real parts are used.
        scalar_program: statements on device scalars that follow its sums.
    """

    name: str
    formula: str
    complex_scalars: bool = False
    scalar_program: str = ""

    family = "update"
    group = "blas"
    template = "update.hpp.j2"
    axes = ("precision", "spins")

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return _statements(self.formula)

    @cached_property
    def outputs(self) -> list[str]:
        """Fields written, in order."""
        return list(dict.fromkeys(t for t in map(_target, self._statements) if t and t in _FIELDS))

    @cached_property
    def inputs(self) -> list[str]:
        """Fields whose stored values are read."""
        read: list[str] = []
        written: list[str] = []
        for s in self._statements:
            read += [n for n in _names(s.value) if n in _FIELDS and n not in read + written]  # type: ignore[attr-defined]
            written.append(_target(s))
        return sorted(read)

    @cached_property
    def scalars(self) -> list[str]:
        """Coefficients used that come with the call."""
        return sorted({n for s in self._statements for n in _names(s) if n in _COEFFICIENTS})

    @cached_property
    def sum_names(self) -> list[tuple[str, str]]:
        """(name or empty, norm or dot) of all sums."""
        calls = [(_target(s), s.value) for s in self._statements if isinstance(s, ast.Assign | ast.Expr)]
        return [(name, c.func.id) for name, c in calls if isinstance(c, ast.Call)]  # type: ignore[attr-defined]

    @cached_property
    def slots(self) -> list[str]:
        """Slots read or written, in the order of the text."""
        sums = {name for name, _ in self.sum_names}
        names = [n for s in (*self._statements, *_statements(self.scalar_program)) for n in _names(s)]
        found = list(dict.fromkeys(n for n in names if n not in sums and n not in _FIELDS + _COEFFICIENTS))
        assert len(found) <= MOST_SLOTS
        return found

    @cached_property
    def _operations(self) -> list[bool]:
        """Whether each operation on vectors is a multiplication."""
        nodes = (node for s in self._statements for node in ast.walk(s))
        return [isinstance(node.op, ast.Mult) for node in nodes if isinstance(node, ast.BinOp)]

    @property
    def fields(self) -> int:
        """Fields read or written."""
        return len({*self.inputs, *self.outputs})

    @property
    def sums(self) -> int:
        """Real numbers that the kernel adds up."""
        return sum(_SUMS[kind] for _, kind in self.sum_names)

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template: lines of one colour vector, and the scalar program."""
        lines, n = [], 0
        for s in self._statements:
            value = s.value  # type: ignore[attr-defined]
            if isinstance(value, ast.Call):
                name = value.func.id  # type: ignore[attr-defined]
                lines.append(f"add_{name}<W>({', '.join(f'{f}[s]' for f in _names(value))}, sums + {n});")
                n += _SUMS[name]
            else:
                lines.append(f"{_target(s)}[s] = {self._code(value)};")
        used = {n for s in self._statements for n in _names(s)}
        kind = "complex" if self.complex_scalars else "real"
        return {
            "formula": self.formula,
            "inputs": [(f, _OPERANDS.get(f, f), _view(f)) for f in self.inputs],
            "outputs": [(f, _OPERANDS.get(f, f), _view(f)) for f in self.outputs],
            "total": _TOTAL in {*self.inputs, *self.outputs},
            "fresh": [f for f in self.outputs if f not in self.inputs],
            "scalars": self.scalars,
            "slots": [(name, i) for i, name in enumerate(self.slots) if name in used],
            "complex_scalars": self.complex_scalars,
            "scalar_function": f"{kind}_scalar",
            "slot_function": f"{kind}_slot",
            "lines": lines,
            "sums": self.sums,
            "scalar_program": self.scalar_program,
            "program": self._program(),
        }

    def _program(self) -> list[str]:
        """The scalar program in C++: sums and slots by name, then its statements."""
        if not self.scalar_program:
            return []
        statements = _statements(self.scalar_program)
        known = {name for s in statements for name in _names(s)}
        lines, n = [], 0
        for name, kind in self.sum_names:
            if name in known:
                lines.append(f"const Number {name} = {{sums[{n}], {'0' if kind == 'norm' else f'sums[{n + 1}]'}}};")
            n += _SUMS[kind]
        place = {name: i for i, name in enumerate(self.slots)}
        lines += [f"Number {name} = slots.get({place[name]});" for name in self.slots if name in known]
        written = list(dict.fromkeys(map(_target, statements)))
        lines += [f"{_target(s)} = {self._number(s.value)};" for s in statements]  # type: ignore[attr-defined]
        return lines + [f"slots.set({place[name]}, {name});" for name in written]

    def _number(self, node: ast.expr) -> str:
        """An expression of the scalar program in C++."""
        if isinstance(node, ast.BinOp):
            left, right = self._number(node.left), self._number(node.right)
            if isinstance(node.op, ast.Div):
                return f"slots.quotient({left}, {right})"
            return f"({left} {_SYMBOLS[type(node.op)]} {right})"
        if isinstance(node, ast.Compare):
            function = _COMPARISONS[type(node.ops[0])]
            return f"{function}({self._number(node.left)}, {self._number(node.comparators[0])})"
        if isinstance(node, ast.Call):
            function = _FUNCTIONS[node.func.id]  # type: ignore[attr-defined]
            return f"{function}({', '.join(map(self._number, node.args))})"
        if isinstance(node, ast.Constant):
            return f"Number{{{node.value}, 0}}"
        assert isinstance(node, ast.Name)
        return node.id

    def _code(self, node: ast.expr) -> str:
        if isinstance(node, ast.BinOp):
            left, right = self._code(node.left), self._code(node.right)
            if isinstance(node.op, ast.Mult | ast.Sub) and isinstance(node.right, ast.BinOp):
                right = f"({right})"
            return f"{left} {_SYMBOLS[type(node.op)]} {right}"
        assert isinstance(node, ast.Name)
        return f"{node.id}[s]" if node.id in _FIELDS else node.id

    def cost(self, spec: KernelSpec) -> Cost:
        """Additions count one flop a real; a scalar costs 1 (real) or 3 (complex); norm 2 and dot 4 flops a real."""
        spins = spec.spins or 4
        reals = 2 * spec.colours * spins
        factor = 3 if self.complex_scalars else 1
        flops = reals * (sum(factor if product else 1 for product in self._operations) + 2 * self.sums)
        moved = [*self.inputs, *self.outputs]
        formats = (spec.format.computed if f == _TOTAL else spec.format for f in moved)
        size = sum(stored.spinor_bytes(spins, spec.colours) for stored in formats)
        return Cost(flops=flops, reported=flops, bytes=size, reals=len(moved) * reals)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.spinor_codec, str(spec.spins or 4)]


_IMMEDIATE = (
    Update("scale", "y = a*x"),
    Update("axpby", "y = a*x + b*y"),
    Update("caxpby", "y = a*x + b*y", complex_scalars=True),
    Update("norm2", "norm(x)"),
    Update("cdot", "dot(x, y)"),
    Update("residual", "y = x - y; norm(y)"),
    Update("widen", "v = x"),
    Update("add_difference", "y = y + a*(x - z)", complex_scalars=True),
)

# When a right-hand side stops: at its target, or where the residual calls for a replacement. Either it fell by
# a factor (`fall`, squared) below its largest value, or the deviation between it and the true residual, estimated as
# H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835, section 3, outgrew root = sqrt(epsilon) of it; with
# epsilon 0 it never does.
_DEVIATION = "deviation = deviation + epsilon*(sqrt(rr_new) + scale*size)"
_OUTGROWN = "(root*sqrt(rr) >= deviation_old)*(deviation > root*sqrt(rr_new))*(deviation > 1.1*deviation_first)"
_STOP = (
    f"deviation_old = deviation; {_DEVIATION}; most = max(most, rr_new); iterations = iterations + 1; "
    f"active = (rr_new > max(target, fall*most))*(limit > iterations)*(1 - {_OUTGROWN})"
)
_BEGIN = "rr = rr_new; most = rr_new; size = 0*rr_new; deviation = epsilon*sqrt(rr_new); deviation_first = deviation"

_RESIDENT = (
    Update("measure", "rr_new = norm(x)", scalar_program=_BEGIN),
    Update("advance", "y = y + alpha*x"),
    Update("add_correction", "v = v + alpha*x"),
    Update("round_correction", "x = v"),
    # Conjugate gradients on the normal equations (krylov/methods/cg.cpp).
    Update("cg_direction", "v = v + alpha*x; x = z + beta*x"),
    Update(
        "cg_curvature",
        "ww = norm(x)",
        scalar_program="pp = rr + beta*beta*pp; scale = max(scale, ww/pp); alpha = rr/ww; size = size + alpha*sqrt(pp)",
    ),
    Update(
        "cg_residual", "y = y - alpha*x; rr_new = norm(y)", scalar_program=f"{_STOP}; beta = rr_new/rr; rr = rr_new"
    ),
    Update(
        "cg_replace",
        "y = y + alpha*w; rq = dot(x, y); rp = dot(x, z); rr_new = norm(x); y = x",
        scalar_program=f"beta = beta*(rr_new - real(rq))/rr; shift = real(rp)/rr_new; alpha = 0*rr_new; {_BEGIN}",
    ),
    Update("cg_reproject", "y = y - shift*x; pp_new = norm(y)", scalar_program="pp = pp_new"),
    # Conjugate gradients for a Hermitian matrix plus a multiple of one (krylov/methods/cg.cpp), and for many such
    # multiples in one Krylov space (solvers/krylov/multishift.cpp): names with `base` are those of the smallest.
    Update(
        "hermitian_curvature",
        "y = y + sigma*x; pq = dot(x, y)",
        scalar_program="pp = rr + beta*beta*pp; scale = max(scale, real(pq)/pp); alpha = rr/real(pq); "
        "size = size + alpha*sqrt(pp)",
    ),
    Update(
        "shift_residual",
        "y = y - alpha*x; rr_new = norm(y)",
        scalar_program="factor = alpha*beta/alpha_old; alpha_old = alpha; beta = rr_new/rr; rr = rr_new",
    ),
    Update(
        "shift_coefficients",
        "pp = norm(x)",
        scalar_program="ratio = 1/(1 + base_alpha*sigma + base_factor*(1 - ratio)); zeta = zeta*ratio; "
        "alpha = base_alpha*ratio; beta = base_beta*ratio*ratio; rr = zeta*zeta*base_rr + 0*pp; "
        "fraction = rr/bb; iterations = iterations + 1; active = (rr > target)*(limit > iterations)",
    ),
    Update("shift_direction", "y = y + alpha*x; x = zeta*z + beta*x"),
    # Stabilised bi-conjugate gradients (krylov/methods/bicgstab.cpp). What an iteration has left to add is half x, and
    # last times the residual of its half step.
    Update(
        "bicgstab_step",
        "v = v + half*x + last*y; y = y - last*z; x = y + beta*(x - omega*w)",
        complex_scalars=True,
    ),
    Update(
        "bicgstab_alpha",
        "sigma = dot(x, y); pp = norm(z)",
        scalar_program="alpha = rho/sigma; half = alpha; last = 0*alpha; "
        "size = size + sqrt(real(conj(alpha)*alpha)*pp)",
    ),
    Update("bicgstab_half_step", "y = y - alpha*x", complex_scalars=True),
    Update(
        "bicgstab_omega",
        "ts = dot(x, y); tt = norm(x); ss = norm(y); us = dot(u, y); ut = dot(u, x)",
        scalar_program="omega = ts/tt; last = omega; scale = max(scale, sqrt(tt/ss)); "
        "size = size + sqrt(real(conj(omega)*omega)*ss); rr_new = max(0, ss - real(omega*conj(ts))); "
        f"{_STOP}; rho_new = us - omega*ut; beta = (rho_new/rho)*(alpha/omega); rho_old = rho; rho = rho_new; "
        "rr = rr_new",
    ),
    Update("bicgstab_complete", "v = v + half*x + last*y", complex_scalars=True),
    Update(
        "bicgstab_replace",
        "rr_new = norm(x); rho_new = dot(y, x)",
        scalar_program=f"beta = (rho_new/rho_old)*(alpha/omega); rho = rho_new; half = 0*rho; last = 0*rho; {_BEGIN}",
    ),
    # Craig's method, CGNE (krylov/methods/cgne.cpp), which shares cg_residual.
    Update(
        "cgne_direction",
        "v = v + alpha*x; x = z + beta*x; pp_new = norm(x); ww = norm(z)",
        scalar_program="scale = max(scale, sqrt(ww/rr)); alpha = rr/pp_new; pp = pp_new; "
        "size = size + alpha*sqrt(pp_new)",
    ),
    Update(
        "cgne_replace",
        "rq = dot(x, y); rr_new = norm(x)",
        scalar_program=f"beta = 0 - real(rq)/pp; alpha = 0*rr_new; {_BEGIN}",
    ),
    # Minimal residual and generalised conjugate residuals (krylov/methods/mr.cpp, gcr.cpp). In the former the direction
    # z is the residual y itself.
    Update(
        "mr_alpha",
        "qr = dot(x, y); qq_new = norm(x)",
        scalar_program="qq = qq_new; weight = 1/qq_new; alpha = omega*qr/qq_new",
    ),
    Update(
        "mr_step",
        "v = v + alpha*z; y = y - alpha*x; rr_new = norm(y); xx = norm(v); pp = norm(z)",
        complex_scalars=True,
        scalar_program=f"scale = max(scale, sqrt(qq/pp)); size = sqrt(xx); {_STOP}; rr = rr_new",
    ),
    Update("gcr_direction", "y = x"),
    Update(
        "gcr_project",
        "qx = dot(x, y); qz = dot(z, y); qw = dot(w, y); qu = dot(u, y)",
        scalar_program="beta_x = weight_x*qx; beta_z = weight_z*qz; beta_w = weight_w*qw; beta_u = weight_u*qu",
    ),
    Update("gcr_orthogonalise", "y = y - beta_x*x - beta_z*z - beta_w*w - beta_u*u", complex_scalars=True),
    # BiCGstab(l) (krylov/methods/bicgstab_l.cpp), which shares half_step and replace of BiCGstab. Names that end in
    # a number count down from l: gamma_0 is gamma_l of the paper, gamma_1 is gamma_{l-1}.
    Update("bicgstab_l_alpha", "sigma = dot(x, y)", scalar_program="alpha = rho/sigma"),
    Update("bicgstab_l_advance", "v = v + alpha*x", complex_scalars=True),
    Update("bicgstab_l_direction", "y = x + beta*y", complex_scalars=True),
    Update("bicgstab_l_rho", "rho_new = dot(x, y)", scalar_program="beta = 0 - alpha*(rho_new/rho); rho = rho_new"),
    Update("bicgstab_l_tau", "projection = dot(x, y)", scalar_program="tau = projection/sigma"),
    Update(
        "bicgstab_l_minimise",
        "rs = dot(x, y); sigma_new = norm(x); ss = norm(y)",
        scalar_program="sigma = sigma_new; first = rs/sigma_new; scale = max(scale, sqrt(sigma_new/ss))",
    ),
    Update(
        "bicgstab_l_solve",
        "rs = dot(x, y); sigma = norm(x); ss = norm(y)",
        scalar_program="scale = max(scale, sqrt(sigma/ss)); gamma_0 = rs/sigma; gamma_1 = first_1 - tau_10*gamma_0; "
        "gamma_2 = first_2 - tau_21*gamma_1 - tau_20*gamma_0; "
        "gamma_3 = first_3 - tau_32*gamma_2 - tau_31*gamma_1 - tau_30*gamma_0; "
        "second_1 = gamma_0; second_2 = gamma_1 + tau_21*gamma_0; "
        "second_3 = gamma_2 + tau_32*gamma_1 + tau_31*gamma_0",
    ),
    Update("bicgstab_l_update", "v = v + gamma*z + second*x; z = z - first*x", complex_scalars=True),
    Update(
        "bicgstab_l_step",
        "v = v + gamma*y; y = y - omega*x; rr_new = norm(y); rho_new = dot(u, y); xx = norm(v)",
        complex_scalars=True,
        scalar_program=f"size = sqrt(xx); {_STOP}; beta = (rho_new/rho)*(alpha/omega); rho_old = rho; "
        "rho = rho_new; rr = rr_new",
    ),
)

UPDATES = (*_IMMEDIATE, *_RESIDENT)
"""All vector updates."""
