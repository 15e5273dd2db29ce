"""Naive fermions with a chemical potential."""

from ..language import (
    Direction,
    Fermion,
    Links,
    Real,
    action,
    adj,
    directions,
    exp,
    gamma,
    parameter,
    shift,
    time,
)


@action
class Naive:
    """Naive fermions with a chemical potential (P. Hasenfratz and F. Karsch, Phys. Lett. B 125 (1983) 308)."""

    mass: Real = parameter(help="mass", unit="1/a")
    mu: Real = parameter(0, help="chemical potential", unit="1/a", lower=-10, upper=10)

    def fugacity(self, nu: Direction, sign: int) -> Real:
        return exp(self.mu if sign > 0 else -self.mu) if nu == time else 1

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        hop = sum(
            gamma[nu]
            * (self.fugacity(nu, 1) * (u[nu] * shift(psi, +nu)) - self.fugacity(nu, -1) * shift(adj(u[nu]) * psi, -nu))
            for nu in directions
        )
        return self.mass * psi + hop / 2
