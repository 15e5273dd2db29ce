"""The picture of README.md."""

import argparse
import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import roofline as rooflines
from common import COPY, Drawn, Part, plot
from matplotlib.axes import Axes

ROOT = Path(__file__).parents[2]
COLUMNS = 84
"""Longest line of code that is legible at the width of a page."""
KERNEL = re.compile(r"wilson_(double|single|half)_r(18|12|8)_nr_n1")


def formula() -> str:
    """The method `dirac` of the Wilson action, long lines broken before an operator."""
    source = (ROOT / "generator" / "actions" / "wilson.py").read_text()
    method = textwrap.dedent(source[source.index("    def dirac") :]).rstrip()
    return "\n".join(broken(line) for line in method.splitlines())


def kernel() -> str:
    """The paragraph of the first hop in the generated body, and where the next ones begin."""
    body = (ROOT / "generated" / "bodies" / "wilson_nr.hpp").read_text()
    hops = re.findall(r"^    \{  // \(1 .*?^    \}$", body, flags=re.M | re.S)
    lines = [line for line in textwrap.dedent(hops[0]).splitlines() if "UNROLL" not in line]
    return "\n".join([*lines, "", f"{textwrap.dedent(hops[1]).splitlines()[0]} ...   {len(hops)} hops in all"])


def broken(line: str) -> str:
    """A line of at most COLUMNS characters, or two, the second from the + that is in the fewest brackets."""
    if len(line) <= COLUMNS:
        return line
    places = [m.start() for m in re.finditer(r" \+ ", line)]
    at = min(places, key=lambda end: line.count("(", 0, end) - line.count(")", 0, end))
    indent = len(line) - len(line.lstrip()) + 3
    return f"{line[:at]}\n{' ' * indent}{line[at + 1 :]}"


def write(axes: Axes, title: str, code: str) -> None:
    """Code as text in a box; comments are paler."""
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], facecolor="#f6f8fa")
    axes.set_title(title, loc="left", fontsize=11)
    for spine in axes.spines.values():
        spine.set_color("#d0d7de")
    lines = code.splitlines()
    for number, line in enumerate(lines):
        y = 1 - (number + 1) / (len(lines) + 1)
        start = line.find("//")
        for text, colour in ((line, "#1f2328"), (" " * start + line[start:] if start >= 0 else "", "#0a7d34")):
            shown = text if colour != "#1f2328" or start < 0 else line[:start]
            axes.text(0.012, y, shown, family="monospace", fontsize=9.2, va="center", color=colour)


def draw_roofline(axes: Axes, evidence: Path, copy: float) -> None:
    """GFLOP/s against intensity, one point for each storage of links, below the bandwidth of a copy."""
    options = argparse.Namespace(copy=copy, peak=None, size="")
    title, roofs, points = rooflines.of_evidence(evidence, options)
    found = [(KERNEL.fullmatch(p.name), p) for p in points]
    rows = [(m[1], int(m[2]), p) for m, p in found if m]
    x = np.geomspace(0.7, 7, 50)
    axes.plot(x, roofs.copy * x, color="#444444", lw=1.2, label=f"bandwidth of a copy, {roofs.copy:.0f} GB/s")
    for precision in ("double", "single", "half"):
        of = sorted((p.gflops / p.gbytes, p.gflops, reals) for name, reals, p in rows if name == precision)
        colour = rooflines.COLOURS[precision]
        axes.plot([i for i, _, _ in of], [g for _, g, _ in of], "o-", color=colour, label=precision, ms=7, lw=0.8)
        for intensity, gflops, reals in of:
            beside = {"textcoords": "offset points", "fontsize": 9, "color": colour}
            axes.annotate(str(reals), (intensity, gflops), (7, -10), **beside)
    axes.set(xscale="log", yscale="log", xlim=(0.7, 7), ylim=(2800, 22000))
    axes.set(xlabel="arithmetic intensity (flop/byte)", ylabel="GFLOP/s")
    axes.set_title(f"its roofline: {title.replace(', large launches', '').rpartition(',')[0]}", loc="left", fontsize=11)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.set_xticks([0.7, 1, 2, 3, 4, 6])
    axes.set_yticks([3000, 5000, 10000, 20000])
    axes.grid(which="both", lw=0.5)
    axes.legend(fontsize=9, loc="lower right", title="points: reconstruct 18, 12, 8", title_fontsize=9)


@plot("a file of generated/tuned", COPY)
def overview(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """What the generator does, for README.md: an action's formula, the kernel it becomes, and its roofline.

    The texts are those of generator/actions/wilson.py and generated/bodies/wilson_nr.hpp; the roofline is the evidence
    of a sweep: the best candidate of the Wilson hopping term in each precision and storage of links. docs/overview.png
    is made from the file of the device in its title, with the copy bandwidth in its legend.
    """
    above, below = formula(), kernel()
    figure = plt.figure(figsize=(11.6, 5.6))
    grid = figure.add_gridspec(2, 2, width_ratios=(1.9, 1), height_ratios=[len(t.splitlines()) for t in (above, below)])
    write(figure.add_subplot(grid[0, 0]), "the formula: generator/actions/wilson.py", above)
    write(figure.add_subplot(grid[1, 0]), "the kernel: generated/bodies/wilson_nr.hpp, for CPUs and GPUs", below)
    draw_roofline(figure.add_subplot(grid[:, 1]), parts[0][0], options.copy)
    return figure, []
