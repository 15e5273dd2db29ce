"""How far values are made of fields at other sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..language.walks import parts
from .values import AT_HOME, Value


def reach_of(roots: Iterable[Value]) -> dict[str, str]:
    """Of the fields that are read elsewhere: `1.0.0...`, sites back and ahead along x, y, z, t, and `.corners`."""
    found: dict[str, list[int]] = {}
    corners = set()
    for v in parts(roots):
        if v.op != "load" or v.data[2] == AT_HOME:
            continue
        name, _, at = v.data
        sites = found.setdefault(name, [0] * 8)
        for mu, n in enumerate(at):
            for nu in (mu,) if mu < 4 else range(4):  # directions that come with a call are any
                sites[2 * nu + (n > 0)] = max(sites[2 * nu + (n > 0)], abs(n)) if n else sites[2 * nu + (n > 0)]
        if sum(n != 0 for n in at) > 1:
            corners.add(name)
    return {n: ".".join(map(str, sites)) + (".corners" if n in corners else "") for n, sites in found.items()}


Results = Sequence[tuple[str, Any, Value]]
"""A block of a kernel: outputs, what of them, and values."""


def read_apart(blocks: Iterable[Results]) -> frozenset[str]:
    """Fields read where another block or another site writes, or after spinors of the site have been written."""
    found = set()
    spinors_written = False
    for results in blocks:
        own = {n for _, n, _ in results}
        for v in parts(r for *_, r in results):
            if v.op != "load":
                continue
            moved = v.data[2] != AT_HOME or (v.kind == "matrix" and v.data[1] not in own)
            if moved or (spinors_written and v.kind == "spinor"):
                found.add(v.data[0])
        spinors_written |= any(name and value.kind == "spinor" for name, _, value in results)
    return frozenset(found)


def sums_first(blocks: Sequence[Results], sums: Results) -> bool:
    """Whether sums read, at their own site, what a block may write: they are taken before anything is written."""
    apart = read_apart([sums, *blocks])
    fields = {v.data[0] for v in parts(r for *_, r in sums) if v.op == "load"}
    return bool(blocks and fields - apart)
