"""How far values are made of fields at other sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .values import AT_HOME, Value, topological


def reach_of(roots: Iterable[Value]) -> dict[str, str]:
    """Of the fields that are read elsewhere: `1.0.0...`, sites back and ahead along x, y, z, t, and `.corners`."""
    found: dict[str, list[int]] = {}
    corners = set()
    for v in topological(roots):
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


def read_apart(blocks: Iterable[Sequence[tuple[str, Any, Value]]]) -> frozenset[str]:
    """Fields read where another block, of outputs, what of them, and values, or another site writes."""
    found = set()
    for results in blocks:
        own = {n for _, n, _ in results}
        for v in topological(r for *_, r in results):
            if v.op == "load" and (v.data[2] != AT_HOME or (v.kind == "matrix" and v.data[1] not in own)):
                found.add(v.data[0])
    return frozenset(found)
