"""The Brillouin operator: hops to all 80 neighbours of the surrounding hypercube."""

import math
from typing import Any

from ..language import Fermion, Links, Real, action, adj, directions, gamma, parameter, shift

Corner = tuple[int, ...]
"""A neighbour at a corner of the hypercube: -1, 0 or 1 along each direction."""

GRADIENT = (0, 64 / 432, 16 / 432, 4 / 432, 1 / 432)
LAPLACIAN = (-240 / 64, 8 / 64, 4 / 64, 2 / 64, 1 / 64)
"""Weights by the number of directions in which a neighbour differs (eqs. 7 and 11 of arXiv:1012.3615)."""


@action
class Brillouin:
    """M = m + sum_mu gamma_mu nabla_mu - Delta/2, isotropic derivatives (S. Duerr and G. Koutsou, arXiv:1012.3615)."""

    mass: Real = parameter(help="bare mass", unit="1/a")

    def beyond(self, u: Links, psi: Fermion, corner: Corner) -> Any:
        """What a corner adds, and those that paths reach from it: links are averaged over all shortest paths."""
        far = sum(map(abs, corner))
        spins = sum(GRADIENT[far] * n * gamma[mu] for mu, n in zip(directions, corner, strict=True) if n)
        result = (spins - LAPLACIAN[far] / 2) / math.factorial(far) * psi
        for mu in (d for d in directions if not corner[d.index]):
            ahead, behind = (self.beyond(u, psi, (*corner[: mu.index], n, *corner[mu.index + 1 :])) for n in (1, -1))
            result += u[mu] * shift(ahead, +mu) + shift(adj(u[mu]) * behind, -mu)
        return result

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        return self.mass * psi + self.beyond(u, psi, (0, 0, 0, 0))
