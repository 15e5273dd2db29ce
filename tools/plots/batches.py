"""Several right-hand sides."""

import argparse
import re
from pathlib import Path
from typing import Any

from common import Drawn, Part, plot, read_json

PRECISIONS = ("double", "single", "half")
Times = dict[tuple[int, int], float]
"""Microseconds of a launch, by the kernel's tile and the right-hand sides."""


def read(path: Path) -> list[tuple[str, str, int, int, float]]:
    """Name of the hopping term, those with a dagger left out, precision, tile, right-hand sides and microseconds."""
    data: Any = read_json(path)
    if not isinstance(data, dict) or not data.get("kernels"):
        raise ValueError("no kernels in it")
    found = []
    for row in data["kernels"]:
        parts = re.fullmatch(r"(\w+?)_n(\d+)(__complex)?", row["name"])
        if parts is None or "_dagger" in row["name"]:
            continue
        name, tile, complex_phase = parts.groups()
        plain = name.replace(f"_{row['precision']}_", " ", 1) + (complex_phase or "").replace("__", " ")
        found.append((plain, row["precision"], int(tile), row["rhs"], row["microseconds"]))
    return found


def as_solved(times: Times, rhs: int) -> float | None:
    """Microseconds of so many right-hand sides; None if one of the launches was not measured."""
    total, left = 0.0, rhs
    for tile in sorted({t for t, _ in times}, reverse=True):
        count = left // tile * tile
        if count == 0:
            continue
        if (tile, count) not in times:
            return None
        total += times[tile, count]
        left -= count
    return total if left == 0 else None


def table(found: dict[str, dict[str, Times]], numbers: list[int]) -> list[str]:
    """Microseconds for each right-hand side of batches of such numbers; `-` where one of the launches is missing."""
    lines = ["| hopping term | " + " | ".join(f"{p}: {' / '.join(map(str, numbers))}" for p in PRECISIONS) + " |"]
    lines.append("|---" * (len(PRECISIONS) + 1) + "|")
    for name in sorted(found):
        cells = []
        for precision in PRECISIONS:
            each = [as_solved(found[name].get(precision, {}), n) for n in numbers]
            cells.append(" / ".join("-" if t is None else f"{t / n:.0f}" for t, n in zip(each, numbers, strict=True)))
        lines.append(f"| {name} | {' | '.join(c if c.strip('- /') else '' for c in cells)} |")
    return lines


@plot("JSON of `quarksmith bench --family hopping`", read=read, count="+")
def batches(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """What hopping terms take for each of several right-hand sides, as Markdown.

    Of files that `quarksmith bench --lattice 32,32,32,64 --family hopping --rotate --rhs N --json FILE` wrote.
    Right-hand sides are taken as solvers take them: by the kernel of the largest tile, what is left by those of
    smaller ones.
    """
    found: dict[str, dict[str, Times]] = {}
    for name, precision, tile, rhs, microseconds in (row for _, rows in parts for row in rows):
        found.setdefault(name, {}).setdefault(precision, {})[tile, rhs] = microseconds
    if not found:
        raise ValueError("no file times a hopping term")
    return None, table(
        found, sorted({rhs for kernel in found.values() for times in kernel.values() for _, rhs in times})
    )
