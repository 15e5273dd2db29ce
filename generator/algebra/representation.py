"""Representations of SU(n) by links R(U): the fundamental one, the adjoint, and tensors with two indices.

Each but the first has a basis of n x n matrices B_a, orthonormal under tr B_a^+ B_b, on which a link acts as
B -> U B V: V = U^+ in the adjoint, V = U^T for tensors. Its elements are R_ab = tr(B_a^+ U B_b V), and all else
follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Matrix = np.ndarray


@dataclass(frozen=True)
class Representation:
    """A representation of SU(N): its matrices B_a and number of colours.

    Attributes:
        name: as in options and kernel names.
        text: what it is.
        basis: n -> the B_a.
        real: True if V is U^+ and R real, False if V is U^T.
    """

    name: str
    text: str
    basis: Callable[[int], list[Matrix]]
    real: bool = False

    def dimension(self, n: int) -> int:
        """Colours of quarks in it."""
        return len(self.basis(n))

    def of(self, u: Matrix) -> Matrix:
        """R(U)."""
        b = np.array(self.basis(len(u)))
        turned = u @ b @ (u.conj().T if self.real else u.T)
        return np.einsum("aij,bij->ab", b.conj(), turned)

    def back(self, z: Matrix, n: int) -> Matrix:
        """The element X of su(n) with <r(Y), z> = <Y, X> for all Y in it: r(Y) = dR(exp(tY))/dt, <A, B> = Re tr A^+ B.

        With B_a^T = +-B_a, or B_a Hermitian and z real and antisymmetric, both factors of R give the same.
        """
        b = np.array(self.basis(n))
        x = 2 * np.einsum("ab,aij,bkj->ik", z.real if self.real else z, b, b.conj())
        x = (x - x.conj().T) / 2
        return x - np.trace(x) / n * np.eye(n)


def _unit(n: int, i: int, j: int) -> Matrix:
    matrix = np.zeros((n, n), dtype=complex)
    matrix[i, j] = 1
    return matrix


def _tensors(n: int, sign: int) -> list[Matrix]:
    """(E_ij + sign E_ji)/sqrt 2 for i < j, column after column; symmetric ones with E_jj at the end of each."""
    found = []
    for j in range(n):
        found += [(_unit(n, i, j) + sign * _unit(n, j, i)) / np.sqrt(2) for i in range(j)]
        found += [_unit(n, j, j)] * (sign > 0)
    return found


def _generators(n: int) -> list[Matrix]:
    """Sqrt 2 T_a, tr T_a T_b = 1/2, in the order in which momenta are drawn (runtime/kernels/site_draws.hpp)."""
    found = []
    for j in range(1, n):
        for i in range(j):
            one, other = _unit(n, i, j), _unit(n, j, i)
            found += [(one + other) / np.sqrt(2), 1j * (other - one) / np.sqrt(2)]
        diagonal = np.array([1.0] * j + [-j] + [0] * (n - j - 1), dtype=complex)
        found.append(np.diag(diagonal / np.sqrt(j * (j + 1))))
    return found


REPRESENTATIONS = {
    r.name: r
    for r in (
        Representation("adjoint", "adjoint: n^2 - 1 colours, real", _generators, real=True),
        Representation("symmetric", "symmetric tensors with two indices: n(n + 1)/2 colours", lambda n: _tensors(n, 1)),
        Representation(
            "antisymmetric", "antisymmetric tensors with two indices: n (n - 1)/2 colours", lambda n: _tensors(n, -1)
        ),
    )
}
"""Representations by name; the fundamental one needs no map."""
