"""Prints what hopping terms take for each of several right-hand sides, as Markdown.

Of files that `quarksmith bench --lattice 32,32,32,64 --family hopping --rotate --rhs N --json FILE` wrote. Right-hand
sides are taken as solvers take them: by the kernel of the largest tile, what is left by those of smaller ones.
"""

import argparse
import json
import re
import sys
from pathlib import Path

PRECISIONS = ("double", "single", "half")
Times = dict[tuple[int, int], float]
"""Microseconds of a launch, by the kernel's tile and the right-hand sides."""


def add(path: Path, found: dict[str, dict[str, Times]]) -> None:
    """Adds the times of a file, by name of the hopping term, those with a dagger left out, and by precision.

    Raises:
        OSError, ValueError, KeyError, TypeError: it cannot be read, or is something else.
    """
    data = json.loads(path.read_text())
    if not isinstance(data, dict) or not data.get("kernels"):
        raise ValueError("no kernels in it")
    for row in data["kernels"]:
        parts = re.fullmatch(r"(\w+?)_n(\d+)(__complex)?", row["name"])
        if parts is None or "_dagger" in row["name"]:
            continue
        name, tile, complex_phase = parts.groups()
        plain = name.replace(f"_{row['precision']}_", " ", 1) + (complex_phase or "").replace("__", " ")
        times = found.setdefault(plain, {}).setdefault(row["precision"], {})
        times[int(tile), row["rhs"]] = row["microseconds"]


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


def main() -> int:
    """Prints the table; 1 where a file is none of `bench --family hopping`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    found: dict[str, dict[str, Times]] = {}
    for path in parser.parse_args().files:
        try:
            add(path, found)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"{path}: {error}: no file of `quarksmith bench --family hopping --json`", file=sys.stderr)
            return 1
    if not found:
        print("no file times a hopping term: use `quarksmith bench --family hopping --json`", file=sys.stderr)
        return 1
    numbers = sorted({rhs for kernel in found.values() for times in kernel.values() for _, rhs in times})
    print("\n".join(table(found, numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
