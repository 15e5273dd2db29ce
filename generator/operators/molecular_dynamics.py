"""Molecular dynamics of links: momenta, their energy, steps of both. Forces: forces.py.

P is anti-Hermitian and traceless, P = i p_a T_a with tr T_a T_b = 1/2; H is the sum of -tr P^2 and of the action;
U' = exp(eps P) U (S. Duane, A. D. Kennedy, B. J. Pendleton and D. Roweth, Phys. Lett. B 195 (1987) 216).
"""

from __future__ import annotations

from ..language import Algebra, Links, Real, Sum, directions, exp, expression, project, re, time, total, trace


@expression
def move_links(u: Links, p: Algebra, step: Real) -> Links:
    """U' = exp(step P) U."""
    return {mu: exp(step * p[mu]) * u[mu] for mu in directions}


@expression
def kick(p: Algebra, force: Algebra, step: Real) -> Algebra:
    """P' = P + step F."""
    return {mu: p[mu] + step * force[mu] for mu in directions}


@expression
def kick_with_norm(p: Algebra, force: Algebra, step: Real) -> tuple[Algebra, Sum]:
    """P' = P + step F, and the norm2 of F."""
    return kick(p, force, step), algebra_norm2(force)


@expression
def stretch_time(p: Algebra, factor: Real) -> Algebra:
    """P' = P, in time factor P: momenta of anisotropic lattices."""
    return {mu: factor * p[mu] if mu == time else p[mu] for mu in directions}


@expression
def algebra_norm2(p: Algebra) -> Sum:
    """-tr P^2 = p_a p_a/2 over sites and directions: the kinetic energy; of a force its norm2."""
    return total(sum(-re(trace(p[mu] * p[mu])) for mu in directions))


@expression
def back_to_su3(u: Links) -> Links:
    """The nearest SU(3) matrices: undoes the rounding of a trajectory."""
    return {mu: project(u[mu]) for mu in directions}
