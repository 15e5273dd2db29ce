"""What the scripts of this folder share: results of `quarksmith measure`, and the jackknife."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np


def options(description: str, results: str, **numbers: int) -> argparse.Namespace:
    """The command line of a script: results, where to write a plot, and numbers with their defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help=f"of `quarksmith measure examples/analysis/{results}`")
    parser.add_argument("--out", type=Path, help="a plot")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"of the run (default {default})")
    return parser.parse_args()


def read(path: Path, name: str) -> tuple[np.ndarray, list[dict]]:
    """The dataset of a name, by configuration, and on each the attributes of both.

    Raises:
        SystemExit: the file lacks it.
    """
    with h5py.File(path) as file:
        groups = [file[key] for key in sorted(file)]
        for group in groups:
            if name not in group:
                sys.exit(f"{path}: configuration {group.name} has no '{name}', but {', '.join(group)}")
        return np.array([group[name][:] for group in groups]), [
            {**group.attrs, **group[name].attrs} for group in groups
        ]


def structure(attributes: list[dict], name: str) -> int:
    """Where a structure stands on the axis of structures."""
    return attributes[0]["structures"].split().index(name)


def jackknife(function: Callable, *series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function of means over configurations, and its error: each sample leaves one configuration out."""
    n = len(series[0])
    samples = [function(*(np.delete(s, k, axis=0).mean(axis=0) for s in series)) for k in range(n)]
    return np.asarray(function(*(s.mean(axis=0) for s in series))), np.sqrt((n - 1) * np.var(samples, axis=0))


def shown(value: float, error: float) -> str:
    """A value with two digits of its error in brackets, such as 0.761(23)."""
    if not 0 < error < math.inf:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f}({error * 10**digits:.0f})"


def save_plot(out: Path | None, draw: Callable, **settings: object) -> None:
    """A plot of one pair of axes, which `draw` fills."""
    if out is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    draw(axes)
    axes.set(**settings)
    axes.legend(frameon=False)
    figure.savefig(out, dpi=100)
