"""Forces of molecular dynamics, derived from the statements of actions (docs/forces.md).

For H = sum -tr P^2 + S and U' = exp(eps P) U an action with dS = sum Re tr(dU G) gives dP/dtau = [U G]_TA / 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from re import sub as re_sub
from typing import Any

from generator.language import (
    Action,
    Algebra,
    Direction,
    Expression,
    Links,
    Matrices,
    Real,
    Spinor,
    Sum,
    adj,
    directions,
    dot,
    expression,
    gauge,
    re,
    shift,
    ta,
    time,
    total,
    trace,
    x,
)
from generator.language.derivative import derivative, parts, pulled_back, substituted
from generator.language.gauge import PLANES
from generator.language.graph import ExpressionError, Node, make
from generator.language.symbols import Definition, FourMatrices
from generator.lower.fifth import FifthForm
from generator.lower.paths import PathFields, along_paths, path_fields
from generator.operators.derived import CALLED, Derived, added, kicked, kicked_in_plane, renamed, sparing
from generator.operators.formula import FormulaOperator
from generator.operators.hopping import HoppingOperator
from generator.operators.link_forces import link_forces

_WEIGHT = make("parameter", "real", (), "weight")
MOST_HOPS = 64
"""Hops of a formula in Horner's form for which a kernel may hold its force: compilers take minutes for more."""


# --- gauge actions, plane by plane and cube by cube: the sum over those is the caller's


@expression
def plaquette_action(u: Links, c: Real, mu: Direction, nu: Direction) -> Sum:
    """S = -sum c/3 Re tr U_p of one plane."""
    return total(-1 / 3 * (c * re(trace(gauge.plaquette(u, mu, nu)))))


@expression
def rectangle_action(u: Links, plaquette: Real, rectangle: Real, ratio: Real, mu: Direction, nu: Direction) -> Sum:
    """The same with both rectangles: Luescher-Weisz, Iwasaki (UTHEP-118), DBW2 (hep-lat/9911033).

    Those long in nu count `ratio` times: they differ on anisotropic lattices.
    """
    along_mu, along_nu = (re(trace(gauge.rectangle(u, *plane))) for plane in ((mu, nu), (nu, mu)))
    square = re(trace(gauge.plaquette(u, mu, nu)))
    return total(-1 / 3 * (plaquette * square + rectangle * (along_mu + ratio * along_nu)))


@expression
def chair_action(u: Links, c: Real, mu: Direction, nu: Direction, rho: Direction) -> Sum:
    """S = -sum c/3 Re tr of the twisted loops of a cube (M. Luescher and P. Weisz, Phys. Lett. B 158 (1985) 250)."""
    return total(-1 / 3 * (c * _sum_of_traces(gauge.twisted_loops(u, mu, nu, rho))))


@expression
def two_plaquette_action(u: Links, c: Real, mu: Direction, nu: Direction, rho: Direction) -> Sum:
    """S = -sum c/18 Re tr U_p(x) Re tr U_p(x + rho) of one plane (C. Morningstar and M. Peardon, hep-lat/9911003)."""
    return total(_two_plaquettes(u, c, mu, nu, rho))


def _two_plaquettes(u: Any, c: Node, mu: Direction, nu: Direction, rho: Direction) -> Node:
    square = re(trace(gauge.plaquette(u, mu, nu)))
    return -1 / 18 * (c * (square * shift(square, +rho)))


@expression
def squares_action(u: Links, adjoint: Real, square: Real, mu: Direction, nu: Direction) -> Sum:
    """S = -sum (adjoint |tr U_p|^2 + square Re (tr U_p)^2)/9 of one plane: |tr|^2 - 1 is the trace in the adjoint."""
    return total(_squares(u, adjoint, square, mu, nu))


def _squares(u: Any, adjoint: Node, square: Node, mu: Direction, nu: Direction) -> Node:
    z = trace(gauge.plaquette(u, mu, nu))
    return -1 / 9 * (adjoint * re(adj(z) * z) + square * re(z * z))


def _sum_of_traces(loops: Iterable[Node]) -> Any:
    return sum(re(trace(loop)) for loop in loops)


GAUGE_ACTIONS = (plaquette_action, rectangle_action, chair_action, two_plaquette_action, squares_action)


# Forces of long loops take half the arithmetic in two steps: parts of loops of a plane, of which many sites need the
# same ones, then products of three.


@expression
def plane_staples(u: Links, mu: Direction, nu: Direction) -> Matrices:
    """The open paths round the plaquettes of a plane from x to x + mu, and from x to x + nu."""
    return {mu: gauge.staple(u[nu], u[mu], mu, nu), nu: gauge.staple(u[mu], u[nu], nu, mu)}


@expression
def plane_corners(u: Links, mu: Direction, nu: Direction, rho: Direction, sigma: Direction) -> Matrices:
    """Both paths from x to x + mu + nu, first along mu, then both to x + mu - nu."""
    back = shift(adj(u[nu]), -nu)
    ahead = gauge.corner(u, mu, nu), gauge.corner(u, nu, mu)
    return dict(zip((mu, nu, rho, sigma), (*ahead, u[mu] * shift(back, +mu), back * shift(u[mu], -nu)), strict=True))


@sparing(room=2, together=True, kept=1)
def force_rectangle(
    u: Links, staples: Matrices, p: Algebra, plaquette: Real, rectangle: Real, mu: Direction, nu: Direction
) -> Algebra:
    """P + dP/dtau of rectangle_action, given the staples of the plane.

    For staples C Re tr C C^+/2 is a rectangle and a constant, Re tr U C^+ are two plaquettes.
    """
    c = {a: adj(staples[a]) for a in (mu, nu)}
    long = pulled_back([(gauge.staple(u[b], u[a], a, b), c[a]) for a, b in ((mu, nu), (nu, mu))], "u")
    moved = kicked_in_plane(u, {a: -1 / 3 * (rectangle * long[a]) for a in (mu, nu)})
    return {a: m - plaquette / 6 * ta(u[a] * c[a]) for a, m in moved.items()}


@sparing(room=2, together=True, kept=2)
def force_chair(
    u: Links, corners: Matrices, p: Algebra, c: Real, mu: Direction, nu: Direction, rho: Direction, sigma: Direction
) -> Algebra:
    """P + dP/dtau of chair_action by the links out of a plane, in both cubes, given the corners of the plane.

    Two corners and two such links are a twisted loop.
    """
    pairs = [(corners[a], corners[b], aside) for a, b, aside in ((mu, nu, +mu + nu), (rho, sigma, +mu - nu))]
    around = [*pairs, *((other, one, aside) for one, other, aside in pairs)]

    def action(a: Direction) -> Node:
        loops = (u[a] * shift(one, +a) * adj(other * shift(u[a], aside)) for one, other, aside in around)
        return -1 / 3 * (c * _sum_of_traces(loops))

    return kicked(u, derivative(action(rho) + action(sigma), "u"))


@sparing(room=2, kept=1)
def force_plaquettes(
    u: Links,
    p: Algebra,
    a: Real,
    b: Real,
    c: Real,
    mu: Direction,
    nu: Direction,
    rho: Direction,
    sigma: Direction,
) -> Algebra:
    """P + dP/dtau of plaquette_action by the links along mu, of the planes with nu, rho and sigma."""
    planes = ((a, nu), (b, rho), (c, sigma))
    action = -1 / 3 * sum(w * re(trace(gauge.plaquette(u, mu, other))) for w, other in planes)
    return kicked(u, {mu: derivative(action, "u")[mu]})


@sparing(room=1, kept=1)
def force_two_plaquettes(u: Links, p: Algebra, c: Real, mu: Direction, nu: Direction, rho: Direction) -> Algebra:
    """P + dP/dtau of two_plaquette_action by the links along mu."""
    return kicked(u, {mu: derivative(_two_plaquettes(u, c, mu, nu, rho), "u")[mu]})


@sparing(room=1, kept=1)
def force_squares(u: Links, p: Algebra, adjoint: Real, square: Real, mu: Direction, nu: Direction) -> Algebra:
    """P + dP/dtau of squares_action by the links along mu."""
    return kicked(u, {mu: derivative(_squares(u, adjoint, square, mu, nu), "u")[mu]})


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


def force_paths(action: Action) -> PathFields | None:
    """The paths of a formula that is too long for a kernel of its force, which goes along them step by step."""
    fermion = action.fields[-1].name
    if FifthForm(action).has_shape:
        return None
    hops = sum(n.op == "shift" for n in parts([along_paths(action.matrix, fermion)]))
    return path_fields(action.matrix, fermion) if hops > MOST_HOPS else None


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


def slot(mu: Direction, nu: Direction) -> tuple[int, Direction]:
    """Where the matrix of a plane stands: with its first direction, that of xz with z; the second field has time."""
    turned = time not in (mu, nu) and (nu.index - mu.index) % 3 != 1
    return int(time in (mu, nu)), nu if turned else mu


def _six(*names: str) -> list[tuple[int, Direction, Node]]:
    """The matrices of the six planes as they were."""
    slots = [slot(*plane) for plane in PLANES]
    return [(half, k, FourMatrices(names[half], algebra=False)[k]) for half, k in slots]


def block_force(action: Action) -> Derived:
    """P + weight dP/dtau of one plane, given half the derivative of the action by its field strength.

    Raises:
        ExpressionError: the matrices of the planes are not all of one form.
    """

    def derive() -> Definition:
        _, blocks, _ = functional_of(action)
        forms = [
            renamed(block, dict(zip(plane, CALLED[:2], strict=True)))
            for block, plane in zip(blocks, PLANES, strict=True)
        ]
        if len({str(f) for f in forms}) > 1:
            raise ExpressionError(f"{action.place}: {action.name}: each plane has a matrix of its own form")
        (links,) = (f.name for f in action.fields[:-1])
        u = FourMatrices(links, algebra=False)
        source = 2.0 * FourMatrices("source", algebra=False)[CALLED[0]]
        back = pulled_back([(forms[0], source)], links)
        moved = kicked_in_plane(u, back, _WEIGHT)
        inputs = ((links, "links"), ("source", "matrices"), ("p", "algebra"), ("weight", "real"))
        plane = (("mu", "direction"), ("nu", "direction"))
        text = f"out = p + weight dP/dtau, given half the derivative by a field strength of {action.name}"
        return Definition(
            f"force_{action.name}", action.place, text, (*inputs, *plane), (("out", "algebra"),), (moved,)
        )

    return Derived(action.statement, f"force_{action.name}", derive=derive, room=2, together=True, kept=1)


def force_operators(operators: Iterable[Any], actions: Iterable[Action]) -> list[Expression]:
    """Forces of gauge actions, of all hops and formulas, of field strengths, and through smeared links."""
    found: list[Expression] = [*GAUGE_ACTIONS]
    for o in operators:
        hops = isinstance(o, HoppingOperator) and not o.hops_of
        action = o.form.action if hops else o.action if isinstance(o, FormulaOperator) and not o.dagger else None
        # Covariant derivatives without a mass are no actions of quarks.
        if action is not None and action.parameters and force_paths(action) is None:
            found.append(hop_force(action))
    with_blocks = next(a for a in actions if _blocks(a.matrix))  # what all of them have is the clover term
    found += [block_source(with_blocks), block_force(with_blocks)]
    return [*found, *link_forces()]
