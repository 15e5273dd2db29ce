"""The order in which the statements of an expression's kernel are put."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How the statements of a kernel are put in order.

    Attributes:
        sparing: whether terms of sums load anew what they need (cpp/text.py); None: if they are long.
        kept: as of Statements.
        together: whether the directions of a call are computed together, for what they share.
        two_rows: whether links are known to be in SU(3), so that two rows of them are enough.
        min_blocks: for how many blocks of threads a GPU's multiprocessor is to have registers; 0 for one.
    """

    sparing: bool | None = False
    kept: int = 0
    together: bool = False
    two_rows: bool = False
    min_blocks: int = 0


LONG = Schedule(sparing=None)
"""Schedule of kernels that are derived from other formulas, which may be long."""
