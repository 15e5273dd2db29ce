"""Fat and long links as sums over explicit paths, in NumPy: nothing of statements, staples or kernels."""

import itertools

import numpy as np


def path(u, steps):
    """The product of links along a path from every site; +-1 to +-4 are steps along x to t."""
    product, at = np.eye(3), [0] * 4
    for step in steps:
        mu = abs(step) - 1
        at[mu] -= step < 0
        link = np.roll(u[..., mu, :, :], [-n for n in at], axis=(0, 1, 2, 3))
        product = product @ (link if step > 0 else np.swapaxes(link, -1, -2).conj())
        at[mu] += step > 0
    return product


def fat(u, mu, c):
    """Every word of up to three steps aside: of directions that differ, or the same step twice."""
    aside = [s * (nu + 1) for nu in range(4) if nu != mu for s in (1, -1)]
    weight = {1: c[3], 2: c[5], 3: c[7]}
    total = c[1] * u[..., mu, :, :]
    for length in (1, 2, 3):
        for out in itertools.product(aside, repeat=length):
            there = (*out, mu + 1, *(-s for s in reversed(out)))
            if len({abs(s) for s in out}) == length:
                total = total + weight[length] * path(u, there)
            elif length == 2 and out[0] == out[1]:
                total = total + c["L"] * path(u, there)
    return total


def all_fat(u, c):
    return np.stack([fat(u, mu, c) for mu in range(4)], axis=4)


def expected(name, u, u0=1.0, epsilon=0.0):
    """The coefficients of hep-lat/9903032 and hep-lat/0610092, as docs/links.md has them."""
    if name == "asqtad":
        c = {1: 5 / 8, 3: u0**-2 / 16, 5: u0**-4 / 64, 7: u0**-6 / 384, "L": -(u0**-4) / 16, "N": -(u0**-2) / 24}
    else:
        left, _, right = np.linalg.svd(all_fat(u, {1: 1 / 8, 3: 1 / 16, 5: 1 / 64, 7: 1 / 384, "L": 0}))
        u = left @ right
        c = {1: 1 + epsilon / 8, 3: 1 / 16, 5: 1 / 64, 7: 1 / 384, "L": -1 / 8, "N": -(1 + epsilon) / 24}
    long = np.stack([c["N"] * path(u, [mu + 1] * 3) for mu in range(4)], axis=4)
    return {"fat": all_fat(u, c), "long": long}
