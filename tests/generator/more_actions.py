"""Actions that are not in the library: fields of several kinds, dense site terms, links made in several ways."""

from generator.actions.stout import Stout
from generator.actions.wilson import Wilson
from generator.language import (
    Complex,
    Direction,
    Fermion,
    Links,
    Matrices,
    Phases,
    Real,
    Scalars,
    Spinor,
    StaggeredFermion,
    action,
    adj,
    directions,
    dot,
    exp,
    gamma,
    gamma5,
    outer,
    parameter,
    project_u3,
    re,
    shift,
    sigma,
    sign,
    stored,
    tau,
    time,
)
from generator.language.gauge import PLANES, field_strength, moved_up, plaquette


def neighbours(u, psi, mu: Direction):
    """Ahead and behind."""
    return u[mu] * shift(psi, +mu), shift(adj(u[mu]) * psi, -mu)


def naive(u, psi):
    return sum(gamma[mu] * (a - b) for mu in directions for a, b in [neighbours(u, psi, mu)]) / 2


def clover_term(u):
    return sum(sigma[mu, nu] * field_strength(u, mu, nu) for mu, nu in PLANES)


@action
class TwoHop:
    """Hops over two sites with a chemical potential."""

    mass: Real = parameter(help="mass")
    mu: Real = parameter(0, help="chemical potential")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        result = self.mass * psi
        for nu in directions:
            ahead = u[nu] * shift(u[nu] * shift(psi, +nu), +nu)
            behind = shift(adj(u[nu]) * shift(adj(u[nu]) * psi, -nu), -nu)
            if nu == time:
                ahead, behind = exp(2 * self.mu) * ahead, exp(-2 * self.mu) * behind
            result += gamma[nu] * (ahead - behind) / 4
        return result


@action
class BoriciCreutz:
    """Minimally doubled fermions of A. Borici and M. Creutz: a sum of gammas stands at the site."""

    mass: Real = parameter(help="mass")
    number: Real = parameter(1, help="weight of the sum of gammas")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        big = sum(gamma[mu] for mu in directions) / 2
        result = self.mass * psi + naive(u, psi) - 2j * self.number * (big * psi)
        for mu in directions:
            turned = big * gamma[mu] * big
            result += 0.5j * (turned * sum(neighbours(u, psi, mu)))
        return result


@action
class KarstenWilczek:
    """Minimally doubled fermions of L. Karsten and F. Wilczek, zeta = 1."""

    mass: Real = parameter(help="mass")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        space = sum(a + b for mu in directions[:3] for a, b in [neighbours(u, psi, mu)])
        return self.mass * psi + naive(u, psi) + 1j * (gamma[time] * (3 * psi - space / 2))


@action
class ImaginaryPotential:
    """Wilson fermions with a complex chemical potential."""

    mass: Real = parameter(help="mass")
    mu: Complex = parameter(0, help="chemical potential")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        result = (self.mass + 4) * psi
        for nu in directions:
            ahead, behind = neighbours(u, psi, nu)
            if nu == time:
                ahead, behind = exp(self.mu) * ahead, exp(-self.mu) * behind
            result -= ((1 - gamma[nu]) * ahead + (1 + gamma[nu]) * behind) / 2
        return result


@action
class Isospin(Wilson):
    """Two flavours with a chemical potential of isospin at the site."""

    nu_i: Real = parameter(help="isospin")
    j: Real = parameter(help="source of pions")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        return super().dirac(u, psi) + self.nu_i * (gamma[time] * tau[3] * psi) + 1j * self.j * (gamma5 * tau[2] * psi)


@action
class Yukawa(Wilson):
    """Quarks coupled to a field of complex numbers and to one of matrices."""

    y: Real = parameter(help="coupling")

    def dirac(self, phi: Scalars, m: Matrices, u: Links, psi: Fermion) -> Fermion:
        return super().dirac(u, psi) + self.y * (phi * (gamma5 * psi)) + (m[time] + adj(m[time])) * psi


@action
class Charged(Wilson):
    """Quarks in a background field of phases."""

    def dirac(self, a: Phases, u: Links, psi: Fermion) -> Fermion:
        return super().dirac({mu: a[mu] * u[mu] for mu in directions}, psi)


@action
class Slinc(Wilson):
    """Stout links in the hops, those of the configuration in the clover term (arXiv:0901.3302)."""

    csw: Real = parameter(help="clover coefficient")
    rho: Real = parameter(help="weight of the staples")

    def links(self, u: Links):
        smeared = Stout()
        smeared.rho = self.rho
        return smeared.links(u)

    def dirac(self, u: Links, v: Links, psi: Fermion) -> Fermion:
        return super().dirac(v, psi) - self.csw / 2 * (clover_term(u) * psi)


@action
class OneSided(Wilson):
    """Projected sums of each link and one path aside, which are not stored before."""

    def links(self, u: Links):
        pairs = zip(directions, (*directions[1:], directions[0]), strict=True)
        return {mu: project_u3(0.5 * u[mu] + 0.1 * moved_up(u[nu], u[mu], mu, nu)) for mu, nu in pairs}

    def dirac(self, v: Links, psi: Fermion) -> Fermion:
        return super().dirac(v, psi)


@action
class OwnClover(Wilson):
    """A clover term with one coefficient of another name, and a sum of plaquettes at the site."""

    weight: Real = parameter(help="of both")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        loops = stored({directions[0]: sum(plaquette(u, mu, nu) + adj(plaquette(u, mu, nu)) for mu, nu in PLANES)})
        return (
            super().dirac(u, psi)
            + self.weight * (clover_term(u) * psi)
            + self.weight / 5 * (loops[directions[0]] * psi)
        )


@action
class ExponentialClover(Wilson):
    """(4 + m) exp of the clover term over 4 + m (arXiv:1911.04533)."""

    csw: Real = parameter(help="clover coefficient")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        diagonal = 4 + self.mass
        hops = sum((1 - gamma[mu]) * a + (1 + gamma[mu]) * b for mu in directions for a, b in [neighbours(u, psi, mu)])
        return diagonal * (exp(-self.csw / (2 * diagonal) * clover_term(u)) * psi) - hops / 2


@action
class ColourLaplace:
    """m + 8 - hops of one colour vector a site: not staggered."""

    mass: Real = parameter(help="mass squared")

    def dirac(self, u: Links, psi: StaggeredFermion) -> StaggeredFermion:
        return (self.mass + 8) * psi - sum(a + b for mu in directions for a, b in [neighbours(u, psi, mu)])


@action
class FlavouredHop:
    """tau_3 on a hop: a general body of two flavours."""

    mass: Real = parameter(help="mass")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        ahead, behind = neighbours(u, psi, time)
        second = (1 - tau[3]) / 2 * behind
        return self.mass * psi + naive(u, psi) + 0.2 * (tau[3] * ahead + second) + 0.1 * (tau[1] * psi)


@action
class Condensate(Wilson):
    """Another spinor field in colour, and numbers that change sign from site to site."""

    def dirac(self, chi: Spinor, phi: Scalars, u: Links, psi: Fermion) -> Fermion:
        mass = re(phi) + sign(*directions) * dot(chi, chi)
        return super().dirac(u, psi) + mass * psi + outer(chi, chi) * (sigma[directions[0], time] * psi)


@action
class ManyMatrices(Wilson):
    """More matrices at a site than a site term of hops holds."""

    def dirac(self, u: Links, m: Matrices, n: Matrices, psi: Fermion) -> Fermion:
        result = super().dirac(u, psi)
        for k, (field, mu) in enumerate((f, mu) for f in (m, n) for mu in directions):
            result += (field[mu] + adj(field[mu])) * (psi if k < 4 else gamma5 * psi)
            result += 1j * (field[mu] - adj(field[mu])) * (sigma[directions[0], directions[1]] * psi)
        return result


ACTIONS = [
    cls.action
    for cls in list(globals().values())
    if isinstance(cls, type) and cls.__module__ == __name__ and "action" in vars(cls)
]
