"""The covariant Laplace operator on Dirac spinors."""

from ..language import Direction, Fermion, Links, action, adj, directions, shift, space


@action
class Laplace3:
    """Laplace operator in space: the kernel of Gaussian smearing."""

    dimensions: tuple[Direction, ...] = space

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        hop = sum(u[mu] * shift(psi, +mu) + shift(adj(u[mu]) * psi, -mu) for mu in self.dimensions)
        return hop - 2 * len(self.dimensions) * psi


@action
class Laplace4(Laplace3):
    """Laplace operator in four dimensions."""

    dimensions = directions
