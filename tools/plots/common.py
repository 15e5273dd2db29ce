"""What plots have in common: their command line, how files are read and pictures written, and one style."""

import argparse
import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

Part = tuple[Path, Any]
"""A file and what is in it."""
Drawn = tuple[Figure | None, list[str]]
"""A picture, none if only text was asked for, and lines to print."""
Draw = Callable[[list[Part], argparse.Namespace], Drawn]
Option = tuple[str, dict[str, Any]]
"""Name and settings of an option."""
COLOURS = ("#0b5394", "#b45f06", "#38761d", "#741b47", "#666666", "#990000")
"""Of curves and points."""
COPY: Option = ("--copy", {"type": float, "metavar": "GB/S", "help": "copy bandwidth, if the file has none"})
PLOTS: dict[str, tuple[Draw, str, Callable[[Path], Any], str | int, tuple[Option, ...]]] = {}
"""By name: what draws, what files it takes, what reads one, how many (`nargs`), its own options."""

plt.rcParams.update({"axes.axisbelow": True, "axes.grid": True, "grid.alpha": 0.3, "legend.frameon": False})
plt.rcParams.update({"figure.constrained_layout.use": True, "savefig.dpi": 150})


def read_json(path: Path) -> Any:
    """What a file of JSON holds."""
    return json.loads(path.read_text())


def plot(
    data: str, *options: Option, read: Callable[[Path], Any] = read_json, count: str | int = 1
) -> Callable[[Draw], Draw]:
    """Makes a function a subcommand of its name, described by its documentation; see PLOTS."""

    def add(draw: Draw) -> Draw:
        PLOTS[draw.__name__] = (draw, data, read, count, options)
        return draw

    return add


def first_of(unit: str) -> Option:
    """The option that says where a history in such units is thermalised."""
    text = f"first {unit} that counts as thermalised (default: the middle of the run)"
    return "--from", {"type": int, "dest": "first", "metavar": "N", "help": text}


def extents(lattice: list[int]) -> str:
    """A lattice as in titles."""
    return "x".join(map(str, lattice))


def main(description: str | None) -> int:
    """Command line of all plots; errors are one line."""
    parser = argparse.ArgumentParser(prog="plots", description=description)
    commands = parser.add_subparsers(dest="plot", required=True, metavar="PLOT")
    for name, (draw, data, _, count, own) in sorted(PLOTS.items()):
        text = draw.__doc__ or ""
        sub = commands.add_parser(name, help=text.partition("\n")[0], description=text)
        sub.add_argument("data", type=Path, nargs=count, help=data)
        sub.add_argument("--out", type=Path, default=Path(f"{name}.png"), help="picture (default: PLOT.png)")
        for flag, settings in own:
            sub.add_argument(flag, **settings)
    options = parser.parse_args()
    draw, data, read, *_ = PLOTS[options.plot]
    files = options.data if isinstance(options.data, list) else [options.data] * (options.data is not None)
    parts: list[Part] = []
    try:
        for path in files:
            parts.append((path, read(path)))
        figure, lines = draw(parts, options)
        if figure:
            part = options.out.with_suffix(".part.png")
            figure.savefig(part)
            part.replace(options.out)
            plt.close(figure)
            lines = [*lines, f"wrote {options.out}"]
    except (OSError, KeyError, TypeError, ValueError, struct.error) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        names = ", ".join(map(str, files[len(parts) :][:1] or files))
        print(f"plots {options.plot}: error: {names}: {what}; needed: {data}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0
