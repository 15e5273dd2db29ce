"""Rank factorisation of the spin matrices of a hop: project, multiply by the link, reconstruct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .gamma import TOLERANCE, Matrix, snap


@dataclass(frozen=True)
class Factors:
    """spin matrix = reconstruct @ project.

    Attributes:
        project: (rank, spins); row k gives the k-th colour vector that crosses the link. Its first non-zero entry is 1.
        reconstruct: (spins, rank).
    """

    project: Matrix
    reconstruct: Matrix

    @property
    def rank(self) -> int:
        """Colour vectors that must be multiplied by the link."""
        return self.project.shape[0]


def factorise(matrix: Matrix) -> Factors:
    """Keeps the rows of `matrix` that are independent of the rows above; writes each row in terms of them.

    Raises:
        ArithmeticError: the product of the factors is not the matrix (a bug in the factorisation).
    """
    kept: list[np.ndarray] = []
    for row in matrix:
        remainder = row.astype(complex)
        if kept:
            basis = np.array(kept).T
            coefficients, *_ = np.linalg.lstsq(basis, remainder, rcond=None)
            remainder = remainder - basis @ coefficients
        if np.abs(remainder).max() > 1e-8:
            lead = row[np.flatnonzero(np.abs(row) > TOLERANCE)[0]]
            kept.append(snap(row / lead))
    project = np.array(kept)
    reconstruct = snap(np.linalg.lstsq(project.T, matrix.T, rcond=None)[0].T)
    if np.abs(reconstruct @ project - matrix).max() > TOLERANCE:
        raise ArithmeticError(f"factorisation of\n{matrix}\nis wrong: {project}\n{reconstruct}")
    return Factors(project, reconstruct)
