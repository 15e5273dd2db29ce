"""A hop as the code of kernels is generated from it."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.gamma import Matrix
from ..algebra.projector import Factors


@dataclass(frozen=True)
class Hop:
    """A hop to a neighbour: direction mu, sign +1 (forward) or -1, and the factors of its spin matrix.

    `phase` lists the coordinates whose sum's parity gives the hop a sign (staggered phases). Hops of `length` 1 take
    `links` and `hops` of runtime/kernels/arguments.hpp, those of length 3 `long_links` and `long_hops`.
    """

    mu: int
    sign: int
    matrix: Matrix
    factors: Factors
    phase: tuple[int, ...] = ()
    length: int = 1

    @property
    def step(self) -> int:
        """Sites by which the coordinate along mu changes."""
        return self.sign * self.length
