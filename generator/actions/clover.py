"""Wilson fermions with the clover term."""

from typing import Any

from generator.actions.wilson import Wilson
from generator.language import Direction, Fermion, Links, Real, action, adj, parameter, sigma, time
from generator.operators.smearing import PLANES, leaves


def field_strength(u: Links, mu: Direction, nu: Direction) -> Any:
    """F = (Q - Q^+)/(8 i), Q the sum of the four leaves (hep-lat/9605038, eqs. 2.4 and 2.6)."""
    q = leaves(u, mu, nu)
    return (q - adj(q)) * (-0.125j)


@action
class Clover(Wilson):
    """Wilson fermions with the clover term (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572)."""

    csw_r: Real = parameter(0, help="clover coefficient of space planes", lower=-1e3, upper=1e3)
    csw_t: Real = parameter(0, help="clover coefficient of time planes", lower=-1e3, upper=1e3)

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        term = sum(
            (self.csw_t if nu == time else self.csw_r / self.xi0) * (sigma[mu, nu] * field_strength(u, mu, nu))
            for mu, nu in PLANES
        )
        return super().dirac(u, psi) - term / 2 * psi
