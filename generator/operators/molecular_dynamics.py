"""Molecular dynamics of links: momenta, their energy, steps of both; sums of loops that gauge actions are made of.

P is anti-Hermitian and traceless, P = i p_a T_a with tr T_a T_b = 1/2; H is the sum of -tr P^2 and of the action;
U' = exp(eps P) U (S. Duane, A. D. Kennedy, B. J. Pendleton and D. Roweth, Phys. Lett. B 195 (1987) 216).
"""

from __future__ import annotations

from itertools import combinations

from generator.language import Algebra, Links, Real, Sum, adj, directions, exp, expression, project, re, ta, total, trace
from generator.language.gauge import PLANES, others, plaquette, rectangle, staple, twisted_loops


@expression
def move_links(u: Links, p: Algebra, step: Real) -> Links:
    """U' = exp(step P) U."""
    return {mu: exp(step * p[mu]) * u[mu] for mu in directions}


@expression
def kick(p: Algebra, force: Algebra, step: Real) -> Algebra:
    """P' = P + step F."""
    return {mu: p[mu] + step * force[mu] for mu in directions}


@expression
def algebra_norm2(p: Algebra) -> Sum:
    """-tr P^2 = p_a p_a/2 over sites and directions: the kinetic energy; of a force its norm2."""
    return total(sum(-re(trace(p[mu] * p[mu])) for mu in directions))


@expression
def back_to_su3(u: Links) -> Links:
    """The nearest SU(3) matrices: undoes the rounding of a trajectory."""
    return {mu: project(u[mu]) for mu in directions}


@expression
def plane_sums(u: Links) -> tuple[Sum, Sum, Sum, Sum, Sum, Sum]:
    """Re tr of the plaquettes of each plane: xy, xz, yz, xt, yt, zt."""
    return tuple(total(re(trace(plaquette(u, mu, nu)))) for mu, nu in PLANES)


@expression
def rectangle_sum(u: Links) -> Sum:
    """Re tr of the 12 rectangles a site (P. Weisz, Nucl. Phys. B 212 (1983) 1)."""
    return total(sum(re(trace(rectangle(u, mu, nu))) for mu in directions for nu in others(mu)))


@expression
def chair_sum(u: Links) -> Sum:
    """Re tr of the 16 twisted loops +a +b +c -a -b -c a site (P. Weisz, Nucl. Phys. B 212 (1983) 1)."""
    return total(sum(re(trace(loop)) for axes in combinations(directions, 3) for loop in twisted_loops(u, *axes)))


@expression
def plane_force(u: Links, xy: Real, xz: Real, yz: Real, xt: Real, yt: Real, zt: Real) -> Algebra:
    """1/2 [U G]_TA of S = -sum over planes of c/3 Re tr U_p: -c/6 TA(U C^+) with the staples C."""
    c = dict(zip(PLANES, (xy, xz, yz, xt, yt, zt), strict=True))
    return {
        mu: sum(
            c[min(mu, nu, key=lambda d: d.index), max(mu, nu, key=lambda d: d.index)]
            * ta(staple(u[nu], u[mu], mu, nu) * adj(u[mu]))
            for nu in others(mu)
        )
        / 6
        for mu in directions
    }
