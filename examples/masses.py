"""From what `quarksmith measure` wrote to masses with errors: reads correlators into pyerrors, fits, plots.

    python examples/masses.py results.h5 --plateau 3,6 --out masses.png

Needs pyerrors (pip install pyerrors), whose Gamma method gives the errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import pyerrors as pe


def read_correlator(
    path: Path, name: str, structures: Sequence[str], momentum: Sequence[int] = (0, 0, 0), ensemble: str = "run"
) -> pe.Corr:
    """The real part of a correlator, averaged over positions of the source and over some structures.

    Baryons change sign where they cross the antiperiodic boundary; that is undone.

    Raises:
        SystemExit: the file lacks it, or its configurations are not equally far apart.
    """
    samples, numbers = [], []
    with h5py.File(path) as file:
        for group in (file[key] for key in sorted(file)):
            if name not in group:
                sys.exit(f"{path}: there is no '{name}' of configuration {group.name}; use one of {', '.join(group)}")
            data = group[name]
            known = data.attrs["structures"].split()
            momenta = data.attrs["momenta"].reshape(-1, 3).tolist()
            if list(momentum) not in momenta or not set(structures) <= set(known):
                sys.exit(f"{path}: '{name}' has momenta {momenta} and structures {', '.join(known)}; use one of these")
            chosen = [known.index(s) for s in structures]
            values = data[:, momenta.index(list(momentum))][:, chosen].real
            if data.attrs["kind"] == "baryon":
                source, t = data.attrs["positions"].reshape(-1, 4)[:, 3], np.arange(values.shape[-1])
                values = values * np.where(source[:, None] + t < len(t), 1, -1)[:, None]
            samples.append(values.mean(axis=(0, 1)))
            numbers.append(int(group.attrs["number"]))
    steps = np.unique(np.diff(numbers))
    if len(steps) > 1:
        sys.exit(f"{path}: configurations {numbers} are not equally far apart; measure those that are missing")
    idl = range(numbers[0], numbers[-1] + 1, int(steps[0])) if len(steps) else range(numbers[0], numbers[0] + 1)
    return pe.Corr([pe.Obs([series], [ensemble], idl=[idl]) for series in np.array(samples).T])


def both_ways(forward: pe.Corr, backward: pe.Corr) -> pe.Corr:
    """A baryon that runs forward, and with the other parity backward: half the times."""
    back = [-backward.content[forward.T - t][0] for t in range(1, forward.T // 2)]
    return pe.Corr([forward.content[0][0], *((forward.content[t][0] + b) / 2 for t, b in enumerate(back, 1))])


def mass_of(correlator: pe.Corr, variant: str, plateau: Sequence[int]) -> tuple[pe.Corr, pe.Obs]:
    """Effective masses, and their mean over a plateau, weighted by their errors."""
    effective = correlator.m_eff(variant)
    effective.gamma_method()
    mass = effective.plateau(list(plateau), method="avg")
    mass.gamma_method()
    return effective, mass


def plot(masses: dict[str, tuple[pe.Corr, pe.Obs]], plateau: Sequence[int], out: Path) -> None:
    """Effective masses with errors, and a band for each mass."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for n, (name, (effective, mass)) in enumerate(masses.items()):
        points = [(t, o[0].value, o[0].dvalue) for t, o in enumerate(effective.content) if o is not None]
        t, value, error = np.array([p for p in points if p[2] < 0.3 * abs(p[1])]).T
        axes.errorbar(t + 0.05 * n, value, error, fmt="o", ms=4, color=f"C{n}", label=f"{name}: {mass}")
        axes.fill_between(plateau, mass.value - mass.dvalue, mass.value + mass.dvalue, color=f"C{n}", alpha=0.3)
    axes.set(xlabel="t", ylabel="effective mass", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(out, dpi=120)


def main() -> None:
    """Prints pion, rho and nucleon, and plots them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="of `quarksmith measure examples/masses.toml --out FILE.h5`")
    parser.add_argument("--plateau", default="3,6", help="first and last t")
    parser.add_argument("--out", type=Path, help="a plot")
    o = parser.parse_args()
    plateau = [int(t) for t in o.plateau.split(",")]
    nucleon, other = (
        read_correlator(o.results, "nucleon", [f"proton{parity}/{spin}" for spin in ("up", "dn")])
        for parity in ("", "_np")
    )
    masses = {
        "pion": mass_of(read_correlator(o.results, "mesons", ["g5"]).symmetric(), "cosh", plateau),
        "rho": mass_of(read_correlator(o.results, "mesons", ["gx", "gy", "gz"]).symmetric(), "cosh", plateau),
        "nucleon": mass_of(both_ways(nucleon, other), "log", plateau),
    }
    for name, (_, mass) in masses.items():
        print(f"{name:8} {mass}")
    if o.out:
        plot(masses, plateau, o.out)


if __name__ == "__main__":
    main()
