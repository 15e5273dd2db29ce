"""Fat and long links, of which improved staggered actions are made: paths from one end of a link to the other.

A path that leaves the line of the link by a step and comes back by the reverse step is a shorter path moved aside.
Paths with 3, 5 and 7 links whose steps aside go in different directions (fat7: K. Orginos, D. Toussaint and
R. L. Sugar, hep-lat/9903032) are moved in one, two and three directions, so one statement, applied to links, to staples
and to staples of staples, makes them all (solvers/actions/improved_links.cpp).
"""

from __future__ import annotations

from generator.language import Direction, Links, Matrices, Real, directions, expression
from generator.language.gauge import line, moved_down, moved_up, staple


@expression("staple", group="fat")
def staple_and_sum(
    u: Links, v: Matrices, fat: Matrices, weight: Real, mu: Direction, nu: Direction
) -> tuple[Matrices, Matrices]:
    """Links v moved to both sides in the plane of mu and nu; and a field to which they are added."""
    moved = staple(u[nu], v[mu], mu, nu)
    return {mu: moved}, {mu: fat[mu] + weight * moved}


@expression(group="fat")
def last_staple(u: Links, v: Matrices, fat: Matrices, weight: Real, mu: Direction, nu: Direction) -> Matrices:
    """The same, where nothing is made of the staples but the sum."""
    return {mu: fat[mu] + weight * staple(u[nu], v[mu], mu, nu)}


@expression(group="fat")
def lepage(u: Links, fat: Matrices, weight: Real, mu: Direction, nu: Direction) -> Matrices:
    """A sum with both paths that go two steps aside (G. P. Lepage, hep-lat/9809157)."""
    up, down = (move(u[nu], move(u[nu], u[mu], mu, nu), mu, nu) for move in (moved_up, moved_down))
    return {mu: fat[mu] + weight * (up + down)}


@expression(group="fat")
def one_link(u: Links, weight: Real) -> Matrices:
    """The links themselves."""
    return {mu: weight * u[mu] for mu in directions}


@expression(group="fat")
def naik(u: Links, weight: Real) -> Matrices:
    """Three links in a row (S. Naik, Nucl. Phys. B 316 (1989) 238)."""
    return {mu: weight * line(u, mu, 3) for mu in directions}
