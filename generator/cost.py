"""Cost of a kernel per site and right-hand side, counted from the terms that are emitted. Knows no text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .algebra.projector import Factors

COLOUR_REALS = 6
"""Reals of a vector of three colours."""


def multiply_flops(colours: int) -> int:
    """Flops of a complex matrix times a vector: n^2 products of 6 flops and n (n - 1) additions of 2."""
    return 8 * colours**2 - 2 * colours


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


def combination_flops(row: np.ndarray, *, first: bool, colours: int = 3) -> int:
    """Flops of adding a combination of colour vectors to a sum (`first`: of starting the sum).

    A coefficient +-1 or +-i costs nothing but its addition; any other real one doubles, a complex one quadruples. A
    modulus that multiples of +-1 and +-i share is multiplied once.
    """
    reals = 2 * colours
    given = row[np.abs(row) > 0]
    sizes, sums = np.abs(given), np.abs(given.real) + np.abs(given.imag)
    if len(given) > 1 and sizes[0] != 1 and max(np.ptp(sizes), np.abs(sums - sizes).max()) < 1e-15:
        return combination_flops(row / sizes[0], first=first, colours=colours) + reals
    additions = 0
    multiplications = 0
    for c in row[np.abs(row) > 0]:
        additions += reals
        if c.real != 0 and c.imag != 0:
            multiplications += 3 * reals
        elif abs(c) != 1:
            multiplications += reals
    return max(additions - (reals if first else 0), 0) + multiplications


def hopping_flops(factors: list[Factors], colours: int = 3) -> int:
    """Flops of a sum over hops: project, multiply each projected vector by a link, accumulate."""
    total = 0
    started: set[int] = set()
    for f in factors:
        total += sum(combination_flops(row, first=True, colours=colours) for row in f.project)
        total += f.rank * multiply_flops(colours)
        for spin, row in enumerate(f.reconstruct):
            if np.any(row):
                total += combination_flops(row, first=spin not in started, colours=colours)
                started.add(spin)
    return total
