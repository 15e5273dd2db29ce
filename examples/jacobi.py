"""Jacobi smearing as a lattice expression: docs/expressions.md explains each line."""

from generator.language import Links, Real, Spinor, adj, directions, expression, shift, time


@expression
def jacobi(u: Links, psi: Spinor, s0: Spinor, kappa: Real) -> Spinor:
    """One step, chi = s0 + kappa h, h the sum over the neighbours in space."""
    h = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in directions if mu != time)
    return s0 + kappa * h
