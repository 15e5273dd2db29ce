"""Gauge actions of molecular dynamics, plane by plane and cube by cube, and their forces (docs/forces.md).

For H = sum -tr P^2 + S and U' = exp(eps P) U an action with dS = sum Re tr(dU G) gives dP/dtau = [U G]_TA / 2. The sum
over planes and cubes is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..language import (
    Algebra,
    Direction,
    Links,
    Matrices,
    Real,
    Sum,
    adj,
    expression,
    gauge,
    re,
    shift,
    ta,
    total,
    trace,
)
from ..language.formula import named
from ..language.graph import Node
from ..lower.derivative import derivative, pulled_back
from .derived import kicked, kicked_in_plane
from .expression import Expression
from .schedule import Schedule


def scheduled(**schedule: Any) -> Callable[[Callable[..., Any]], Expression]:
    """Decorator: an expression with long sums of paths of the links of a configuration, which are in SU(3)."""
    return lambda function: Expression(named(function), Schedule(two_rows=True, **{"sparing": True, **schedule}))


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


# Forces of long loops take half the arithmetic in two steps: parts of loops of a plane, of which many sites need the
# same ones, then products of three.


@scheduled(sparing=False)
def plane_staples(u: Links, mu: Direction, nu: Direction) -> Matrices:
    """The open paths round the plaquettes of a plane from x to x + mu, and from x to x + nu."""
    return {mu: gauge.staple(u[nu], u[mu], mu, nu), nu: gauge.staple(u[mu], u[nu], nu, mu)}


@scheduled(sparing=False)
def plane_corners(u: Links, mu: Direction, nu: Direction, rho: Direction, sigma: Direction) -> Matrices:
    """Paths from x to x + mu + nu in both orders, that along mu first; then those to x + mu - nu."""
    back = shift(adj(u[nu]), -nu)
    ahead = gauge.corner(u, mu, nu), gauge.corner(u, nu, mu)
    return dict(zip((mu, nu, rho, sigma), (*ahead, u[mu] * shift(back, +mu), back * shift(u[mu], -nu)), strict=True))


@scheduled(min_blocks=2, together=True, kept=1)
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


@scheduled(min_blocks=2, together=True, kept=2)
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


@scheduled(min_blocks=2, kept=1)
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


@scheduled(min_blocks=1, kept=1)
def force_two_plaquettes(u: Links, p: Algebra, c: Real, mu: Direction, nu: Direction, rho: Direction) -> Algebra:
    """P + dP/dtau of two_plaquette_action by the links along mu."""
    return kicked(u, {mu: derivative(_two_plaquettes(u, c, mu, nu, rho), "u")[mu]})


@scheduled(min_blocks=1, kept=1)
def force_squares(u: Links, p: Algebra, adjoint: Real, square: Real, mu: Direction, nu: Direction) -> Algebra:
    """P + dP/dtau of squares_action by the links along mu."""
    return kicked(u, {mu: derivative(_squares(u, adjoint, square, mu, nu), "u")[mu]})
