"""Shape axes: choices that change the text or the types of a kernel but not what it computes, each with its reason.

Which of them a target has is stated in its row (generator/targets.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Shape:
    """One choice besides the plain shape.

    Attributes:
        name: as in kernel names, after `__`.
        why: what it is for.
        body: True if it changes the rendered text of the body, False if only types of the row.
    """

    name: str
    why: str
    body: bool = False


SHAPES = {
    s.name: s
    for s in (
        Shape("box", "neighbours in cache: boxes of 2x2x2 rows of sites"),
        Shape("rows", "sites in the order of their numbers, not in slabs of z for all t"),
        Shape("noprefetch", "the next block is not prefetched: the hardware prefetcher may suffice"),
        Shape("stream", "links are used once: loaded past L1, which is left to the neighbours' spinors"),
        Shape("kept", "several right-hand sides: links fetched into shared memory once serve them all"),
        Shape("pairs", "two groups of threads share links that are kept: the first cache has more room for spinors"),
        Shape("quads", "four groups of threads share links that are kept"),
        Shape("tfirst", "hops in the order t, z, y, x: the far neighbours' loads are issued first", body=True),
    )
}
"""All shapes by name."""


MOST_GROUPS = 4
"""Most groups of threads, see `groups`."""


def groups(shape: Sequence[str]) -> int:
    """Groups of threads that share links kept in shared memory, each for right-hand sides of its own."""
    return MOST_GROUPS if "quads" in shape else 2 if "pairs" in shape else 1


def reordered(shape: Sequence[str], hops: Sequence[T]) -> list[T]:
    """Hops, given in pairs x+ x- y+ y- ..., in the order that the shape asks for."""
    if "tfirst" not in shape:
        return list(hops)
    pairs = [hops[i : i + 2] for i in range(0, len(hops), 2)]
    return [hop for pair in reversed(pairs) for hop in pair]
