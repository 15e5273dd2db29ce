"""What sweeps found: tuned against default for each kernel, and how much each choice of each knob matters."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from common import Drawn, Part, plot
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from evidence import Evidence, Measured

COLOURS = ("#0b5394", "#e69138", "#6aa84f", "#a64d79")
"""Of the classes of launches, the largest first."""
LEGEND = """Right: filled, the best candidate with that value, all else free; open, all else as in the best candidate. \
Boxes: quartiles, orange the median; whiskers 5 % to 95 %.
At the right edge, the kernels behind either box. registers: what the launch bounds leave a thread."""
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
    axes.legend(fontsize=8, loc="lower right")
    axes.grid(visible=False, axis="y")


def draw_sensitivity(axes: Axes, kernels: list[Measured], title: str) -> None:
    """For each value of each knob the distribution over kernels of time / best."""
    from evidence import sensitivity

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
    axes.grid(visible=False, axis="y")


def _box(axes: Axes, values: list[float], at: float, face: str) -> None:
    low, first, median, third, high = np.percentile(values, (5, 25, 50, 75, 95))
    axes.hlines(at, low, high, color=COLOURS[0], lw=0.8)
    axes.barh(at, third - first, 0.32, left=first, facecolor=face, edgecolor=COLOURS[0], lw=0.8)
    axes.vlines(median, at - 0.16, at + 0.16, color=COLOURS[1], lw=1.8)


@plot("file of generated/tuned or packed folder (default: the first)", read=Path, count="?")
def tuning(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """What a sweep found: tuned against default for each kernel, and how much each choice of each knob matters.

    Bars of all kernels on the left, a panel of knobs for each class on the right. These need all samples of a sweep.
    """
    from evidence import evidence_files, read

    source = parts[0][0] if parts else evidence_files()[0]
    evidence = read(source)
    hopping = [m for m in evidence.sampled if m.spec.links]
    panels = [size for size in evidence.sizes if any(m.size == size for m in hopping)]
    bars = len({m.spec.name for m in evidence.kernels if (m.gain or 1) >= SMALLEST})
    height = max(4.2 * len(panels), 0.155 * bars + 1.5)
    figure, axes = plt.subplot_mosaic(
        [["gains", size] for size in panels] or [["gains"]],
        figsize=(13 if panels else 7, height),
        width_ratios=(1, 1.15) if panels else None,
    )
    draw_gains(axes["gains"], evidence)
    for size in panels:
        chosen = [m for m in hopping if m.size == size]
        draw_sensitivity(axes[size], chosen, f"{evidence.title(size)}, {len(chosen)} hopping kernels")
    samples = "all candidates" if source.is_dir() else "candidates kept of the sweep (the best of each kernel)"
    figure.suptitle(f"{evidence.device}: {samples}" if panels else evidence.device, fontsize=12)
    if panels:
        figure.supxlabel(LEGEND, fontsize=8)
    return figure, [evidence.without_samples] if evidence.without_samples else []
