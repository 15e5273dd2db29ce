"""The gluon propagator in Landau gauge, from fixed links.

    python examples/analysis/gluon.py landau_*.ildg --out gluon.png

A_mu(x + mu/2) = (U - U^+)/2i minus its trace, D(p) = 2/(24 V) sum_mu tr A_mu(p) A_mu(p)^+: g^2 is not divided out.
p stands for the vector of 2 sin(p_mu/2); its lengths are averaged in bins.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import quarksmith as qs
from jackknife import jackknife, save_plot, shown

WIDTH = 0.3
"""Of the bins of p, which begin at 0.1."""


def momenta(extents: tuple[int, ...]) -> np.ndarray:
    """p_x, p_y, p_z, p_t of all momenta, [mu, t, z, y, x], for extents t, z, y, x."""
    return np.array(np.meshgrid(*(2 * np.pi * np.fft.fftfreq(n) for n in extents), indexing="ij")[::-1])


def gluon(links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A_mu(p) of links [mu, t, z, y, x, a, b], with the same order of axes, and p_mu."""
    a = (links - links.conj().swapaxes(-1, -2)) / 2j
    a -= np.trace(a, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    p = momenta(links.shape[1:5])
    return np.fft.fftn(a, axes=(1, 2, 3, 4)) * np.exp(-0.5j * p)[..., None, None], p


def propagator(links: np.ndarray) -> np.ndarray:
    """D(p) at all momenta, [t, z, y, x]; the divergence of A must vanish."""
    a, p = gluon(links)
    divergence = np.einsum("m...,m...ab->...ab", 2 * np.sin(p / 2), a)
    if np.linalg.norm(divergence) > 0.02 * np.linalg.norm(a):
        raise SystemExit("gluon.py: these links are not in Landau gauge")
    return 2 * (abs(a) ** 2).sum(axis=(0, -1, -2)) / (3 * 8 * p[0].size)


def main() -> None:
    """Prints p and p^2 D(p), and draws the latter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("links", nargs="+", help="configurations of `quarksmith measure examples/analysis/gluon.toml`")
    parser.add_argument("--out", type=Path, help="a plot")
    o = parser.parse_args()
    values = np.array([propagator(np.moveaxis(qs.read(name).lexicographic(), 4, 0)) for name in o.links])
    lengths = np.sqrt((4 * np.sin(momenta(values.shape[1:]) / 2) ** 2).sum(axis=0))
    bins = ((lengths - 0.1) / WIDTH).astype(int) * (lengths > 0.1) - (lengths <= 0.1)
    rows = []
    for k in range(bins.max() + 1):
        if (inside := bins == k).any():
            dressing = (values * lengths**2)[:, inside].mean(axis=1)
            rows.append((lengths[inside].mean(), *jackknife(lambda mean: mean, dressing)))
    for p, value, error in rows:
        print(f"p {p:.4f}  p^2 D {shown(value, error)}")

    def draw(axes):
        p, value, error = np.array(rows).T
        axes.errorbar(p, value, error, fmt="o", capsize=3, label="Landau gauge")

    save_plot(o.out, draw, xlabel=r"$a\hat p$", ylabel=r"$\hat p^2 D(p)$", ylim=(0, None))


if __name__ == "__main__":
    main()
