"""Forces of molecular dynamics, derived from the statements of actions (docs/forces.md).

For H = sum -tr P^2 + S and U' = exp(eps P) U an action with dS = sum Re tr(dU G) gives dP/dtau = [U G]_TA / 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from re import sub as re_sub
from typing import Any

from generator.language import (
    Action,
    Direction,
    Expression,
    Links,
    Matrices,
    Real,
    Spinor,
    Sum,
    directions,
    dot,
    expression,
    re,
    space,
    time,
    total,
    trace,
    x,
)
from generator.language.derivative import derivative, parts, pulled_back, substituted
from generator.language.gauge import PLANES, plaquette, rectangle, twisted_loops
from generator.language.graph import Node, make
from generator.language.symbols import Definition, FourMatrices
from generator.lower.fifth import FifthForm
from generator.lower.paths import along_paths
from generator.operators.derived import Derived, added, kicked
from generator.operators.formula import FormulaOperator
from generator.operators.hopping import HoppingOperator
from generator.operators.link_forces import link_forces

_WEIGHT = make("parameter", "real", (), "weight")


# --- gauge actions


def _plaquettes(u: Links, planes: Any) -> Any:
    return sum(re(trace(plaquette(u, *plane))) for plane in planes)


@expression
def plaquette_action(u: Links, xy: Real, xz: Real, yz: Real, xt: Real, yt: Real, zt: Real) -> Sum:
    """S = -sum c/3 Re tr U_p with a coefficient c of each plane: Wilson's action, anisotropic too."""
    weights = zip((xy, xz, yz, xt, yt, zt), PLANES, strict=True)
    return total(sum(-1 / 3 * (c * re(trace(plaquette(u, *plane)))) for c, plane in weights))


def _rectangles(u: Links) -> Any:
    return sum(re(trace(rectangle(u, mu, nu))) for mu, nu in itertools.permutations(directions, 2))


@expression
def rectangle_action(u: Links, plaquette: Real, rectangle: Real) -> Sum:
    """S = -sum c_i/3 Re tr: Luescher-Weisz at tree level, Iwasaki (UTHEP-118), DBW2 (hep-lat/9911033)."""
    return total(-1 / 3 * (plaquette * _plaquettes(u, PLANES) + rectangle * _rectangles(u)))


@expression
def symanzik_action(u: Links, plaquette: Real, rectangle: Real, chair: Real) -> Sum:
    """S = -sum c_i/3 Re tr, with twisted loops (M. Luescher and P. Weisz, Phys. Lett. B 158 (1985) 250)."""
    cubes = itertools.combinations(directions, 3)
    chairs = sum(re(trace(loop)) for cube in cubes for loop in twisted_loops(u, *cube))
    return total(-1 / 3 * (plaquette * _plaquettes(u, PLANES) + rectangle * _rectangles(u) + chair * chairs))


GAUGE_ACTIONS = (plaquette_action, rectangle_action, symanzik_action)


def gauge_force(action: Expression) -> Derived:
    """P + dP/dtau of an expression whose result is the action: its coefficients are multiplied by the step of time."""
    name = "force_" + action.name.removesuffix("_action")

    def derive() -> Definition:
        stated = action.definition
        (links,) = (n for n, kind in stated.inputs if kind == "links")
        u = FourMatrices(links, algebra=False)
        moved = kicked(u, derivative(stated.results[0], links))
        inputs = ((links, "links"), ("p", "algebra"), *(i for i in stated.inputs if i[0] != links))
        text = f"out = p + dP/dtau of {action.name}"
        return Definition(name, stated.place, text, inputs, (("out", "algebra"),), (moved,))

    return Derived(action.function, name, derive=derive)


# --- fermions


@expression
def turn_colour(g: Matrices, psi: Spinor) -> Spinor:
    """A matrix of each site, g[x], times the field: boundary phases of fields of one colour vector on several ranks."""
    return g[x] * psi


def functional_of(action: Action) -> tuple[Node, list[Node], list[Node]]:
    """-2 Re chi^+ M psi, the matrices of a site in M (field strengths), and the fields that stand for them there."""
    fermion = action.fields[-1].name
    matrix = action.matrix if FifthForm(action).has_shape else along_paths(action.matrix, fermion)
    matrix = _with_numbers(matrix)
    blocks = _blocks(matrix)
    fields = [make("load", "matrix", (), (f"block{n}", 0)) for n in range(len(blocks))]
    (linear,) = substituted([matrix], {id(b): f for b, f in zip(blocks, fields, strict=True)})
    return -2.0 * re(dot(make("load", "spinor", (), "chi"), linear)), blocks, fields


def _with_numbers(matrix: Node) -> Node:
    """Exponentials of parameters as numbers of the call: exp(-mu) is exp_minus_mu."""
    names = {id(n): make("parameter", "real", (), name) for n, name in _exponentials(matrix)}
    return substituted([matrix], names)[0]


def _exponentials(matrix: Node) -> list[tuple[Node, str]]:
    found = [n for n in parts([matrix]) if n.op == "exp" and n.kind == "real"]
    return [(n, "exp_" + re_sub(r"\W+", "", str(n.args[0]).replace("-", "minus_"))) for n in found]


def force_arguments(action: Action) -> list[Node]:
    """Numbers that the force of its hops takes after the weight: parameters of the action and exponentials of them."""
    inputs = [name for name, _ in hop_force(action).definition.inputs]
    exponentials = {name: node for node, name in _exponentials(action.matrix)}
    names = inputs[inputs.index("weight") + 1 :]
    return [exponentials.get(n, make("parameter", "real", (), n)) for n in names]


def _blocks(matrix: Node) -> list[Node]:
    """The matrices in colour that stand beside matrices in spin in front of the fermion."""
    within = (a for n in parts([matrix]) if n.kind == "block" for a in n.args if a.kind == "matrix")
    return list({id(a): a for a in within}.values())


def hop_force(action: Action) -> Derived:
    """P + weight dP/dtau of -2 Re chi^+ M psi by the links of hops; of links not in SU(3) half the derivative."""
    matrices = [f for f in action.fields[:-1] if f.kind == "matrices"]
    name = f"{'derivative' if matrices else 'force'}_{action.name}"

    def derive() -> Definition:
        functional = functional_of(action)[0]
        spinors = ((action.fields[-1].name, "fermion"), ("chi", "fermion"))
        links = action.fields[:-1]
        if matrices:
            carried = [FourMatrices(f"{f.name}_derivative", algebra=False) for f in links]
            results = tuple(_carried(d, derivative(functional, f.name)) for d, f in zip(carried, links, strict=True))
            fields = (*spinors, *((d.name, "matrices") for d in carried))
            outputs = tuple((f"{f.name}_out", "matrices") for f in links)
            text = f"out = in + weight/2 of the derivative of -2 Re chi^+ M psi of {action.name} by its links"
        else:
            (u,) = (FourMatrices(f.name, algebra=False) for f in links)
            results = (kicked(u, derivative(functional, u.name), _WEIGHT),)
            fields, outputs = ((u.name, "links"), *spinors, ("p", "algebra")), (("out", "algebra"),)
            text = f"out = p + weight dP/dtau of -2 Re chi^+ M psi, hops of {action.name}"
        inputs = (*fields, ("weight", "real"), *_numbers(action, results))
        return Definition(name, action.place, text, inputs, outputs, results)

    return Derived(action.statement, name, derive=derive)


def _carried(before: Any, derivatives: Mapping[Direction, Node]) -> dict[Direction, Node]:
    return {mu: added(before[mu], derivatives.get(mu), _WEIGHT) for mu in directions}


def _numbers(action: Action, results: Sequence[Mapping[Direction, Node]]) -> list[tuple[str, str]]:
    """Parameters of the action that are left, and exponentials of them."""
    found = parts([v for result in results for v in result.values()])
    names = dict.fromkeys(n.data for n in found if n.op == "parameter" and n.data != "weight")
    order = [p.name for p in action.parameters]
    return [(n, "real") for n in sorted(names, key=lambda n: order.index(n) if n in order else len(order))]


def block_source(action: Action) -> Derived:
    """How -2 Re chi^+ M psi depends on the six field strengths of an action: half its derivatives by them, added up."""

    def derive() -> Definition:
        functional, blocks, fields = functional_of(action)
        assert len(blocks) == len(PLANES)
        carried = _six("magnetic", "electric")
        results: tuple[dict[Direction, Node], ...] = ({}, {})
        for f, (half, k, before) in zip(fields, carried, strict=True):
            g = pulled_back([(functional, make("constant", "real", (), 1.0))], f.data[0])[Direction(0)]
            results[half][k] = added(before, g, _WEIGHT)
        spinors = ((action.fields[-1].name, "fermion"), ("chi", "fermion"))
        fields_ = (("magnetic", "matrices"), ("electric", "matrices"))
        inputs = (*spinors, *fields_, ("weight", "real"), *_numbers(action, results))
        outputs = (("magnetic_out", "matrices"), ("electric_out", "matrices"))
        text = f"out = in + weight/2 of the derivative of -2 Re chi^+ M psi of {action.name} by its field strengths"
        return Definition(f"source_{action.name}", action.place, text, inputs, outputs, results)

    return Derived(action.statement, f"source_{action.name}", derive=derive)


def _six(magnetic: str, electric: str) -> list[tuple[int, Direction, Node]]:
    """Where the matrix of each plane stands: of space by the direction that is left, with time by the other one."""
    found = []
    for plane in PLANES:
        (k,) = (d for d in space if (d in plane) == (time in plane))
        name = electric if time in plane else magnetic
        found.append((int(time in plane), k, FourMatrices(name, algebra=False)[k]))
    return found


def block_force(action: Action) -> Derived:
    """P + dP/dtau, given half the derivatives of the action by the six field strengths."""

    def derive() -> Definition:
        _, blocks, _ = functional_of(action)
        sources = [2.0 * given for *_, given in _six("magnetic", "electric")]
        (links,) = (f.name for f in action.fields[:-1])
        u = FourMatrices(links, algebra=False)
        moved = kicked(u, pulled_back(list(zip(blocks, sources, strict=True)), links))
        inputs = ((links, "links"), ("magnetic", "matrices"), ("electric", "matrices"), ("p", "algebra"))
        text = f"out = p + dP/dtau, given half the derivatives by the field strengths of {action.name}"
        return Definition(f"force_{action.name}", action.place, text, inputs, (("out", "algebra"),), (moved,))

    return Derived(action.statement, f"force_{action.name}", derive=derive)


def force_operators(operators: Iterable[Any], actions: Iterable[Action]) -> list[Expression]:
    """Forces of gauge actions, of all hops and formulas, of field strengths, and through smeared links."""
    found: list[Expression] = [*GAUGE_ACTIONS, *map(gauge_force, GAUGE_ACTIONS)]
    for o in operators:
        hops = isinstance(o, HoppingOperator) and not o.hops_of
        action = o.form.action if hops else o.action if isinstance(o, FormulaOperator) and not o.dagger else None
        if action is not None and action.parameters:  # covariant derivatives without a mass are no actions of quarks
            found.append(hop_force(action))
    with_blocks = next(a for a in actions if _blocks(a.matrix))  # what all of them have is the clover term
    found += [block_source(with_blocks), block_force(with_blocks)]
    return [*found, *link_forces()]
