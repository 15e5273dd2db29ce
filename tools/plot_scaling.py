"""Plots times of `quarksmith model --json` against the number of ranks.

Hopping terms, and iterations with and without Schwarz preconditioner.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import plots

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def plot(data: dict, out: Path) -> None:
    """Left the hopping term; right the time of an iteration for each hopping term in it; dotted: ideal scaling."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", sharex=True)
    kinds = sorted({(tuple(r["lattice"]), r["precision"]) for r in data["rows"]})
    for n, (lattice, precision) in enumerate(kinds):
        rows = [r for r in data["rows"] if tuple(r["lattice"]) == lattice and r["precision"] == precision]
        best: dict[int, dict] = {}
        for r in rows:  # of several grids the fastest
            if r["ranks"] not in best or r["microseconds"] < best[r["ranks"]]["microseconds"]:
                best[r["ranks"]] = r
        ranks = sorted(best)
        name = f"{'x'.join(map(str, lattice))} {precision}"
        colour, first = f"C{n}", best[ranks[0]]
        left.plot(ranks, [best[k]["microseconds"] for k in ranks], "o-", color=colour, label=name)
        left.plot(ranks, [first["microseconds"] * ranks[0] / k for k in ranks], ":", color=colour)
        for m, method in enumerate(i["method"] for i in first["iterations"]):
            steps = [best[k]["iterations"][m] for k in ranks]
            each = [i["microseconds"] / i["hopping_terms"] for i in steps]
            style = "--" if "schwarz" in method else "-"
            right.plot(ranks, each, MARKERS[m] + style, color=colour, mfc="none", label=f"{name}, {method}")
    left.set(ylabel="µs a hopping term", title=data["device"].split(",")[0])
    right.set(ylabel="µs of an iteration a hopping term")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="ranks")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(alpha=0.3, which="both", lw=0.5)
        axes.legend(frameon=False, fontsize=8)
    plots.save(figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith model --json`", "scaling.png", plot)
