"""Smearing of quark fields and of links, gradient flow and what is measured on it, as lattice expressions."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import (
    Algebra,
    Direction,
    Links,
    Matrices,
    Real,
    Spinor,
    Sum,
    adj,
    directions,
    exp,
    expression,
    identity,
    project,
    re,
    shift,
    space,
    ta,
    time,
    total,
    trace,
)
from ..language.gauge import PLANES, leaves, plaquette, staples
from ..language.graph import Node


@expression
def jacobi_step(u: Links, psi: Spinor, source: Spinor, kappa: Real) -> Spinor:
    """One step of Jacobi smearing (C. R. Allton et al., Phys. Rev. D 47 (1993) 5128)."""
    h = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in directions if mu != time)
    return source + kappa * h


@expression
def wuppertal_step(u: Links, psi: Spinor, alpha: Real, norm: Real) -> Spinor:
    """One step of Wuppertal smearing, norm = 1/(1 + 6 alpha) (S. Guesken et al., Phys. Lett. B 227 (1989) 266)."""
    h = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in space)
    return norm * (psi + alpha * h)


@expression
def covariant_derivative(u: Links, psi: Spinor, mu: Direction) -> Spinor:
    """The symmetric one, (U_mu(x) psi(x + mu) - U_mu(x - mu)^+ psi(x - mu))/2."""
    return 0.5 * (u[mu] * shift(psi, +mu) - shift(adj(u[mu]) * psi, -mu))


def stout(u: Links, rho: Real, smeared: Sequence[Direction]) -> dict[Direction, Node]:
    """exp(rho TA(C U^+)) U for the links of some directions (C. Morningstar and M. Peardon, hep-lat/0311018)."""
    return {
        mu: exp(rho * ta(staples(u, mu, smeared) * adj(u[mu]))) * u[mu] if mu in smeared else u[mu] for mu in directions
    }


@expression
def stout3_step(u: Links, rho: Real) -> Links:
    """One step of stout smearing of the links in space."""
    return stout(u, rho, space)


@expression
def stout4_step(u: Links, rho: Real) -> Links:
    """One step of stout smearing of all links."""
    return stout(u, rho, directions)


def ape(u: Links, keep: Real, add: Real, smeared: Sequence[Direction]) -> dict[Direction, Node]:
    """The closest SU(3) matrix to keep U + add C (M. Albanese et al., Phys. Lett. B 192 (1987) 163)."""
    return {mu: project(keep * u[mu] + add * staples(u, mu, smeared)) if mu in smeared else u[mu] for mu in directions}


@expression
def ape3_step(u: Links, keep: Real, add: Real) -> Links:
    """One step of APE smearing of the links in space."""
    return ape(u, keep, add, space)


@expression
def ape4_step(u: Links, keep: Real, add: Real) -> Links:
    """One step of APE smearing of all links."""
    return ape(u, keep, add, directions)


@expression
def hyp_link(u: Links, c: Matrices, keep: Real, add: Real, mu: Direction) -> Links:
    """A link of hypercubic blocking from staples of the level before (A. Hasenfratz, F. Knechtli, hep-lat/0103029)."""
    return {mu: project(keep * u[mu] + add * c[mu])}


@expression
def flow_difference(v: Links, u: Links, first: Algebra, second: Algebra) -> tuple[Sum, Sum, Sum, Sum]:
    """|V - V'|^2 of each direction's link for the second-order step V' = exp(-Z_0 + 2 Z_1) U in that of third order.

    X_0 = Z_0/4 and X_1 = 8/9 Z_1 - 17/9 X_0 are the first two drifts (P. Fritzsch and A. Ramos, arXiv:1301.4388).
    """
    differences = [v[mu] - exp(0.25 * first[mu] + 2.25 * second[mu]) * u[mu] for mu in directions]
    x, y, z, t = (total(re(trace(adj(d) * d))) for d in differences)
    return x, y, z, t


@expression
def plaquette_energy(u: Links) -> Sum:
    """sum_x E(x) = 2 Re tr(1 - P) over the planes (arXiv:1006.4518, eq. 3.1)."""
    return total(sum(2.0 * re(trace(identity - plaquette(u, mu, nu))) for mu, nu in PLANES))


@expression
def clover_energy(u: Links, mu: Direction, nu: Direction, rho: Direction, sigma: Direction) -> tuple[Sum, Sum, Sum]:
    """Of two planes without a common direction -tr G^2 of each, and tr G G of both; G = TA of the leaves' mean.

    E is the sum of the first two over all planes, the topological charge Q = (1/32 pi^2) sum eps_munurhosigma
    tr F_munu F_rhosigma with F = -i G (arXiv:1006.4518, 3.2): -1/(4 pi^2) times the third for the planes xy zt, zx yt
    and yz xt.
    """
    first, second = (0.25 * ta(leaves(u, *plane)) for plane in ((mu, nu), (rho, sigma)))
    one, other = -re(trace(first * first)), -re(trace(second * second))
    return total(one), total(other), total(re(trace(first * second)))
