"""Plots the plaquette of each sweep of `quarksmith heatbath`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots


def plot(data: dict, out: Path) -> None:
    """Plaquette against sweep, with the mean of the second half."""
    plaquettes = np.array(data["plaquettes"])
    sweeps = data["sweeps"] - len(plaquettes) + 1 + np.arange(len(plaquettes))
    mean = plaquettes[len(plaquettes) // 2 :].mean()
    axes = plt.subplots(figsize=(6, 4), layout="constrained")[1]
    axes.plot(sweeps, plaquettes, lw=0.8, color="#0b5394")
    axes.axhline(mean, color="#b45f06", lw=0.8, label=f"mean of the second half {mean:.5f}")
    spread = plaquettes[len(plaquettes) // 2 :].std()
    axes.set_ylim(mean - 12 * spread, mean + 12 * spread)
    extents = "x".join(map(str, data["lattice"]))
    axes.set(xlabel="sweep", ylabel="plaquette", title=f"{extents}, beta {data['beta']}, {data['start']} start")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    plots.save(axes.figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith heatbath --json`", "heatbath.png", plot)
