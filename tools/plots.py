"""What the plotting tools share."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure


def save(figure: Figure, out: Path) -> None:
    """Writes a picture under a temporary name, then renames it."""
    part = out.with_suffix(".part.png")
    figure.savefig(part, dpi=150)
    part.replace(out)


def run(description: str | None, data: str, default: str, plot: Callable[[dict, Path], None]) -> None:
    """Command line of a tool that makes one picture from one JSON file, which `data` describes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path, help=data)
    parser.add_argument("--out", type=Path, default=Path(default))
    options = parser.parse_args()
    plot(json.loads(options.data.read_text()), options.out)
    print(f"wrote {options.out}")
