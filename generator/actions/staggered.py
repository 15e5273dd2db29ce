"""Staggered quarks: naive, and with fat and long links."""

from typing import Any

from ..language import (
    Direction,
    Links,
    Matrices,
    Real,
    StaggeredFermion,
    action,
    adj,
    directions,
    parameter,
    project_u3,
    shift,
    sign,
    stored,
    t,
    time,
)
from ..language.gauge import line, others, staple
from ..language.graph import Node


@action
class Staggered:
    """Staggered quarks (J. Kogut and L. Susskind, Phys. Rev. D 11 (1975) 395)."""

    mass: Real = parameter(help="m of M = 2m + D", unit="1/a", lower=0, several=True)

    def dirac(self, u: Links, psi: StaggeredFermion) -> StaggeredFermion:
        hop = sum(
            sign(*directions[: mu.index]) * (u[mu] * shift(psi, +mu) - shift(adj(u[mu]) * psi, -mu))
            for mu in directions
        )
        return 2 * self.mass * psi + hop


@action
class ImprovedStaggered:
    """Staggered quarks with any fat and long links, phases with time first as of the MILC collaboration."""

    mass: Real = parameter(help="m of M = 2m + D", unit="1/a", lower=0, several=True)

    reported_flops = 1146

    def eta(self, mu: Direction) -> Real:
        """(-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 for x, y, z, t."""
        return sign() if mu == time else sign(t, *directions[: mu.index])

    def dirac(self, fat: Matrices, long: Matrices, psi: StaggeredFermion) -> StaggeredFermion:
        hop = sum(
            self.eta(mu) * (v[mu] * shift(psi, n * mu) - shift(adj(v[mu]) * psi, -n * mu))
            for mu in directions
            for v, n in ((fat, 1), (long, 3))
        )
        return 2 * self.mass * psi + hop


FourLinks = dict[Direction, Node]


def fat7(u: Any, one: Any, three: Any, five: Any, seven: Any, lepage: Any = None) -> FourLinks:
    """Fat links: weighted sums of paths of 1, 3, 5 and 7 links, and of Lepage's 5-link paths (hep-lat/9903032).

    Paths of 3, 5 and 7 links go aside in different directions; Lepage's go two steps aside in one (hep-lat/9809157).
    These are staples of staples, less the six that fold back to the link itself.
    """
    fat = {}
    for mu in directions:
        fat[mu] = (one if lepage is None else one - 6 * lepage) * u[mu]
        for nu in others(mu):
            staple3 = stored({mu: staple(u[nu], u[mu], mu, nu)})
            fat[mu] += three * staple3[mu]
            if lepage is not None:
                fat[mu] += lepage * staple(u[nu], staple3[mu], mu, nu)
            for rho in others(mu, nu):
                staple5 = stored({mu: staple(u[rho], staple3[mu], mu, rho)})
                (sigma,) = others(mu, nu, rho)
                fat[mu] += five * staple5[mu]
                fat[mu] += seven * staple(u[sigma], staple5[mu], mu, sigma)
    return fat


def naik(u: Any, weight: Any) -> FourLinks:
    """Three links in a row (S. Naik, Nucl. Phys. B 316 (1989) 238)."""
    return {mu: weight * line(u, mu, 3) for mu in directions}


@action
class Asqtad(ImprovedStaggered):
    """Staggered quarks, improved with tadpoles (K. Orginos, D. Toussaint and R. L. Sugar, hep-lat/9903032)."""

    u0: Real = parameter(1, help="tadpole factor", lower=0.1)

    def links(self, u: Links) -> tuple[FourLinks, FourLinks]:
        """Fat and long links: each link of a path but the first is divided by u0.

        The weights remove couplings to gluons of momentum pi, and errors of order a^2.
        """
        u2 = self.u0 * self.u0
        fat = fat7(u, 5 / 8, 1 / (16 * u2), 1 / (64 * u2 * u2), 1 / (384 * u2 * u2 * u2), -1 / (16 * u2 * u2))
        return fat, naik(u, -1 / (24 * u2))


@action
class Hisq(ImprovedStaggered):
    """Highly improved staggered quarks (E. Follana et al., hep-lat/0610092)."""

    naik_epsilon: Real = parameter(0, help="epsilon of the long links, for charm")

    def links(self, u: Links) -> tuple[FourLinks, FourLinks]:
        """Fat7 links, projected to U(3), then smeared as in asqtad with twice the Lepage term (arXiv:1004.0342)."""
        v = stored(fat7(u, 1 / 8, 1 / 16, 1 / 64, 1 / 384))
        w = stored({mu: project_u3(v[mu]) for mu in directions})
        fat = fat7(w, 1 + self.naik_epsilon / 8, 1 / 16, 1 / 64, 1 / 384, -1 / 8)
        return fat, naik(w, -(1 + self.naik_epsilon) / 24)


@action
class Fat7:
    """Fat links with any coefficients, of links that need not be in a group."""

    one: Real = parameter(help="of the link")
    three: Real = parameter(help="of paths of 3 links")
    five: Real = parameter(help="of 5")
    seven: Real = parameter(help="of 7")
    lepage: Real = parameter(help="of Lepage's paths of 5")

    def links(self, u: Links) -> FourLinks:
        return fat7(u, self.one, self.three, self.five, self.seven, self.lepage)


@action
class Naik:
    """Long links with any coefficient."""

    weight: Real = parameter(help="of three links in a row")

    def links(self, u: Links) -> FourLinks:
        return naik(u, self.weight)


@action
class Unitary:
    """The nearest U(3) matrices, as of the first level of HISQ."""

    def links(self, v: Links) -> FourLinks:
        return {mu: project_u3(v[mu]) for mu in directions}
