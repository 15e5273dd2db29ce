"""Domain-wall fermions and their Moebius form."""

from ..language import Fermion, Links, Real, action, gamma5, parameter, s, shift
from .wilson import Wilson


@action
class Moebius:
    """Moebius domain-wall fermions (R. C. Brower, H. Neff and K. Orginos, arXiv:1206.5214).

    Chiralities as of D. B. Kaplan, Phys. Lett. B 288 (1992) 342, and Y. Shamir, Nucl. Phys. B 406 (1993) 90.
    """

    mass: Real = parameter(help="mass of the quark", unit="1/a")
    m5: Real = parameter(1.8, help="domain-wall height M5", unit="1/a")
    xi0: Real = Wilson.xi0
    nu: Real = Wilson.nu
    anisotropy = Wilson.anisotropy
    b5: Real = parameter(1, help="Moebius b: coefficient of D_W in a slice", each_slice=True)
    c5: Real = parameter(0, help="Moebius c: coefficient of D_W between slices", each_slice=True)

    def wilson(self, u: Links, psi: Fermion) -> Fermion:
        """D_W with mass -M5."""
        kernel = Wilson()
        kernel.mass, kernel.xi0, kernel.nu = -self.m5, self.xi0, self.nu
        return kernel.dirac(u, psi)

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        p_minus, p_plus = (1 - gamma5) / 2, (1 + gamma5) / 2
        around = p_minus * shift(psi, +s, wall=-self.mass) + p_plus * shift(psi, -s, wall=-self.mass)
        return self.wilson(u, self.b5 * psi + self.c5 * around) + psi - around


@action
class DomainWall(Moebius):
    """Domain-wall fermions of Y. Shamir, Nucl. Phys. B 406 (1993) 90: b = 1, c = 0."""

    b5, c5 = 1.0, 0.0
