"""The static potential V(r) = log W(r, t)/W(r, t + 1), its string tension, and Sommer's scale r0.

    python examples/analysis/potential.py potential.h5 --out potential.png

V(r) = c - b/r + s r is fitted; r0^2 V'(r0) = 1.65 (R. Sommer, hep-lat/9310022).
"""

import numpy as np
from jackknife import jackknife, options, read, save_plot, shown

TIME = 3
"""t of the effective potential."""


def potential(loops: np.ndarray) -> np.ndarray:
    """V(r) from mean loops [r][t], both from 1."""
    return np.log(loops[:, TIME - 1] / loops[:, TIME])


def fit(v: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """c, b and s of V(r) = c - b/r + s r, by least squares."""
    r = np.arange(1, len(v) + 1)
    model = np.stack([np.ones(len(r)), -1 / r, r], axis=1) * weights[:, None]
    return np.linalg.lstsq(model, v * weights, rcond=None)[0]


def main() -> None:
    """Prints the potential and its parameters, and draws it."""
    o = options(__doc__, "potential.toml --out potential.h5")
    loops, _ = read(o.results, "loops")
    v, error = jackknife(potential, loops)
    for r, (value, e) in enumerate(zip(v, error, strict=True), start=1):
        print(f"r = {r}  V {shown(value, e)}")

    def results(mean):
        c, b, s = fit(potential(mean), 1 / error)
        return c, b, s, np.sqrt((1.65 - b) / s)

    (c, b, s, r0), errors = jackknife(results, loops)
    print(f"b     {shown(b, errors[1])}\ns     {shown(s, errors[2])}\nr0/a  {shown(r0, errors[3])}")

    def draw(axes):
        r = np.linspace(0.8, len(v) + 0.2)
        axes.errorbar(range(1, len(v) + 1), v, error, fmt="o", capsize=3, label="$V(r)$")
        axes.plot(r, c - b / r + s * r, color="C1", label=f"fit, $r_0/a$ = {shown(r0, errors[3])}")

    save_plot(o.out, draw, xlabel="$r/a$", ylabel="$a V(r)$")


if __name__ == "__main__":
    main()
