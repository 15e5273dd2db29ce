"""Wilson fermions with the clover term."""

from ..language import Fermion, Links, Real, action, parameter, sigma, spelling, time
from ..language.gauge import PLANES, field_strength
from .wilson import Wilson


@action
class Clover(Wilson):
    """Wilson fermions with the clover term (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572)."""

    csw_r: Real = parameter(help="clover coefficient of space planes, divided by xi0 there", lower=-1e3, upper=1e3)
    csw_t: Real = parameter(help="clover coefficient of time planes", lower=-1e3, upper=1e3)
    csw = spelling(lambda csw: {"csw_r": csw, "csw_t": csw}, help="clover coefficient of all planes")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        term = sum(
            (self.csw_t if nu == time else self.csw_r / self.xi0) * (sigma[mu, nu] * field_strength(u, mu, nu))
            for mu, nu in PLANES
        )
        return super().dirac(u, psi) - term / 2 * psi
