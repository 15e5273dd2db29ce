"""Prints what hopping terms take for each of several right-hand sides, as Markdown.

Of files that `quarksmith bench --lattice 32,32,32,64 --family hopping --rotate --rhs N --json FILE` wrote. Right-hand
sides are taken as solvers take them: by the kernel of the largest tile, what is left by those of smaller ones.
"""

import argparse
import json
import re
import sys
from pathlib import Path

Times = dict[tuple[int, int], float]
"""Microseconds of a launch, by the kernel's tile and the right-hand sides."""


def read(paths: list[Path]) -> dict[str, dict[str, Times]]:
    """Times by precision and name of the hopping term, both without daggers."""
    found: dict[str, dict[str, Times]] = {}
    for path in paths:
        for row in json.loads(path.read_text())["kernels"]:
            name, tile, complex_phase = re.fullmatch(r"(\w+?)_n(\d+)(__complex)?", row["name"]).groups()
            if "_dagger" in name:
                continue
            plain = name.replace(f"_{row['precision']}_", " ", 1) + (complex_phase or "").replace("__", " ")
            times = found.setdefault(plain, {}).setdefault(row["precision"], {})
            times[int(tile), row["rhs"]] = row["microseconds"]
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
    """Microseconds for each right-hand side, and the loss where a batch takes more than one after the other."""
    lines = ["| hopping term | " + " | ".join(f"{p}: {' / '.join(map(str, numbers))}" for p in PRECISIONS) + " |"]
    lines.append("|---" * (len(PRECISIONS) + 1) + "|")
    for name in sorted(found):
        cells = []
        for precision in PRECISIONS:
            each = [as_solved(found[name].get(precision, {}), n) for n in numbers]
            cells.append(" / ".join("-" if t is None else f"{t / n:.0f}" for t, n in zip(each, numbers, strict=True)))
        lines.append(f"| {name} | {' | '.join(c if c.strip('- /') else '' for c in cells)} |")
    return lines


PRECISIONS = ("double", "single", "half")


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    found = read(parser.parse_args().files)
    numbers = sorted({rhs for kernel in found.values() for times in kernel.values() for _, rhs in times})
    print("\n".join(table(found, numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
