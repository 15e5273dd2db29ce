"""Rooflines."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from common import COPY, Drawn, Part, extents, plot
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

COLOURS = {"double": "#0b5394", "single": "#38761d", "half": "#cc0000", "quarter": "#a64d79"}
MARKERS = {
    "Wilson": "o",
    "Wilson with site term": "s",
    "Laplace": "^",
    "staggered": "D",
    "vector update": "v",
    "site term": "P",
    "gauge": "X",
    "links": "p",
    "fifth dimension": "<",
    "expression": "*",
    "other": "h",
}
"""Kinds of kernels; a family that is not among them is drawn as `other`."""
FAMILIES = {"update": "vector update", "term": "site term", "slices": "fifth dimension"}
"""What the legend calls a family where it has another name."""
MOST_NAMED = 20
"""Points beyond which kernels are told by precision and kind alone."""


@dataclass(frozen=True)
class Point:
    """One kernel: least traffic and reported flops over its time."""

    name: str
    family: str
    precision: str
    gflops: float
    gbytes: float
    cached: bool = False

    @property
    def kind(self) -> str:
        """What the legend calls it."""
        if self.family != "hopping":
            kind = FAMILIES.get(self.family, self.family)
            return kind if kind in MARKERS else "other"
        if any(f"_{epilogue}_" in self.name for epilogue in ("taxpby", "tinv")):
            return "Wilson with site term"
        name = self.name.removeprefix("improved_")
        return next((k for k in MARKERS if name.startswith(k.lower())), "Wilson")

    @property
    def colour(self) -> str:
        """By precision; formats with a shared exponent are orange."""
        return COLOURS.get(self.precision, "#e69138")


@dataclass(frozen=True)
class Roofs:
    """Bounds of a device.

    Attributes:
        copy: bandwidth of memory, read and written bytes counted, in GB/s.
        cache: that of the last cache; 0 if it is not known.
        cache_bytes: its size.
        peaks: GFLOP/s of fused multiply-adds by precision of the arithmetic; empty if they are not known.
    """

    copy: float
    cache: float = 0
    cache_bytes: int = 0
    peaks: Mapping[str, float] = field(default_factory=dict)


def of_bench(data: dict, options: argparse.Namespace) -> tuple[str, Roofs, list[Point]]:
    """(title, roofs, points) of what `quarksmith bench` wrote."""
    cache_bytes = 0 if data["rotating_buffers"] else data.get("cache_bytes", 0)
    points = [
        Point(k["name"], k["family"], k["precision"], k["gflops"], k["gbytes_per_second"], fits_into(k, cache_bytes))
        for k in data["kernels"]
    ]
    buffers = "rotating buffers" if data["rotating_buffers"] else "same buffers"
    title = f"{data['device'].split(',')[0]}, {extents(data['lattice'])}, {buffers}"
    copy = options.copy or data["copy_bytes_per_second"] * 1e-9
    cache = data.get("cache_bytes_per_second", 0) * 1e-9 if cache_bytes else 0
    return title, Roofs(copy, cache, cache_bytes, peaks_of(options) or data.get("peak_gflops", {})), points


def of_evidence(path: Path, options: argparse.Namespace) -> tuple[str, Roofs, list[Point]]:
    """The same of the best candidates that a sweep found for one class of launches."""
    import evidence as sweeps

    evidence = sweeps.read(path)
    if not options.copy:
        raise ValueError("it records no copy bandwidth; give it with --copy GB/S")
    size = options.size or evidence.sizes[0]
    points = [
        Point(m.spec.name, "hopping" if m.spec.links else "update", m.spec.precision, m.gflops(), m.gbytes())
        for m in evidence.kernels
        if m.size == size
    ]
    title = f"{evidence.device}, {evidence.title(size)}, best candidates of the sweep"
    return title, Roofs(options.copy, peaks=peaks_of(options)), points


def peaks_of(options: argparse.Namespace) -> dict[str, float]:
    """Peaks that the command line gives."""
    return dict(zip(("double", "single"), options.peak or (), strict=False))


def fits_into(kernel: dict, cache_bytes: int) -> bool:
    """Whether what a launch moves at least fits into the cache, from which launches on the same buffers take it."""
    return kernel["gbytes_per_second"] * kernel["microseconds"] * 1e3 < cache_bytes if cache_bytes else False


def draw_roofs(axes: Axes, roofs: Roofs, x: np.ndarray) -> None:
    """Slopes of memory and cache up to the peaks of arithmetic, which are level."""
    top = max(roofs.peaks.values(), default=np.inf)
    axes.plot(x, np.minimum(roofs.copy * x, top), color="#444444", lw=1.2, label=f"memory, {roofs.copy:.4g} GB/s")
    if roofs.cache:
        label = f"cache of {roofs.cache_bytes / 2**20:.3g} MiB, {roofs.cache:.4g} GB/s"
        axes.plot(x, np.minimum(roofs.cache * x, top), color="#888888", lw=1.2, ls="--", label=label)
    fastest = max(roofs.copy, roofs.cache)
    for name, peak in roofs.peaks.items():
        level = x[x * fastest >= peak]
        axes.plot(level, np.full(len(level), peak), color=COLOURS[name], lw=1.2, label=f"{name}, {peak:.4g} GFLOP/s")


@plot(
    "JSON of `quarksmith bench --json`, or a file of generated/tuned",
    COPY,
    ("--peak", {"type": float, "nargs": 2, "metavar": "GFLOP/S", "help": "peaks in double and single, likewise"}),
    ("--class", {"dest": "size", "default": "", "help": "of launches in evidence (default: the largest)"}),
)
def roofline(parts: list[Part], options: argparse.Namespace) -> Drawn:
    """Performance of all kernels of `bench` against arithmetic intensity.

    The roofs are the copy bandwidth of memory, that of the cache, and the peaks of arithmetic in double and single.
    Hollow: kernels whose data fit into the cache. Evidence of a sweep does as well, its best candidates, with the roofs
    given by --copy and --peak. Below, the fraction of the copy; colours are precisions, markers kinds of kernels.
    """
    ((path, data),) = parts
    of_sweep = not isinstance(data["kernels"], list)
    title, roofs, points = of_evidence(path, options) if of_sweep else of_bench(data, options)
    points = [p for p in points if p.gflops > 0 and p.gbytes > 0]
    if not points:
        raise ValueError("none of the kernels has flops and a time; nothing to draw")
    intensity = np.array([p.gflops / p.gbytes for p in points])
    figure, (axes, below) = plt.subplots(2, 1, figsize=(9.5, 8), sharex=True, height_ratios=(1.5, 1))
    ridge = max(roofs.peaks.values(), default=0) / roofs.copy
    x = np.geomspace(intensity.min() / 1.4, max(intensity.max(), ridge) * 1.4, 400)
    draw_roofs(axes, roofs, x)
    copy = roofs.copy
    below.axhline(100, color="#555555", lw=1)
    named = len(points) <= MOST_NAMED
    for n, (p, at) in enumerate(zip(points, intensity, strict=True), start=1):
        for panel, y in ((axes, p.gflops), (below, 100 * p.gbytes / copy)):
            panel.plot(
                at, y, MARKERS[p.kind], color=p.colour, ms=6, mfc="none" if p.cached else p.colour + "88", mew=0.9
            )
            if named:
                panel.annotate(str(n), (at, y), xytext=(5, 3), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylabel="performance (GFLOP/s)", title=title)
    below.set(ylim=(0, max(110, *(110 * p.gbytes / copy for p in points))))
    below.set(xlabel="arithmetic intensity (flop/byte of compulsory traffic)", ylabel="bandwidth, % of copy")
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("{x:g}" if high < 20 * low else "")
    for panel in (axes, below):
        panel.grid(which="both", lw=0.5)
    axes.legend(fontsize=9, loc="upper left")
    beside = "outside right upper" if mpl.__version_info__ >= (3, 7) else "upper right"
    figure.legend(handles=_legend(points), fontsize=9, loc=beside)
    return figure, []


def _legend(points: list[Point]) -> list[Line2D]:
    """Precisions in the order of their colours, kinds of kernels, and names where they are few."""
    order = [*COLOURS, *sorted({p.precision for p in points} - set(COLOURS))]
    colours = {p.precision: p.colour for p in sorted(points, key=lambda p: order.index(p.precision))}
    by_colour: dict[str, list[str]] = {}
    for precision, colour in colours.items():
        by_colour.setdefault(colour, []).append(precision)
    handles = [Line2D([], [], marker="s", ls="", color=c, label=", ".join(names)) for c, names in by_colour.items()]
    handles.append(Line2D([], [], ls="", label=""))
    kinds = {p.kind for p in points}
    handles += [
        Line2D([], [], marker=m, ls="", color="#555555", mfc="none", label=kind)
        for kind, m in MARKERS.items()
        if kind in kinds
    ]
    if any(p.cached for p in points):
        handles.append(Line2D([], [], ls="", label=""))
        for face, label in (("#55555588", "data in memory"), ("none", "data fit into the cache")):
            handles.append(Line2D([], [], marker="o", ls="", color="#555555", mfc=face, label=label))
    if len(points) <= MOST_NAMED:
        handles.append(Line2D([], [], ls="", label=""))
        handles += [Line2D([], [], ls="", label=f"{n}  {p.name}") for n, p in enumerate(points, start=1)]
    return handles
