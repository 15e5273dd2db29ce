"""Quark loops from noise: the condensate, the part of the noise in its error, and the disconnected part of the eta'.

    python examples/analysis/loop.py loop.h5 --out loop.png

Products of loops take different noise vectors: one vector twice would add its own variance.
"""

from pathlib import Path

import numpy as np
from jackknife import jackknife, options, read, save_plot, shown, structure

TIMES = np.arange(1, 5)


def disconnected(loops: np.ndarray) -> np.ndarray:
    """The mean over noises n != m and times s of L_n(s) L_m(s + t), of one configuration: [noise, t] to [t]."""
    noises, times = loops.shape
    whole, pairs = loops.sum(axis=0), noises * (noises - 1)
    products = [(whole * np.roll(whole, -t) - (loops * np.roll(loops, -t, axis=1)).sum(axis=0)) for t in range(times)]
    return np.mean(products, axis=1) / pairs


def series(path: Path) -> tuple[np.ndarray, ...]:
    """Scalar and pseudoscalar loops a site of a slice, [configuration, noise, t], and the pion, [configuration, t]."""
    loops, attributes = read(path, "loop")
    pion, _ = read(path, "pion")
    slice_sites = np.prod(attributes[0]["lattice"][:3])
    scalar, pseudoscalar = (loops[:, :, 0, structure(attributes, name)].real / slice_sites for name in ("1", "g5"))
    return scalar, pseudoscalar, pion[:, :, 0, 0].real.mean(axis=1) / slice_sites


def main() -> None:
    """Prints the condensate and the ratio of disconnected to connected, and draws the latter."""
    o = options(__doc__, "loop.toml --out loop.h5")
    scalar, pseudoscalar, pion = series(o.results)
    per_noise = scalar.mean(axis=2)
    mean, error = jackknife(lambda s: s.mean(), per_noise)
    noise = np.sqrt(per_noise.var(axis=1, ddof=1).mean() / per_noise.size)
    print(f"tr D^-1 of a site  {shown(mean, error)}, of the noise alone {noise:.2g}")
    pairs = np.array([disconnected(p) for p in pseudoscalar])
    ratio, error = jackknife(lambda d, c: d[TIMES] / c[TIMES], pairs, pion)
    for t, r, e in zip(TIMES, ratio, error, strict=True):
        print(f"t = {t}  disconnected over connected {shown(r, e)}")

    def draw(axes):
        axes.errorbar(TIMES, ratio, error, fmt="o", capsize=3, label="of one flavour")
        axes.axhline(0, color="grey", linewidth=1)

    save_plot(o.out, draw, xlabel="t", ylabel="disconnected over connected")


if __name__ == "__main__":
    main()
