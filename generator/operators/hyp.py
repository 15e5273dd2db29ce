"""Hypercubic blocking of links in four dimensions (A. Hasenfratz and F. Knechtli, hep-lat/0103029, eqs. 3-5).

Twelve links a site are kept between the levels, in three fields: number k holds for direction mu the link that belongs
to the k-th of the other directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from generator.language import Links, Real, directions, expression, project
from generator.language.gauge import others, staple
from generator.language.graph import Direction, Node

Fields = Sequence[Any]


def of(fields: Fields, mu: Direction, other: Direction) -> Node:
    """The link of direction mu that belongs to another direction."""
    link: Node = fields[others(mu).index(other)][mu]
    return link


def three(link: Callable[[Direction, Direction], Node]) -> Any:
    """The three fields from the link of each direction and one other."""
    return tuple({mu: link(mu, others(mu)[k]) for mu in directions} for k in range(3))


@expression
def hyp_first(u: Links, keep: Real, add: Real) -> tuple[Links, Links, Links]:
    """Decorated in one direction: (1 - alpha_3) U_mu + alpha_3/2 staples with eta."""
    return three(lambda mu, eta: project(keep * u[mu] + add * staple(u[eta], u[mu], mu, eta)))


@expression
def hyp_second(u: Links, f: Links, g: Links, h: Links, keep: Real, add: Real) -> tuple[Links, Links, Links]:
    """Decorated in all directions but one: (1 - alpha_2) U_mu + alpha_2/4 staples of the first level."""

    def staples(mu: Direction, left_out: Direction) -> Any:
        rest = {rho: others(mu, left_out, rho)[0] for rho in others(mu, left_out)}
        return sum(staple(of((f, g, h), rho, eta), of((f, g, h), mu, eta), mu, rho) for rho, eta in rest.items())

    return three(lambda mu, left_out: project(keep * u[mu] + add * staples(mu, left_out)))


@expression
def hyp_third(u: Links, f: Links, g: Links, h: Links, keep: Real, add: Real) -> Links:
    """The blocked link: (1 - alpha_1) U_mu + alpha_1/6 staples of the second level."""

    def staples(mu: Direction) -> Any:
        return sum(staple(of((f, g, h), nu, mu), of((f, g, h), mu, nu), mu, nu) for nu in others(mu))

    return {mu: project(keep * u[mu] + add * staples(mu)) for mu in directions}
