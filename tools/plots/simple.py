"""Plots of one panel or two."""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import series
from common import COLOURS, Drawn, Part, extents, first_of, plot

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@plot("JSON of `quarksmith accuracy --json`")
def accuracy(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Cumulative distributions of deviations: the fraction of the reals of D psi that deviate more than x."""
    ((_, data),) = parts
    kernels = [k for k in data["kernels"] if k["largest"] > 0]
    figure, axes = plt.subplots(figsize=(8, 5))
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.92, len(kernels)))
    for kernel, colour in zip(kernels, shades, strict=True):
        x, below = np.array(kernel["distribution"]).T
        style = "--" if "_r8_" in kernel["name"] else "-"
        axes.plot(x, np.maximum(1 - below, 3e-6), style, color=colour, lw=1.4, label=kernel["name"])
    axes.set(xscale="log", yscale="log", ylim=(5e-6, 1.5), ylabel="fraction of elements that deviate more")
    axes.set_xlabel("deviation from double, in units of the rms element of D psi")
    axes.set_title(f"{extents(data['lattice'])}, random SU(3) links, Gaussian spinors")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure, []


def read_residuals(path: Path) -> dict[str, tuple[list[float], list[float]]]:
    """(seconds, relative residuals) of the first right-hand side of every solver, precision and batch."""
    curves: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["column"] == "0":
                name = f"{row['solver']} {row['precision']}" + (f" x{row['batch']}" if row["batch"] != "1" else "")
                for values, key in zip(curves[name], ("seconds", "residual"), strict=True):
                    values.append(float(row[key]))
    if not curves:
        raise ValueError("there is no residual in it")
    return curves


@plot("CSV of `quarksmith solve-bench --history`", read=read_residuals)
def residuals(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Residual against time for each solver and precision."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, curve in parts[0][1].items():
        axes.semilogy(*curve, lw=1, label=name)
    axes.set(xlabel="seconds", ylabel="relative residual of the recurrence")
    axes.legend(fontsize="small")
    return figure, []


@plot("JSON of `quarksmith heatbath --json`", first_of("sweep"))
def history(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Plaquette against sweep of a heatbath, with mean, error and autocorrelation time of the thermalised part."""
    ((_, data),) = parts
    plaquettes = np.array(data["plaquettes"])
    if not len(plaquettes):
        raise ValueError("there is no sweep in it")
    sweeps = data["sweeps"] - len(plaquettes) + 1 + np.arange(len(plaquettes))
    kept = series.thermalised(sweeps, options.first)
    thermal = plaquettes[kept]
    mean, spread = thermal.mean(), thermal.std()
    error, length = series.binned_error(thermal)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.plot(sweeps, plaquettes, lw=0.8, color=COLOURS[0])
    text = f"sweeps {sweeps[kept][0]} to {sweeps[-1]}: {mean:.5f} ± {error:.5f} (bins of {length})"
    axes.plot(sweeps[kept], np.full(len(thermal), mean), lw=1, color=COLOURS[1], label=text)
    axes.fill_between(sweeps[kept], mean - error, mean + error, color=COLOURS[1], alpha=0.3, lw=0)
    axes.plot([], [], " ", label=series.autocorrelation_text(thermal, "sweeps"))
    if spread > 0:
        axes.set_ylim(mean - 12 * spread, mean + 12 * spread)
    group = f"SU({data.get('colours', 3)}), " if data.get("colours", 3) != 3 else ""
    action = f"{group}Wilson plaquette action, beta {data['beta']}; {data['start']} start, seed {data['seed']}"
    axes.set_title(f"{extents(data['lattice'])}, {action}", fontsize="medium")
    axes.set(xlabel="sweep", ylabel="plaquette")
    axes.legend()
    return figure, []


@plot("JSON of `quarksmith model --json`")
def scaling(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Times against the number of ranks: of the hopping term, and of an iteration for each hopping term in it.

    Dotted: ideal scaling. Of several grids the fastest counts.
    """
    ((_, data),) = parts
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), sharex=True)
    kinds = sorted({(tuple(r["lattice"]), r["precision"]) for r in data["rows"]})
    for n, (lattice, precision) in enumerate(kinds):
        best: dict[int, dict] = {}
        for r in sorted(data["rows"], key=lambda r: -r["microseconds"]):
            if (tuple(r["lattice"]), r["precision"]) == (lattice, precision):
                best[r["ranks"]] = r
        ranks = sorted(best)
        name, colour, first = f"{extents(lattice)} {precision}", f"C{n}", best[ranks[0]]
        left.plot(ranks, [best[k]["microseconds"] for k in ranks], "o-", color=colour, label=name)
        left.plot(ranks, [first["microseconds"] * ranks[0] / k for k in ranks], ":", color=colour)
        for m, method in enumerate(i["method"] for i in first["iterations"]):
            steps = [best[k]["iterations"][m] for k in ranks]
            each = [i["microseconds"] / i["hopping_terms"] for i in steps]
            style = MARKERS[m] + ("--" if "schwarz" in method else "-")
            right.plot(ranks, each, style, color=colour, mfc="none", label=f"{name}, {method}")
    left.set(ylabel="µs a hopping term", title=data["device"].split(",")[0])
    right.set(ylabel="µs of an iteration a hopping term")
    for axes in (left, right):
        axes.set(yscale="log", xlabel="ranks")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(which="both", lw=0.5)
        axes.legend(fontsize=8)
    return figure, []
