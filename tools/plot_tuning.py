"""Plots what a sweep found: tuned against default for each kernel, and how much each choice of each knob matters.

Evidence keeps the best candidates of each kernel alone; with the packed folder of the sweep in its place all samples
count.
"""

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import plots
from matplotlib.axes import Axes

sys.path.insert(0, str(Path(__file__).parents[1]))
from generator.errors import SpecError
from generator.profile import load_profile
from generator.tune.report import Evidence, Measured, evidence_files, read_evidence, sensitivity

COLOURS = ("#0b5394", "#e69138", "#6aa84f", "#a64d79")
"""Of the classes of launches, the largest first."""
SMALLEST = 1.02
"""Kernels that gained less in every class are counted, not drawn."""


def draw_gains(axes: Axes, evidence: Evidence) -> None:
    """A bar for each kernel and class: time of the declared default over that of the best candidate."""
    gains = {(m.spec.name, m.size): m.gain for m in evidence.kernels if m.gain}
    names = sorted({name for name, _ in gains}, key=lambda n: max(gains.get((n, s), 1) for s in evidence.sizes))
    drawn = [n for n in names if max(gains.get((n, s), 1) for s in evidence.sizes) >= SMALLEST]
    sizes, height = evidence.sizes, 0.8 / len(evidence.sizes)
    for k, size in enumerate(sizes):
        values = [gains.get((n, size), 1) - 1 for n in drawn]
        at = [y + 0.4 - (k + 0.5) * height for y in range(len(drawn))]
        axes.barh(at, values, height, left=1, color=COLOURS[k], label=evidence.title(size))
    axes.set_yticks(range(len(drawn)), drawn, fontsize=7, family="monospace")
    axes.set(ylim=(-0.6, len(drawn) - 0.4), xlim=(1, None))
    axes.set_xlabel("time of the declared default / time of the best candidate")
    axes.set_title(
        f"Tuned against default\n{len(names) - len(drawn)} kernels that gain less than 2 % left out", fontsize=10
    )
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def draw_sensitivity(axes: Axes, kernels: list[Measured], title: str) -> None:
    """For each value of each knob the distribution over kernels of time / best."""
    found = sensitivity(kernels)
    labels, y = [], 0.0
    last = ""
    for (knob, value), ratios in reversed(found.items()):
        y += 0.6 if last and knob != last else 0.0
        last = knob
        for kind, shift, face in (("free", 0.19, COLOURS[0]), ("fixed", -0.19, "#ffffff")):
            if ratios[kind]:
                _box(axes, ratios[kind], y + shift, face)
        labels.append((y, f"{knob} {value}" if knob in ("block", "registers") else f"{value} {knob}", ratios))
        y += 1
    axes.set_yticks([at for at, _, _ in labels], [text for _, text, _ in labels], fontsize=8)
    right = axes.get_xlim()[1]
    for at, _, ratios in labels:
        axes.text(
            right, at, f" {len(ratios['free'])}, {len(ratios['fixed'])}", va="center", fontsize=7, color="#666666"
        )
    axes.set(ylim=(-0.7, y - 0.3), xlim=(0.99, right))
    axes.set_xlabel("time / time of the best candidate")
    axes.set_title(title, fontsize=9)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def _box(axes: Axes, values: list[float], at: float, face: str) -> None:
    low, first, median, third, high = np.percentile(values, (5, 25, 50, 75, 95))
    axes.hlines(at, low, high, color=COLOURS[0], lw=0.8)
    axes.barh(at, third - first, 0.32, left=first, facecolor=face, edgecolor=COLOURS[0], lw=0.8)
    axes.vlines(median, at - 0.16, at + 0.16, color=COLOURS[1], lw=1.8)


def plot(evidence: Evidence, whole: bool, out: Path) -> None:
    """Bars of all kernels on the left, a panel of knobs for each class on the right."""
    hopping = [m for m in evidence.kernels if m.spec.links]
    panels = [[size, "gains"] for size in evidence.sizes]
    bars = len({m.spec.name for m in evidence.kernels if (m.gain or 1) >= SMALLEST})
    height = max(4.2 * len(panels), 0.155 * bars + 1.5)
    figure, axes = plt.subplot_mosaic(
        [row[::-1] for row in panels], figsize=(13, height), layout="constrained", width_ratios=(1, 1.15)
    )
    draw_gains(axes["gains"], evidence)
    for size in evidence.sizes:
        chosen = [m for m in hopping if m.size == size]
        draw_sensitivity(axes[size], chosen, f"{evidence.title(size)}, {len(chosen)} hopping kernels")
    samples = "all candidates" if whole else "candidates kept in the evidence (the best of each kernel)"
    figure.suptitle(f"{evidence.device}: {samples}", fontsize=12)
    figure.supxlabel(
        "Right: filled, the best candidate with that value, all else free; open, all else as in the best candidate. "
        "Boxes: quartiles, orange the median; whiskers 5 % to 95 %.\nAt the right edge, the kernels behind either box. "
        "registers: what the launch bounds leave a thread.",
        fontsize=8,
    )
    plots.save(figure, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "evidence", type=Path, nargs="?", help="file of generated/tuned or packed folder (default: the first)"
    )
    parser.add_argument("--out", type=Path, default=Path("tuning.png"))
    options = parser.parse_args()
    try:
        source = options.evidence or evidence_files()[0]
        plot(read_evidence(source, load_profile("full").kernels), source.is_dir(), options.out)
    except SpecError as error:
        raise SystemExit(f"plot: {error}") from error
    print(f"wrote {options.out}")
