"""Kernels of the terms of which fields are made, and of their derivatives: forwards and backwards, launch by launch.

Fields of matrices carry half the derivative of an action S by them, dS = 2 sum Re tr(dV g), on the way back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import cache, partial

from ..language import Matrices, Real, Sum, expression
from ..language.formula import Definition, Formula, parameter_symbol
from ..language.gauge import field_strength, line, staple
from ..language.graph import Direction, Node, constant, make
from ..language.place import Place
from ..language.symbols import (
    Four,
    adj,
    directions,
    exp,
    identity,
    project_u3,
    re,
    symbol,
    ta,
    total,
    trace,
)
from ..lower.derivative import Weighted, pulled_back, weighted
from ..lower.program import CALLED, OPERANDS, Core, Launch, grouped, renamed
from .derived import MOMENTA, kicked_in_plane
from .expression import Expression
from .schedule import LONG, Schedule

_MU, _NU = CALLED[:2]
_X, _Y = directions[:2]
NAMED: dict[str, Node] = {
    "link": Four("u")[_X],
    "staple": staple(Four("u")[_Y], Four("v")[_X], _X, _Y),
    "naik": line(Four("u"), _X, 3),
    "clover": constant(8.0) * field_strength(Four("u"), _X, _Y),
    "stout": exp(parameter_symbol("rho") * ta(Four("u")[_X] * adj(Four("v")[_X]))) * Four("v")[_X],
    "u3": project_u3(Four("u")[_X]),
}
"""Terms that statements of the field are made of, with the names of their kernels."""
GROUP = "programs"
_WEIGHT = parameter_symbol("weight")


@cache
def _names() -> dict[str, str]:
    kinds = dict.fromkeys(("u", "v"), "matrices")
    return {grouped(node, 0, kinds)[0].core.formula: name for name, node in NAMED.items()}


def core_name(core: Core) -> str:
    """The part of kernel names for a core: a standard name such as `staple`, or a digest of the formula."""
    named = _names().get(core.formula)
    return (named or "term_" + hashlib.sha256(core.formula.encode()).hexdigest()[:8]) + ("s" if core.whole else "")


def kernel_name(launch: Launch) -> str:
    """The kernel of a launch: `set_` begins a sum, `add_` adds to it, `keep_` adds and stores the core too."""
    how = "keep" if launch.kept else "set" if launch.first else "add"
    return f"{how}_{core_name(launch.core)}"


def back_name(launch: Launch) -> str:
    """The kernel that takes the derivative by the result of a launch back to its operands."""
    return f"back_{core_name(launch.core)}"


def is_loop(launch: Launch, gauge: str) -> bool:
    """Whether its core is made of links of a configuration alone, round a plane: its force kicks momenta at once."""
    return set(launch.operands) == {gauge} and launch.core.directions == 2 and launch.field.startswith("sites")


def force_name(launch: Launch) -> str:
    """The kernel of the force of such a loop."""
    return f"force_{core_name(launch.core)}"


def _all(core: Core, node: Node) -> dict[Direction, Node]:
    """A matrix of its own direction, or of all of them."""
    return {d: renamed(node, {_MU: d}) for d in directions} if core.whole else {_MU: node}


def _inputs(core: Core) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Operands, numbers and directions of a call."""
    operands = tuple(zip(OPERANDS, core.operands, strict=False))
    numbers = tuple((f"n{k + 1}", kind) for k, kind in enumerate(core.numbers))
    return operands, numbers, tuple((d.name, "direction") for d in CALLED[: core.directions])


def _weighed(node: Node, weight: Node) -> Node:
    """A weight times a matrix; constants first, numbers of the call last."""
    w = weighted(node)
    return Weighted(w.factor, (weight, *w.numbers), w.node).value


def _forward(core: Core, how: str) -> Definition:
    operands, numbers, along = _inputs(core)
    before = (("before", "matrices"),) if how != "set" else ()
    sums = {
        d: _weighed(v, _WEIGHT) if how == "set" else Four("before")[d] + _weighed(v, _WEIGHT)
        for d, v in _all(core, core.node).items()
    }
    results = (_all(core, core.node), sums) if how == "keep" else (sums,)
    outputs = (("kept", "matrices"),) if how == "keep" else ()
    text = {
        "set": "out = weight * term",
        "add": "out = before + weight * term",
        "keep": "kept = term, out = before + weight * term",
    }[how]
    inputs = (*operands, *before, *numbers, ("weight", "real"), *along)
    return Definition(f"{how}_{core_name(core)}", _PLACE, text, inputs, (*outputs, ("out", "matrices")), results)


_PLACE = Place(__file__, 1)


def by_operand(core: Core) -> list[str]:
    """Operands by which a core has derivatives: its matrices."""
    return [name for name, kind in zip(OPERANDS, core.operands, strict=False) if kind == "matrices"]


def _backward(core: Core) -> Definition:
    """Each by_m + weight_m d, half the derivatives by the operands, given g by the result."""
    operands, numbers, along = _inputs(core)
    names = by_operand(core)
    result = _all(core, core.node)
    pairs = [(v, Four("g")[d]) for d, v in result.items()]
    results, fields, weights = [], [], []
    for name in names:
        by = Four(f"by_{name}")
        weight = parameter_symbol(f"weight_{name}")
        results.append({d: by[d] + _weighed(v, weight) for d, v in pulled_back(pairs, name).items()})
        fields.append((by.name, "matrices"))
        weights.append((f"weight_{name}", "real"))
    inputs = (*operands, ("g", "matrices"), *fields, *numbers, *weights, *along)
    outputs = tuple((f"{name}_out", kind) for name, kind in fields)
    text = "by_m + weight_m times the derivative by each operand, given g by the term"
    return Definition(f"back_{core_name(core)}", _PLACE, text, inputs, outputs, tuple(results))


def _kicked(core: Core) -> Definition:
    """P + weight dP/dtau of a loop, given half the derivative by it."""
    u = Four("u")
    node = _of_one_field(core.node)
    back = pulled_back([(node, 2.0 * Four("source")[_MU])], "u")
    moved = kicked_in_plane(u, back, _WEIGHT)
    _, numbers, along = _inputs(core)
    inputs = (("u", "links"), ("source", "matrices"), ("p", "algebra"), *numbers, ("weight", "real"), *along)
    text = "out = p + weight dP/dtau, given half the derivative of the action by a sum of loops"
    return Definition(f"force_{core_name(core)}", _PLACE, text, inputs, (("out", "algebra"),), (moved,))


def _of_one_field(node: Node) -> Node:
    """A core with one field in place of all operands."""
    data = ("u", node.data[1]) if node.op == "load" else node.data
    return Node(node.op, node.kind, tuple(map(_of_one_field, node.args)), data, node.algebra, node.place)


def forward_names(launches: Iterable[Launch]) -> list[str]:
    """The kernels of some launches."""
    return list(dict.fromkeys(map(kernel_name, launches)))


def back_names(launches: Iterable[Launch], moving: frozenset[str], gauge: str) -> list[str]:
    """The kernels of their way back as far as it leads to links that move."""
    found: dict[str, None] = {}
    for launch in launches:
        if launch.kept and moving & set(launch.operands):  # the core is made once more
            found[f"set_{core_name(launch.core)}"] = None
        if moving & set(launch.operands):
            found[force_name(launch) if is_loop(launch, gauge) else back_name(launch)] = None
    return list(found)


_LOOP = Schedule(sparing=None, kept=1, together=True, min_blocks=2)


def program_kernels(launches: Iterable[Launch], moving: frozenset[str], gauge: str) -> dict[str, Expression]:
    """Kernels of some launches by name, both ways."""
    found: dict[str, Expression] = {}
    for launch in launches:
        core = launch.core
        makers: dict[str, tuple[Callable[[Core], Definition], Schedule]] = {
            kernel_name(launch): (_FORWARD[kernel_name(launch).partition("_")[0]], Schedule()),
            f"set_{core_name(core)}": (_FORWARD["set"], Schedule()),
            back_name(launch): (_backward, LONG),
            force_name(launch): (_kicked, _LOOP),
        }
        for name in (*forward_names([launch]), *back_names([launch], moving, gauge)):
            make, schedule = makers[name]
            if name not in found:
                found[name] = Expression(Formula(name, partial(make, core), GROUP), schedule)
    return found


_FORWARD = {how: partial(_forward, how=how) for how in ("set", "add", "keep")}


def _links_moved() -> Definition:
    u, g = Four("u"), Four("g")
    moved = {mu: MOMENTA[mu] + ta(u[mu] * g[mu]) for mu in directions}
    inputs = (("u", "links"), ("g", "matrices"), ("p", "algebra"))
    text = "out = p + [U g]_TA: dP/dtau where g is half the derivative of the action by the links"
    return Definition("force_link", _PLACE, text, inputs, (("out", "algebra"),), (moved,))


def _as_derivative() -> Definition:
    v, z = Four("v"), symbol("z", "algebra")
    text = "out = V^+ z: half the derivative by links V in a unitary group, given z = [V G]_TA / 2"
    inputs = (("v", "matrices"), ("z", "algebra"))
    return Definition(
        "derivative_of_force",
        _PLACE,
        text,
        inputs,
        (("out", "matrices"),),
        ({mu: adj(v[mu]) * z[mu] for mu in directions},),
    )


def _damped() -> Definition:
    count = sum(make("damped_adjoint", "real", (Four("v")[mu],)) for mu in directions)
    text = "how many links v have a projection on U(3) whose derivative is damped: small eigenvalues of v^+ v"
    return Definition("damped_projections", _PLACE, text, (("v", "matrices"),), (), (), (total(count),))


@expression(group=GROUP)
def off_unitarity(v: Matrices) -> Sum:
    """The sum of |v v^+ - 1|^2 over all matrices."""
    squares = (v[mu] * adj(v[mu]) - identity for mu in directions)
    return total(sum(re(trace(d * d)) for d in squares))


@expression(group=GROUP)
def matrices_norm2(v: Matrices) -> Sum:
    """The sum of tr v v^+ over all matrices."""
    return total(sum(re(trace(v[mu] * adj(v[mu]))) for mu in directions))


@expression(group=GROUP)
def add_matrices(v: Matrices, w: Matrices, c: Real) -> Matrices:
    """V' = V + c W."""
    return {mu: v[mu] + c * w[mu] for mu in directions}


ENDS = (
    Expression(Formula("force_link", _links_moved, GROUP), LONG),
    Expression(Formula("derivative_of_force", _as_derivative, GROUP), LONG),
    Expression(Formula("damped_projections", _damped, GROUP), LONG),
)
"""Where a way back begins and ends, and how often it is damped."""
