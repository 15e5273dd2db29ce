"""Twisted-mass quarks: one flavour or two, with and without the clover term."""

from ..language import Fermion, Links, Real, action, gamma5, parameter, tau
from .clover import Clover
from .wilson import Wilson


@action
class TwistedMass(Wilson):
    """Twisted mass (R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, hep-lat/0101001)."""

    mu: Real = parameter(
        help="twisted mass: M + i mu gamma_5, also with --kappa in the normalisation of the mass (codes that write "
        "2 kappa mu beside 1 - kappa D mean this mu)",
        unit="1/a",
    )

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        return super().dirac(u, psi) + 1j * self.mu * (gamma5 * psi)


@action
class TwistedDoublet(Wilson):
    """Two flavours of twisted mass, split by epsilon (R. Frezzotti and G. C. Rossi, hep-lat/0311008)."""

    extends = TwistedMass  # --action twisted-mass --epsilon E

    mu = TwistedMass.mu
    epsilon: Real = parameter(help="two flavours, split: M + i mu gamma_5 tau_3 + epsilon tau_1", unit="1/a")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        return super().dirac(u, psi) + 1j * self.mu * (gamma5 * tau[3] * psi) + self.epsilon * (tau[1] * psi)


@action
class TwistedClover(TwistedMass, Clover):
    """Twisted mass with the clover term (D. Becirevic et al., hep-lat/0605006)."""


@action
class TwistedCloverDoublet(TwistedDoublet, Clover):
    """Two flavours of twisted mass with the clover term."""

    extends = TwistedClover
