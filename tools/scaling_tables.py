"""Prints the tables of docs/performance.md from a folder of tools/measure_host.sh, as Markdown."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path


def read(folder: Path, pattern: str) -> Iterator[tuple[list[str], dict]]:
    """The parts of the names of files, and what they hold."""
    for path in sorted(folder.glob(pattern)):
        yield path.stem.split("_"), json.loads(path.read_text())


def hops(folder: Path) -> list[str]:
    """Total GFLOP/s of hopping terms; in brackets times one GPU."""
    cells: dict[tuple[str, str], dict[int, float]] = {}
    for (kind, *_), data in read(folder, "*_*.json"):
        if kind not in ("strong", "weak"):
            continue
        ranks = 1
        for extent in data["grid"]:
            ranks *= extent
        where = f"{kind}, {','.join(map(str, data['grid']))}"
        for row in data["rows"]:
            if ranks == 1 or row["chosen"]:
                cells.setdefault((where, row["precision"]), {})[row["rhs"]] = row["gflops"]
    single = {k[1]: v for k, v in cells.items() if k[0] == "strong, 1,1,1,1"}
    lines = ["| grid | double, 1 / 12 | single | half |", "|---|---|---|---|"]
    for where in sorted({w for w, _ in cells}):
        texts = []
        for precision in ("double", "single", "half"):
            found = cells.get((where, precision), {})
            texts.append(" / ".join(_with_ratio(found[r], single.get(precision, {}).get(r)) for r in sorted(found)))
        lines.append(f"| {where} | {' | '.join(texts)} |")
    return lines


def _with_ratio(gflops: float, one: float | None) -> str:
    return f"{gflops:.0f}" + (f" ({gflops / one:.2f})" if one else "")


def solves(folder: Path) -> list[str]:
    """Seconds of whole solves, iterations and the host's share."""
    lines = ["| solver | GPUs | right-hand sides | seconds | iterations | host |", "|---|---|---|---|---|---|"]
    for solver in ("cg", "bicgstab", "multigrid"):
        for (*_, gpus), data in read(folder, f"{solver}_*.json"):
            for s in data["solves"]:
                lines.append(
                    f"| {s['solver']} | {gpus} | {s['batch']} | {s['seconds']:.4f} | {s['iterations']} | "
                    f"{s['host_share'] or 0:.0%} |"
                )
    return lines


def trajectories(folder: Path) -> list[str]:
    """Seconds of the first trajectory and of the last, and of the last in solves."""
    lines = ["| quarks | GPUs | first | last | in solves | forces |", "|---|---|---|---|---|---|"]
    for quarks in ("clover", "hisq"):
        for (*_, gpus), data in read(folder, f"{quarks}_*.json"):
            first, last = data["trajectories"][0], data["trajectories"][-1]
            shares = [f"{last['seconds'] * last['shares'][k]:.2f}" for k in ("solves", "forces")]
            lines.append(
                f"| {quarks} | {gpus} | {first['seconds']:.2f} | {last['seconds']:.2f} | {' | '.join(shares)} |"
            )
    return lines


def main() -> int:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of tools/measure_host.sh")
    folder = parser.parse_args().folder
    if not any(folder.glob("*.json")):
        print(f"{folder}: no results; tools/measure_host.sh BUILD {folder} makes them", file=sys.stderr)
        return 1
    print("\n".join([*hops(folder), "", *solves(folder), "", *trajectories(folder)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
