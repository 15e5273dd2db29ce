"""Plots the plaquette of each sweep of `quarksmith heatbath`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots


def plot(data: dict, out: Path, first: int | None = None) -> None:
    """Plaquette against sweep, with mean, error and autocorrelation time of the thermalised part."""
    plaquettes = np.array(data["plaquettes"])
    if not len(plaquettes):
        raise ValueError("there is no sweep in it")
    sweeps = data["sweeps"] - len(plaquettes) + 1 + np.arange(len(plaquettes))
    kept = plots.thermalised(sweeps, first)
    thermal = plaquettes[kept]
    mean = thermal.mean()
    error, length = plots.binned_error(thermal)
    axes = plt.subplots(figsize=(7, 4.5), layout="constrained")[1]
    axes.plot(sweeps, plaquettes, lw=0.8, color="#0b5394")
    text = f"sweeps {sweeps[kept][0]} to {sweeps[-1]}: {mean:.5f} ± {error:.5f} (bins of {length})"
    axes.plot(sweeps[kept], np.full(len(thermal), mean), lw=1, color="#b45f06", label=text)
    axes.fill_between(sweeps[kept], mean - error, mean + error, color="#b45f06", alpha=0.3, lw=0)
    axes.plot([], [], " ", label=plots.autocorrelation_text(thermal, "sweeps"))
    spread = thermal.std()
    if spread > 0:
        axes.set_ylim(mean - 12 * spread, mean + 12 * spread)
    extents = "x".join(map(str, data["lattice"]))
    group = f"SU({data.get('colours', 3)}), " if data.get("colours", 3) != 3 else ""
    title = (
        f"{extents}, {group}Wilson plaquette action, beta {data['beta']}; {data['start']} start, seed {data['seed']}"
    )
    axes.set_title(title, fontsize="medium")
    axes.set(xlabel="sweep", ylabel="plaquette")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    plots.save(axes.figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith heatbath --json`", "heatbath.png", plot, thermal="sweep")
