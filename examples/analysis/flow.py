"""t0 and w0 from the flow, and the lattice spacing.

    python examples/analysis/flow.py flow.h5 --out flow.png

t0: t^2 E = 0.3 (M. Luescher, arXiv:1006.4518); w0: t d(t^2 E)/dt = 0.3 at t = w0^2 (S. Borsanyi et al.,
arXiv:1203.4469).
"""

import numpy as np
from jackknife import jackknife, options, read, save_plot, shown


def crossing(x: np.ndarray, y: np.ndarray, level: float = 0.3) -> float:
    """Where y first rises above a level, between points on straight lines."""
    k = int(np.argmax(y >= level))
    if k == 0:
        raise SystemExit(f"the flow ends at {x[-1]:g}, before {level} is reached: raise `time`")
    return x[k - 1] + (level - y[k - 1]) * (x[k] - x[k - 1]) / (y[k] - y[k - 1])


def scales(energy: np.ndarray, times: np.ndarray) -> tuple[float, float]:
    """t0 and w0 of a mean t^2 E."""
    middle, slope = (times[1:] + times[:-1]) / 2, np.diff(energy) / np.diff(times)
    return crossing(times, energy), np.sqrt(crossing(middle, middle * slope))


def main() -> None:
    """Prints the scales and draws t^2 E."""
    o = options(__doc__, "flow.toml --out flow.h5")
    flow, _ = read(o.results, "flow")
    times = flow[0, :, 0]
    (t0, w0), (dt0, dw0) = jackknife(lambda e: scales(e, times), flow[:, :, 4])
    (t0_improved, _), (dt0_improved, _) = jackknife(lambda e: scales(e, times), flow[:, :, 6])
    print(f"t0/a^2      {shown(t0, dt0)}")
    print(f"improved    {shown(t0_improved, dt0_improved)}")
    print(f"w0/a        {shown(w0, dw0)}")
    r0 = np.sqrt(8 * t0) / 0.948  # arXiv:1006.4518
    print(f"r0/a        {shown(r0, r0 * dt0 / t0 / 2)}")
    print(f"a           {shown(0.5 / r0, 0.5 / r0 * dt0 / t0 / 2)} fm")
    charge, error = jackknife(lambda q: q, flow[:, -1, 5] ** 2)
    print(f"charge^2    {shown(charge, error)}")

    def draw(axes):
        mean, error = jackknife(lambda e: e, flow[:, :, 4])
        axes.errorbar(times, mean, error, fmt="o-", capsize=3, label="$t^2 E$")
        axes.axhline(0.3, color="grey", linewidth=1)
        axes.axvspan(t0 - dt0, t0 + dt0, alpha=0.3, color="C1", label=f"$t_0/a^2$ = {shown(t0, dt0)}")

    save_plot(o.out, draw, xlabel="$t/a^2$", ylabel="$t^2 E$")


if __name__ == "__main__":
    main()
