"""Correlators and effective masses."""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from common import COLOURS, Drawn, Part, extents, plot
from series import jackknife

MAY_DIFFER = {"gauge", "gauge_digest", "program_version", "solver", "precision", "even_odd", "links"}
"""Keys of a provenance that tell configurations apart, or say how the columns were solved."""


def fold(correlator: np.ndarray) -> np.ndarray:
    """Mean of t and T - t for t = 0 ... T/2, with the sign that the backward half has."""
    backward = np.roll(correlator[::-1], 1)
    sign = 1.0 if float(correlator[1:] @ backward[1:]) >= 0 else -1.0
    return (0.5 * (correlator + sign * backward))[: len(correlator) // 2 + 1]


def cosh_mass(folded: np.ndarray) -> np.ndarray:
    """Effective mass of a folded correlator: C(t)/C(t+1) = cosh m(t - T/2) / cosh m(t + 1 - T/2).

    Solved by bisection for t < T/2; NaN where no mass fits.
    """
    here, ahead, middle = folded[:-1], folded[1:], len(folded) - 1
    t, low, high = np.arange(middle), np.full(middle, 1e-6), np.full(middle, 10.0)

    def mismatch(m: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.cosh(m * (t - middle)) / np.cosh(m * (t + 1 - middle)) - here / ahead

    fits = (here * ahead > 0) & (mismatch(low) * mismatch(high) <= 0)
    for _ in range(60):
        m = (low + high) / 2
        above = mismatch(low) * mismatch(m) > 0
        low, high = np.where(above, m, low), np.where(above, high, m)
    return np.where(fits, low, np.nan)


def forward_mass(correlator: np.ndarray) -> np.ndarray:
    """Log C(t)/C(t+1): for baryons, whose backward state is another; NaN where the sign changes."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(correlator[:-1] / correlator[1:])


def parameters(data: dict) -> str:
    """Action and quark mass: kappa for actions of the Wilson type."""
    provenance = data["provenance"]
    action = provenance["action"]
    masses = data.get("masses") or [float(provenance["mass"])]
    text = f"{action}, mass " + ", ".join(f"{m:g}" for m in masses)
    if action in ("wilson", "clover", "twisted-mass", "twisted-clover"):
        text = f"{action}, kappa {1 / (2 * (masses[0] + 4)):.6g}"
    for key in ("csw_r", "mu"):
        if float(provenance.get(key, 0)) != 0:
            text += f", {key.removesuffix('_r')} {float(provenance[key]):g}"
    return text


def samples_of(results: list[dict], name: str) -> np.ndarray:
    """A correlator of all configurations, as real numbers."""
    values = np.array([result["correlators"][name] for result in results], dtype=float)
    return values[..., 0] if values.ndim == 3 else values


def require_alike(one: Part, other: Part) -> None:
    """What is averaged is of one lattice and one provenance, but for the configuration.

    Raises:
        ValueError: the first key that differs, with both values.
    """
    (path, first), (path2, second) = one, other
    made, made2 = first["provenance"], second["provenance"]
    same = [("lattice", first["lattice"], second["lattice"])]
    same += [(k, made.get(k), made2.get(k)) for k in sorted({*made, *made2} - MAY_DIFFER)]
    same.append(("correlators", list(first["correlators"]), list(second["correlators"])))
    for key, value, value2 in same:
        if value != value2:
            raise ValueError(
                f"not of one ensemble: {key} is {value} in {path}, {value2} in {path2}; draw them one by one"
            )


def one_each(parts: list[Part]) -> tuple[list[dict], list[str]]:
    """The results of each configuration once, and a remark on files that repeat one."""
    found: dict[str, Part] = {}
    remarks = []
    for path, result in parts:
        require_alike(parts[0], (path, result))
        known = found.setdefault(result["provenance"]["gauge_digest"], (path, result))
        if known[1] is not result:
            remarks.append(f"{path}: of the same configuration as {known[0]}, not counted again")
    return [result for _, result in found.values()], remarks


def title(results: list[dict], repeated: int) -> str:
    """What was computed, and of how many configurations."""
    made, count = results[0]["provenance"], len(results)
    ends = f"source {made.get('source', 'unknown')}" + (f", sink {made['sink']}" if made.get("sink") else "")
    ensemble = "1 configuration" if count == 1 else f"{count} configurations, jackknife errors"
    if repeated:
        ensemble += f" ({repeated} repeated file{'s'[: repeated > 1]} left out)"
    return f"{extents(results[0]['lattice'])}, {parameters(results[0])}; {ends}\n{ensemble}"


@plot("JSON of `quarksmith propagator --correlators`", count="+")
def correlators(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Correlators on a logarithmic scale, and their effective masses.

    Several files, one a configuration, give means with jackknife errors. They must agree in all that their provenance
    says; of a configuration that stands in two of them one counts.
    """
    results, remarks = one_each(parts)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
    for index, name in enumerate(results[0]["correlators"]):
        colour = COLOURS[index % len(COLOURS)]
        samples = samples_of(results, name)
        baryon = name == "proton"
        half = samples.shape[1] // 2 + 1
        shape = (lambda c, half=half: c[:half]) if baryon else fold
        c, error = jackknife(samples, shape)
        size = abs(c[0])
        t = np.arange(len(c)) + 0.04 * index
        for chosen, face in ((c > 0, colour), (c < 0, "none")):
            bars = None if error is None else error[chosen] / size
            label = name if face == colour else None
            left.errorbar(
                t[chosen], abs(c[chosen]) / size, bars, fmt="o", ms=4, color=colour, mfc=face, lw=1, label=label
            )
        effective = forward_mass if baryon else cosh_mass
        masses, mass_error = jackknife(samples, lambda mean, e=effective, s=shape: e(s(mean)))
        right.errorbar(np.arange(len(masses)) + 0.04 * index, masses, mass_error, fmt="o", ms=4, color=colour, lw=1)
    figure.suptitle(title(results, len(parts) - len(results)), fontsize=11)
    left.set(xlabel="t / a", ylabel="|C(t) / C(0)|", yscale="log", title="mesons: t and T - t averaged; open: negative")
    right.set(xlabel="t / a", ylabel="effective mass  a m(t)", title="mesons: cosh form; proton: log ratio")
    right.set_ylim(bottom=0)
    left.legend()
    return figure, remarks
