"""Means, errors and autocorrelation times."""

from collections.abc import Callable

import numpy as np


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
