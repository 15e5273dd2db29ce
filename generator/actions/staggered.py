"""Staggered quarks: naive, and with fat and long links."""

from generator.language import (
    ABOVE_ZERO,
    Direction,
    Links,
    Matrices,
    Real,
    StaggeredFermion,
    action,
    adj,
    directions,
    parameter,
    shift,
    sign,
    t,
    time,
)


@action
class Staggered:
    """Staggered quarks (J. Kogut and L. Susskind, Phys. Rev. D 11 (1975) 395)."""

    mass: Real = parameter(help="m of M = 2m + D", unit="1/a", lower=ABOVE_ZERO, several=True)

    def dirac(self, u: Links, psi: StaggeredFermion) -> StaggeredFermion:
        hop = sum(
            sign(*directions[: mu.index]) * (u[mu] * shift(psi, +mu) - shift(adj(u[mu]) * psi, -mu))
            for mu in directions
        )
        return 2 * self.mass * psi + hop


@action
class ImprovedStaggered:
    """Staggered quarks with any fat and long links, phases with time first as of the MILC collaboration."""

    mass: Real = parameter(help="m of M = 2m + D", unit="1/a", lower=ABOVE_ZERO, several=True)

    reported_flops = 1146

    def eta(self, mu: Direction) -> Real:
        """(-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 for x, y, z, t."""
        return sign() if mu == time else sign(t, *directions[: mu.index])

    def dirac(self, fat: Matrices, long: Links, psi: StaggeredFermion) -> StaggeredFermion:
        hop = sum(
            self.eta(mu) * (v[mu] * shift(psi, n * mu) - shift(adj(v[mu]) * psi, -n * mu))
            for mu in directions
            for v, n in ((fat, 1), (long, 3))
        )
        return 2 * self.mass * psi + hop


@action
class Asqtad(ImprovedStaggered):
    """Staggered quarks, improved with tadpoles (K. Orginos, D. Toussaint and R. L. Sugar, hep-lat/9903032)."""

    u0: Real = parameter(1, help="tadpole factor", lower=0.1)


@action
class Hisq(ImprovedStaggered):
    """Highly improved staggered quarks (E. Follana et al., hep-lat/0610092)."""

    naik_epsilon: Real = parameter(0, help="epsilon of the long links, for charm")
