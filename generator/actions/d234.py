"""Improved Wilson fermions with hops over two sites."""

from typing import Any

from ..language import (
    Direction,
    Fermion,
    Links,
    Real,
    action,
    adj,
    directions,
    gamma,
    parameter,
    shift,
)


def neighbours(u: Links, psi: Fermion, mu: Direction) -> tuple[Any, Any]:
    """The covariant neighbours of psi ahead and behind."""
    return u[mu] * shift(psi, +mu), shift(adj(u[mu]) * psi, -mu)


@action
class D234:
    """M = m + sum_mu gamma_mu nabla_mu (1 - b Delta_mu) + c Delta_mu^2 (M. Alford et al., hep-lat/9611010)."""

    mass: Real = parameter(help="bare mass", unit="1/a")
    b: Real = parameter(1 / 6, help="weight of the third derivative", lower=-10, upper=10)
    c: Real = parameter(1 / 12, help="weight of the fourth derivative", lower=-10, upper=10)

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        result = self.mass * psi
        for mu in directions:
            ahead, behind = neighbours(u, psi, mu)
            second = ahead + behind - 2 * psi  # Delta_mu psi
            improved = psi - self.b * second
            forward, backward = neighbours(u, improved, mu)
            above, below = neighbours(u, second, mu)
            result = result + gamma[mu] * (forward - backward) / 2 + self.c * (above + below - 2 * second)
        return result
