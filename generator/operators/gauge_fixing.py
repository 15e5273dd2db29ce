"""Landau and Coulomb gauge by over-relaxation, and the steps of smearing that projects by the same hits.

U_mu(x) -> g(x) U_mu(x) g(x + mu)^+ on the sites of one parity after the other (J. E. Mandula and M. Ogilvie, Phys.
Lett. B 248 (1990) 156), g a product of SU(2) hits (N. Cabibbo and E. Marinari, Phys. Lett. B 119 (1982) 387).
"""

from __future__ import annotations

from ..language import (
    Direction,
    Links,
    Matrices,
    Real,
    Sum,
    adj,
    directions,
    expression,
    identity,
    re,
    relaxed,
    shift,
    sign,
    space,
    t,
    ta,
    time,
    total,
    trace,
    x,
    y,
    z,
)
from ..language.gauge import staples


@expression
def fixing_hits(u: Links, in_time: Real, boost: Real, parity: Real, mu: Direction) -> Matrices:
    """G(x) on the sites of parity +1 or -1, 1 on the others; in_time is 1 for Landau gauge, 0 for Coulomb gauge."""
    links = sum(u[nu] + shift(adj(u[nu]), -nu) for nu in space)
    links = links + in_time * (u[time] + shift(adj(u[time]), -time))
    here = 0.5 + 0.5 * (parity * sign(x, y, z, t))
    return {mu: here * relaxed(links, boost) + (1.0 - here) * identity}


@expression
def transformed(u: Links, g: Matrices, mu: Direction) -> Links:
    """U'_nu(x) = g(x) U_nu(x) g(x + nu)^+."""
    return {nu: g[mu] * u[nu] * adj(shift(g[mu], +nu)) for nu in directions}


@expression
def followed(g: Matrices, hits: Matrices, mu: Direction) -> Matrices:
    """A transformation, then another."""
    return {mu: hits[mu] * g[mu]}


@expression
def fixing_functional(u: Links, in_time: Real) -> tuple[Sum, Sum]:
    """Re tr U of the links concerned, and tr Delta Delta^+ with Delta the sum of A_nu(x) - A_nu(x - nu), A = TA(U)."""
    value = sum(re(trace(u[nu])) for nu in space) + in_time * re(trace(u[time]))
    slope = in_time * (ta(u[time]) - shift(ta(u[time]), -time))
    for nu in space:
        slope = slope + ta(u[nu]) - shift(ta(u[nu]), -nu)
    return total(value), total(-re(trace(slope * slope)))


@expression
def ape_sums(u: Links, keep: Real, add: Real) -> Matrices:
    """Keep U + add C of links in space; of time links U."""
    return {mu: keep * u[mu] + add * staples(u, mu, space) if mu in space else u[mu] for mu in directions}


@expression
def ape_sweep(u: Links, sums: Matrices, boost: Real, in_x: Real, in_y: Real, in_z: Real) -> Links:
    """One sweep towards the SU(3) matrices U in space with the largest Re tr(U V^+), of directions with 1, not 0."""
    on = dict(zip(space, (in_x, in_y, in_z), strict=True))
    swept = {mu: relaxed(u[mu] * adj(sums[mu]), boost) * u[mu] for mu in space}
    return {mu: on[mu] * swept[mu] + (1.0 - on[mu]) * u[mu] if mu in space else u[mu] for mu in directions}


@expression
def ape_traces(u: Links, sums: Matrices) -> tuple[Sum, Sum, Sum]:
    """Re tr(U V^+) of links along x, y and z: what sweeps bring to its maximum."""
    along_x, along_y, along_z = (total(re(trace(u[mu] * adj(sums[mu])))) for mu in space)
    return along_x, along_y, along_z
