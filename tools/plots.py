"""What the plotting tools share."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib.figure import Figure

Part = tuple[Path, dict]
"""A file and what is in it."""


def save(figure: Figure, out: Path) -> None:
    """Writes a picture under a temporary name, then renames it."""
    part = out.with_suffix(".part.png")
    figure.savefig(part, dpi=150)
    part.replace(out)


def run(
    description: str | None,
    data: str,
    default: str,
    plot: Callable[..., list[str] | None],
    several: bool = False,
    thermal: str = "",
) -> None:
    """Command line of a tool that makes one picture from a JSON file, or of `several` parts, which `data` describes.

    `plot` returns remarks on what it did with the data. Of a history in units of `thermal` (`sweep`, ...) it also takes
    the first that counts as thermalised.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path, nargs="+" if several else None, help=data)
    parser.add_argument("--out", type=Path, default=Path(default))
    if thermal:
        text = f"first {thermal} that counts as thermalised (default: the middle of the run)"
        parser.add_argument("--from", type=int, dest="first", metavar="N", help=text)
    options = parser.parse_args()
    more = [options.first] if thermal else []
    files = options.data if several else [options.data]
    read: list[Part] = []
    try:
        for path in files:
            read.append((path, json.loads(path.read_text())))
        remarks = plot(read if several else read[0][1], options.out, *more)
    except (OSError, KeyError, TypeError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        names = ", ".join(map(str, files if len(read) == len(files) else [files[len(read)]]))
        parser.exit(1, f"{parser.prog}: {names}: {what}; needed: {data}\n")
    for remark in remarks or ():
        print(remark)
    print(f"wrote {options.out}")


def jackknife(
    samples: np.ndarray, function: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray | None]:
    """A function of the mean of samples (first axis), and its error: none for a single sample."""
    count = len(samples)
    value = function(samples.mean(axis=0))
    if count == 1:
        return value, None
    total = samples.sum(axis=0)
    left_out = np.array([function((total - sample) / (count - 1)) for sample in samples])
    return value, np.sqrt((count - 1) * ((left_out - left_out.mean(axis=0)) ** 2).mean(axis=0))


def autocorrelation_time(series: np.ndarray) -> tuple[float, float]:
    """Integrated autocorrelation time and its error (U. Wolff, hep-lat/0306017), with the window W >= 5 tau."""
    deviation = series - series.mean()
    variance = float((deviation**2).mean())
    if variance == 0:
        return 0.5, 0.0
    tau, window = 0.5, 0
    for lag in range(1, len(series) // 2):
        tau, window = tau + float((deviation[:-lag] * deviation[lag:]).mean()) / variance, lag
        if lag >= 5 * tau:
            break
    tau = max(tau, 0.5)
    return tau, float(tau * np.sqrt((4 * window + 2) / len(series)))


def autocorrelation_text(series: np.ndarray, unit: str) -> str:
    """That time for people; says so where the history is too short to know it."""
    if len(series) < 8:
        return f"{len(series)} {unit}: too few for an autocorrelation time"
    tau, error = autocorrelation_time(series)
    short = ", too short a history to be sure" if len(series) < 50 * tau else ""
    return f"autocorrelation time {tau:.2g} ± {error:.1g} {unit}{short}"


def binned_error(series: np.ndarray) -> tuple[float, int]:
    """Error of a mean from bins longer than two autocorrelation times, and the length of the bins."""
    length = max(1, int(np.ceil(4 * autocorrelation_time(series)[0])))
    length = min(length, max(1, len(series) // 4))
    bins = series[len(series) % length :].reshape(-1, length).mean(axis=1)
    if len(bins) < 2:
        return float("nan"), length
    return float(bins.std(ddof=1) / np.sqrt(len(bins))), length


def thermalised(numbers: np.ndarray, first: int | None) -> np.ndarray:
    """Which entries of a history count, from number `first` on; without it the second half.

    Raises:
        ValueError: the history ends before that.
    """
    kept = numbers >= (numbers[len(numbers) // 2] if first is None else first)
    if not kept.any():
        raise ValueError(f"--from {first}: the history ends at {numbers[-1]}; use a smaller number")
    return kept
