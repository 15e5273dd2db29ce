"""Plots a run of `quarksmith hmc`: plaquette, dH, <exp(-dH)>, forces of each monomial and their share of the time."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots


def with_error(series: np.ndarray) -> str:
    """A mean and the error of its bins."""
    error = plots.binned_error(series)[0] if len(series) > 1 else float("nan")
    return f"{series.mean():.5f}" if np.isnan(error) else f"{series.mean():.5f} ± {error:.5f}"


def plot_history(axes: np.ndarray, numbers: np.ndarray, trajectories: list[dict]) -> None:
    """Plaquette and dH; means are those of the second half, where a run has become thermal."""
    half = len(trajectories) // 2
    plaquette = np.array([t["plaquette"] for t in trajectories])
    dh = np.array([t["dH"] for t in trajectories])
    accepted = np.array([t["accepted"] for t in trajectories])
    axes[0].plot(numbers, plaquette, lw=0.8, color="#0b5394")
    axes[0].set(ylabel="plaquette", title=f"second half: {with_error(plaquette[half:])}")
    axes[1].plot(numbers[accepted], dh[accepted], ".", color="#0b5394", label="accepted")
    if not accepted.all():
        axes[1].plot(numbers[~accepted], dh[~accepted], "x", color="#b45f06", label="rejected")
    kept = f"acceptance {accepted[half:].mean():.2f}, <exp(-dH)> {with_error(np.exp(-dh[half:]))}"
    axes[1].set(ylabel="dH", title=f"second half: {kept}")
    axes[1].title.set_fontsize("medium")
    axes[1].legend(frameon=False)


def plot_forces(axes: np.ndarray, numbers: np.ndarray, trajectories: list[dict], sites: int) -> None:
    """Root mean square of -tr F^2 of a link, and where the time goes."""
    names = list(trajectories[0]["forces"])
    for name in names:
        norms = [np.mean([f["norm2"] for f in t["forces"][name]] or [np.nan]) for t in trajectories]
        axes[0].semilogy(numbers, np.sqrt(np.array(norms) / (4 * sites)), label=name)
    axes[0].set(ylabel="force of a link, rms", xlabel="trajectory")
    axes[0].legend(frameon=False)
    whole = sum(t["seconds"] for t in trajectories)
    solves = [sum(t["work"][n]["solve_seconds"] for t in trajectories) / whole for n in names]
    rest = [sum(t["work"][n]["seconds"] for t in trajectories) / whole - s for n, s in zip(names, solves, strict=True)]
    axes[1].barh(names, solves, color="#0b5394", label="solves")
    axes[1].barh(names, rest, left=solves, color="#9fc5e8", label="the rest of it")
    axes[1].set(xlabel="share of the time", xlim=(0, 1))
    axes[1].legend(frameon=False)


def plot(parts: list[dict], out: Path) -> None:
    """Four pictures of one run, which may have been resumed."""
    parts.sort(key=lambda part: part["first"])
    trajectories = [t for part in parts for t in part["trajectories"]]
    if not trajectories or "dH" not in trajectories[0]:
        raise ValueError("there is no trajectory in it")
    numbers = np.concatenate([part["first"] + np.arange(len(part["trajectories"])) for part in parts])
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    plot_history(axes[0], numbers, trajectories)
    plot_forces(axes[1], numbers, trajectories, int(np.prod(parts[0]["lattice"])))
    for one in axes.flat:
        one.grid(alpha=0.3)
        one.set_axisbelow(True)
    plots.save(figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith hmc --json`", "hmc.png", plot, several=True)
