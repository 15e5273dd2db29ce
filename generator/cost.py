"""What a kernel costs per site and right-hand side, counted from the terms that are emitted. Knows no text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generator.algebra.projector import Factors

COLOUR_REALS = 6
"""Reals of a colour vector."""
MULTIPLY_FLOPS = 66
"""Flops of a 3x3 complex matrix times a vector: 9 products of 6 flops and 6 additions of 2."""


@dataclass(frozen=True)
class Cost:
    """Arithmetic and least traffic of one site and right-hand side.

    Attributes:
        flops: counted from the emitted terms; reconstruction of links, scaling and phases are not counted.
        reported: the number by which the field quotes GFLOP/s, equal to `flops` where no convention exists.
        bytes: each neighbour read once (perfect reuse), each link once per tile, the result written once.
        reals: reals moved without any reuse.
    """

    flops: int
    reported: int
    bytes: float
    reals: int

    def floor_gflops(self, bandwidth: float) -> float:
        """GFLOP/s at `bandwidth` bytes/s if nothing but the bytes counted moves."""
        return self.reported / self.bytes * bandwidth * 1e-9


def combination_flops(row: np.ndarray, *, first: bool) -> int:
    """Flops of adding a combination of colour vectors to a sum (`first`: of starting the sum).

    A coefficient +-1 or +-i costs nothing but its addition; any other real one doubles, a complex one quadruples. A
    modulus that multiples of +-1 and +-i share is multiplied once.
    """
    given = row[np.abs(row) > 0]
    sizes, sums = np.abs(given), np.abs(given.real) + np.abs(given.imag)
    if len(given) > 1 and sizes[0] != 1 and max(np.ptp(sizes), np.abs(sums - sizes).max()) < 1e-15:
        return combination_flops(row / sizes[0], first=first) + COLOUR_REALS
    additions = 0
    multiplications = 0
    for c in row[np.abs(row) > 0]:
        additions += COLOUR_REALS
        if c.real != 0 and c.imag != 0:
            multiplications += 3 * COLOUR_REALS
        elif abs(c) != 1:
            multiplications += COLOUR_REALS
    return max(additions - (COLOUR_REALS if first else 0), 0) + multiplications


def hopping_flops(factors: list[Factors]) -> int:
    """Flops of a sum over hops: project, multiply each projected vector by a link, accumulate."""
    total = 0
    started: set[int] = set()
    for f in factors:
        total += sum(combination_flops(row, first=True) for row in f.project) + f.rank * MULTIPLY_FLOPS
        for spin, row in enumerate(f.reconstruct):
            if np.any(row):
                total += combination_flops(row, first=spin not in started)
                started.add(spin)
    return total
