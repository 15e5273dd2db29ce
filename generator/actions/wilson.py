"""Wilson fermions, isotropic or anisotropic."""

from ..language import (
    ABOVE_ZERO,
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
    spelling,
    time,
)


@action
class Wilson:
    """Wilson fermions with r = 1 (K. G. Wilson, Phys. Rev. D 10 (1974) 2445)."""

    mass: Real = parameter(help="bare mass", unit="1/a")
    xi0: Real = parameter(1, help="bare anisotropy a_s/a_t", lower=1e-3, upper=1e3)
    nu: Real = parameter(1, help="ratio of the bare speed of light to one", lower=1e-3, upper=1e3)
    kappa = spelling(
        lambda kappa: {"mass": 1 / (2 * kappa) - 4}, help="instead of --mass: m = 1/(2 kappa) - 4", lower=ABOVE_ZERO
    )
    anisotropy = spelling(
        lambda xi0, nu: {"xi0": xi0, "nu": nu}, help="bare anisotropy and ratio of the speed of light to one"
    )

    reported_flops = 1320

    def speed(self, mu: Direction) -> Real:
        """Weight of hops in a direction (T. R. Klassen, Nucl. Phys. B (Proc. Suppl.) 73 (1999) 918)."""
        return 1 if mu == time else self.nu / self.xi0

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        hop = sum(
            self.speed(mu)
            * ((1 - gamma[mu]) * (u[mu] * shift(psi, +mu)) + (1 + gamma[mu]) * shift(adj(u[mu]) * psi, -mu))
            for mu in directions
        )
        return (self.mass + sum(self.speed(mu) for mu in directions)) * psi - hop / 2
