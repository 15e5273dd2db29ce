"""Plots the correlators of `quarksmith propagator` and their effective masses."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots

COLOURS = {"pion": "#0b5394", "rho": "#b45f06", "proton": "#38761d"}
"""Those of other names take the colours of the cycle."""


def cosh_mass(correlator: np.ndarray) -> np.ndarray:
    """Effective mass of a correlator symmetric about T/2: C(t)/C(t+1) = cosh m(t - T/2) / cosh m(t + 1 - T/2).

    Solved by bisection for t < T/2; NaN where no mass fits.
    """
    extent = len(correlator)
    masses = np.full(extent // 2, np.nan)
    for t in range(extent // 2):
        ratio = correlator[t] / correlator[t + 1]

        def mismatch(m: float, t: int = t, ratio: float = ratio) -> float:
            return np.cosh(m * (t - extent / 2)) / np.cosh(m * (t + 1 - extent / 2)) - ratio

        low, high = 1e-6, 5.0
        if not np.isfinite(ratio) or mismatch(low) * mismatch(high) > 0:
            continue
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if mismatch(low) * mismatch(middle) > 0 else (low, middle)
        masses[t] = low
    return masses


def forward_mass(correlator: np.ndarray) -> np.ndarray:
    """Log C(t)/C(t+1) while the correlator is positive: for baryons, whose backward state is another."""
    half = len(correlator) // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(correlator[:half] / correlator[1 : half + 1])


def real_parts(values: list) -> np.ndarray:
    """A correlator of numbers or of [re, im]; staggered quarks have pions alone, one for each pair of masses."""
    numbers = np.array(values, dtype=float)
    return numbers[:, 0] if numbers.ndim == 2 else numbers


def plot(data: dict, out: Path) -> None:
    """Two panels: correlators on a logarithmic scale, effective masses."""
    correlators = {name: real_parts(values) for name, values in data["correlators"].items()}
    left, right = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")[1]
    for n, (name, c) in enumerate(correlators.items()):
        colour = COLOURS.get(name, f"C{n}")
        t = np.arange(len(c))
        positive = c > 0
        left.semilogy(t[positive], c[positive] / c[0], "o", ms=4, color=colour, label=name)
        left.semilogy(t[~positive], -c[~positive] / c[0], "o", ms=4, mfc="none", color=colour)
        masses = forward_mass(c) if name == "proton" else cosh_mass(c)
        right.plot(np.arange(len(masses)), masses, "o-", ms=4, lw=0.8, color=colour, label=name)
    extents = "x".join(map(str, data["lattice"]))
    left.set(xlabel="t / a", ylabel="|C(t) / C(0)|", title=f"{extents}, plaquette {data['plaquette']:.4f}")
    right.set(xlabel="t / a", ylabel="effective mass  a m(t)", title="cosh form (mesons), log ratio (proton)")
    right.set_ylim(bottom=0)
    left.legend(frameon=False, title="open: negative")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure = left.figure
    plots.save(figure, out)


if __name__ == "__main__":
    plots.run(__doc__, "JSON of `quarksmith propagator --correlators`", "correlators.png", plot)
