"""Plots the plaquette of each sweep of `quarksmith heatbath`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots


def plot(data: dict, out: Path) -> None:
    """Plaquette against sweep, with the mean of the second half and its error."""
    plaquettes = np.array(data["plaquettes"])
    sweeps = data["sweeps"] - len(plaquettes) + 1 + np.arange(len(plaquettes))
    half = len(plaquettes) // 2
    second = plaquettes[half:]
    mean = second.mean()
    error, length = plots.binned_error(second)
    axes = plt.subplots(figsize=(6, 4), layout="constrained")[1]
    axes.plot(sweeps, plaquettes, lw=0.8, color="#0b5394")
    text = f"second half: {mean:.5f} ± {error:.5f} (bins of {length} sweeps)"
    axes.plot(sweeps[half:], np.full(len(second), mean), lw=1, color="#b45f06", label=text)
    axes.fill_between(sweeps[half:], mean - error, mean + error, color="#b45f06", alpha=0.3, lw=0)
    spread = second.std()
    if spread > 0:
        axes.set_ylim(mean - 12 * spread, mean + 12 * spread)
    extents = "x".join(map(str, data["lattice"]))
    axes.set(xlabel="sweep", ylabel="plaquette", title=f"{extents}, beta {data['beta']}, {data['start']} start")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    plots.save(axes.figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith heatbath --json`", "heatbath.png", plot)
