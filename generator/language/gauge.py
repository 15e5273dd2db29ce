"""What gauge fields are measured, smeared and moved by, each stated once: plaquettes, staples, leaves, paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import Direction, Node, Step
from .symbols import adj, directions, shift, time

PLANES = tuple((mu, nu) for nu in directions for mu in directions if mu.index < nu.index)
"""Planes of two directions: xy, xz, yz, xt, yt, zt."""
SPACE_PLANES = tuple(plane for plane in PLANES if time not in plane)
TIME_PLANES = tuple(plane for plane in PLANES if time in plane)


def others(*used: Direction) -> list[Direction]:
    """The directions that are left."""
    return [d for d in directions if d not in used]


def line(u: Any, mu: Direction, length: int) -> Node:
    """The product of links in a row."""
    product = link = u[mu]
    for _ in range(length - 1):
        link = shift(link, +mu)
        product = product * link
    return product


def corner(u: Any, mu: Direction, nu: Direction) -> Node:
    """The path from x to x + mu + nu, first along mu."""
    return u[mu] * shift(u[nu], +mu)


def plaquette(u: Any, mu: Direction, nu: Direction) -> Node:
    """The plaquette of a plane at x: as two corners it needs the fewest registers."""
    return corner(u, mu, nu) * adj(corner(u, nu, mu))


def moved_up(side: Node, path: Node, mu: Direction, nu: Direction) -> Node:
    """A path from x to x + mu, moved by +nu: there along `side`, along the path, and back."""
    return side * shift(path, +nu) * adj(shift(side, +mu))


def moved_down(side: Node, path: Node, mu: Direction, nu: Direction) -> Node:
    """A path moved sideways by -nu; compare moved_up."""
    return shift(adj(side) * path * shift(side, +mu), -nu)


def staple(side: Node, path: Node, mu: Direction, nu: Direction) -> Node:
    """A path from x to x + mu moved to both sides: with links, the open paths round the plaquettes of a plane."""
    return moved_up(side, path, mu, nu) + moved_down(side, path, mu, nu)


def staples(u: Any, mu: Direction, around: Sequence[Direction] = directions) -> Any:
    """The sum of the open paths from x to x + mu round plaquettes with the other directions."""
    return sum(staple(u[nu], u[mu], mu, nu) for nu in around if nu != mu)


def leaves(u: Any, mu: Direction, nu: Direction) -> Node:
    """The four plaquettes of a plane at x, counter-clockwise (hep-lat/9605038, eq. 2.5)."""
    first = corner(u, mu, nu) * adj(shift(u[mu], +nu)) * adj(u[nu])
    second = u[nu] * shift(adj(shift(u[mu], +nu)) * adj(u[nu]) * u[mu], -mu)
    third = shift(adj(u[mu]) * shift(adj(u[nu]) * u[mu] * shift(u[nu], +mu), -nu), -mu)
    fourth = shift(adj(u[nu]) * u[mu] * shift(u[nu], +mu) * adj(shift(u[mu], +nu)), -nu)
    return first + second + third + fourth


def field_strength(u: Any, mu: Direction, nu: Direction) -> Node:
    """F = (Q - Q^+)/(8i) with Q the sum of the leaves (hep-lat/9605038, eq. 2.4)."""
    q = leaves(u, mu, nu)
    return 0.125j * (adj(q) - q)


def rectangle(u: Any, mu: Direction, nu: Direction) -> Node:
    """The rectangle at x of two links along mu and one along nu."""
    along = line(u, mu, 2)
    return along * shift(u[nu], 2 * mu) * adj(u[nu] * shift(along, +nu))


def path(u: Any, *steps: Direction | Step) -> Node:
    """The product of links along steps +mu and -mu."""
    first, mu, back = _link(u, steps[0])
    if len(steps) == 1:
        return shift(first, -mu) if back else first
    beyond = path(u, *steps[1:])
    return shift(first * beyond, -mu) if back else first * shift(beyond, +mu)


def _link(u: Any, step: Direction | Step) -> tuple[Node, Direction, bool]:
    ((index, sites),) = ((mu, n) for mu, n in enumerate((+step).vector) if n)
    mu, back = Direction(index), sites < 0
    return (adj(u[mu]) if back else u[mu]), mu, back


def twisted_loops(u: Any, mu: Direction, nu: Direction, rho: Direction) -> Sequence[Node]:
    """The four loops of six links +a +b +c -a -b -c in a cube: round two of its faces and out of their planes."""
    return [path(u, +mu, b, c) * adj(path(u, c, b, +mu)) for b in (+nu, -nu) for c in (+rho, -rho)]
