"""What the plotting tools share."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib.figure import Figure


def save(figure: Figure, out: Path) -> None:
    """Writes a picture under a temporary name, then renames it."""
    part = out.with_suffix(".part.png")
    figure.savefig(part, dpi=150)
    part.replace(out)


def run(description: str | None, data: str, default: str, plot: Callable[..., None], several: bool = False) -> None:
    """Command line of a tool that makes one picture from a JSON file, or from several, which `data` describes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path, nargs="+" if several else None, help=data)
    parser.add_argument("--out", type=Path, default=Path(default))
    options = parser.parse_args()
    try:
        if several:
            plot([json.loads(path.read_text()) for path in options.data], options.out)
        else:
            plot(json.loads(options.data.read_text()), options.out)
    except (OSError, KeyError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        parser.exit(1, f"{parser.prog}: {options.data}: {what}; needed: {data}\n")
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


def autocorrelation_time(series: np.ndarray) -> float:
    """Integrated autocorrelation time with the window of Wolff's and Sokal's kind: W >= 5 tau."""
    deviation = series - series.mean()
    variance = float((deviation**2).mean())
    if variance == 0:
        return 0.5
    tau = 0.5
    for lag in range(1, len(series) // 2):
        tau += float((deviation[:-lag] * deviation[lag:]).mean()) / variance
        if lag >= 5 * tau:
            break
    return max(tau, 0.5)


def binned_error(series: np.ndarray) -> tuple[float, int]:
    """Error of a mean from bins longer than two autocorrelation times, and the length of the bins."""
    length = max(1, int(np.ceil(4 * autocorrelation_time(series))))
    length = min(length, max(1, len(series) // 4))
    bins = series[len(series) % length :].reshape(-1, length).mean(axis=1)
    if len(bins) < 2:
        return float("nan"), length
    return float(bins.std(ddof=1) / np.sqrt(len(bins))), length
