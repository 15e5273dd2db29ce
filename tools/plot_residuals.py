"""Plots residual against time for each solver and precision of `quarksmith solve-bench --history`."""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import plots


def read(path: Path) -> dict[str, tuple[list[float], list[float]]]:
    """(seconds, relative residuals) of the first right-hand side of every solver, precision and batch."""
    curves: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["column"] == "0":
                name = f"{row['solver']} {row['precision']}" + (f" x{row['batch']}" if row["batch"] != "1" else "")
                curves[name][0].append(float(row["seconds"]))
                curves[name][1].append(float(row["residual"]))
    return curves


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="CSV of `quarksmith solve-bench --history`")
    parser.add_argument("--out", type=Path, default=Path("residuals.png"))
    options = parser.parse_args()
    axes = plt.subplots(figsize=(7, 4.5), layout="constrained")[1]
    for name, (seconds, residuals) in read(options.data).items():
        axes.semilogy(seconds, residuals, lw=1, label=name)
    axes.set(xlabel="seconds", ylabel="relative residual of the recurrence")
    axes.legend(frameon=False, fontsize="small")
    axes.grid(alpha=0.3)
    plots.save(axes.figure, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
