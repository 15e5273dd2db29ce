"""Plots the cumulative distributions of deviations that `quarksmith accuracy --json` writes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots


def plot(data: dict, out: Path) -> None:
    """Fraction of the reals of D psi whose deviation is larger than x, one line a kernel."""
    kernels = [k for k in data["kernels"] if k["largest"] > 0]
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.92, len(kernels)))
    for kernel, colour in zip(kernels, colours, strict=True):
        x, below = np.array(kernel["distribution"]).T
        style = "--" if "_r8_" in kernel["name"] else "-"
        axes.plot(x, np.maximum(1 - below, 3e-6), style, color=colour, lw=1.4, label=kernel["name"])
    axes.set(xscale="log", yscale="log", ylim=(5e-6, 1.5))
    axes.set_xlabel("deviation from double, in units of the rms element of D psi")
    axes.set_ylabel("fraction of elements that deviate more")
    axes.set_title(f"{'x'.join(map(str, data['lattice']))}, random SU(3) links, Gaussian spinors")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(alpha=0.3)
    plots.save(figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith accuracy --json`", "accuracy.png", plot)
