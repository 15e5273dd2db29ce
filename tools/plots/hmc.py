"""Histories of HMC."""

import argparse
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import series
from common import COLOURS, Drawn, Part, extents, first_of, plot

NUMBERS = ("beta", "mass", "kappa", "csw", "csw_r", "csw_t", "mu", "epsilon", "m5", "ls", "u0", "twist", "power")
"""Keys of a monomial that a title names."""


def with_error(values: np.ndarray) -> str:
    """A mean and the error of its bins."""
    error = series.binned_error(values)[0] if len(values) > 1 else float("nan")
    return f"{values.mean():.5f}" if np.isnan(error) else f"{values.mean():.5f} ± {error:.5f}"


def what_differs(one: dict, other: dict) -> str:
    """Why two files are not of one run; empty if they may be."""
    keys = ["lattice", "seed"] + [f"run.{k}" for k in {**one.get("run", {}), **other.get("run", {})}]
    for key in keys if "run" in one and "run" in other else keys[:2]:
        values = [(r["run"].get(key[4:], "missing") if key.startswith("run.") else r[key]) for r in (one, other)]
        if values[0] != values[1]:
            return f"{key.removeprefix('run.')} is {values[0]} and {values[1]}"
    return ""


def join(parts: list[Part]) -> tuple[dict[int, dict], list[str]]:
    """Trajectories by number, each once, and remarks.

    Raises:
        ValueError: the files are not of one run.
    """
    parts = sorted(parts, key=lambda part: part[1]["first"])
    (head, run), found, repeated = parts[0], {}, {}
    origin: dict[int, Path] = {}
    for path, part in parts:
        if why := what_differs(run, part):
            raise ValueError(f"not of one run: {why} ({head}, {path}); draw them one by one")
        for number, t in enumerate(part["trajectories"], start=part["first"]):
            if "dH" not in t:
                raise ValueError(f"{path} holds energies alone, no trajectory")
            if number not in found:
                found[number], origin[number] = t, path
                continue
            known = found[number]
            if list(known["forces"]) != list(t["forces"]) or not np.isclose(known["plaquette"], t["plaquette"], 1e-6):
                raise ValueError(
                    f"not of one run: trajectory {number} ends at plaquette {known['plaquette']:.8f} in "
                    f"{origin[number]}, at {t['plaquette']:.8f} in {path}; leave one of them out"
                )
            repeated.setdefault(path, []).append(number)
    remarks = [f"{p}: trajectories {of[0]} to {of[-1]} repeat others, counted once" for p, of in repeated.items()]
    missing = sorted(set(range(min(found, default=0), max(found, default=0))) - set(found))
    if missing:
        remarks.append(f"{len(missing)} trajectories between {missing[0]} and {missing[-1]} are missing")
    return dict(sorted(found.items())), remarks


def actions(run: dict[str, str]) -> str:
    """What the keys of a run say of its action: kind, name and parameters of each monomial."""
    texts = []
    for name in run.get("monomials", "").split(", "):
        of = lambda key, name=name: run.get(f"monomial '{name}': {key}", "")  # noqa: E731
        kind = "" if of("kind") == "gauge" else of("kind")
        words = [f"{kind} {of('action')}".strip(), *(f"{k} {of(k)}" for k in NUMBERS if of(k) not in ("", "0"))]
        texts.append(f"{name}: " + ", ".join(w for w in words if w))
    return "; ".join(texts)


def title(run: dict, numbers: np.ndarray, kept: np.ndarray, plaquette: np.ndarray) -> str:
    """Lattice, action, part that counts, autocorrelation time."""
    action = actions(run.get("run", {})) or "monomials " + ", ".join(run["trajectories"][0]["forces"])
    history = (
        f"trajectories {numbers[0]} to {numbers[-1]}, thermalised from {numbers[kept][0]} on; "
        f"plaquette: {series.autocorrelation_text(plaquette[kept], 'trajectories')}"
    )
    return "\n".join(
        [*textwrap.wrap(f"{extents(run['lattice'])}, seed {run['seed']}; {action}", 110), *textwrap.wrap(history, 110)]
    )


def plot_history(axes: np.ndarray, numbers: np.ndarray, kept: np.ndarray, trajectories: list[dict]) -> None:
    """Plaquette and dH; means are those of the thermalised part."""
    plaquette = np.array([t["plaquette"] for t in trajectories])
    dh = np.array([t["dH"] for t in trajectories])
    accepted = np.array([t["accepted"] for t in trajectories])
    axes[0].plot(numbers, plaquette, lw=0.8, color=COLOURS[0])
    axes[0].set(ylabel="plaquette", title=f"plaquette {with_error(plaquette[kept])}")
    axes[1].plot(numbers[accepted], dh[accepted], ".", color=COLOURS[0], label="accepted")
    if not accepted.all():
        axes[1].plot(numbers[~accepted], dh[~accepted], "x", color=COLOURS[1], label="rejected")
    axes[1].set(ylabel="dH")
    axes[1].set_title(f"acceptance {accepted[kept].mean():.2f}, <exp(-dH)> {with_error(np.exp(-dh[kept]))}")
    axes[1].legend()
    if not kept.all():
        for one in axes:
            one.axvspan(numbers[0] - 0.5, numbers[kept][0] - 0.5, color="#999999", alpha=0.2, lw=0)


def plot_forces(axes: np.ndarray, numbers: np.ndarray, trajectories: list[dict], sites: int) -> None:
    """Root mean square of -tr F^2 of a link, and where the time goes."""
    names = list(trajectories[0]["forces"])
    for name in names:
        norms = [np.mean([f["norm2"] for f in t["forces"][name]] or [np.nan]) for t in trajectories]
        axes[0].semilogy(numbers, np.sqrt(np.array(norms) / (4 * sites)), label=name)
    axes[0].set(ylabel="force of a link, rms", xlabel="trajectory")
    axes[0].legend()
    whole = sum(t["seconds"] for t in trajectories)
    solves = [sum(t["work"][n]["solve_seconds"] for t in trajectories) / whole for n in names]
    rest = [sum(t["work"][n]["seconds"] for t in trajectories) / whole - s for n, s in zip(names, solves, strict=True)]
    axes[1].barh(names, solves, color=COLOURS[0], label="solves")
    axes[1].barh(names, rest, left=solves, color="#9fc5e8", label="the rest of it")
    axes[1].set(xlabel="share of the time", xlim=(0, 1))
    axes[1].legend()


@plot("JSON of `quarksmith hmc --json`", first_of("trajectory"), count="+")
def hmc(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Plaquette, dH, <exp(-dH)>, forces of each monomial and their share of the time.

    Several files are parts of one run, which was resumed: a trajectory that stands in two of them counts once.
    """
    found, remarks = join(parts)
    if not found:
        raise ValueError("there is no trajectory in it")
    numbers, trajectories = np.array(list(found)), list(found.values())
    kept = series.thermalised(numbers, options.first)
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5))
    run = next(part for _, part in parts if part["trajectories"])
    figure.suptitle(title(run, numbers, kept, np.array([t["plaquette"] for t in trajectories])), fontsize=10)
    plot_history(axes[0], numbers, kept, trajectories)
    plot_forces(axes[1], numbers, trajectories, int(np.prod(run["lattice"])))
    for one in axes.flat:
        one.title.set_fontsize("medium")
    return figure, remarks
