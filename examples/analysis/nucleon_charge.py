"""g_A of the nucleon: three-point over two-point functions, u - d, between source and sink.

    python examples/analysis/nucleon_charge.py charge.h5 --out charge.png

C3(t)/C2 at the sink is the matrix element of a current between nucleons of spin up. The ratio of axial and vector
current, u - d, is g_A up to Z_A/Z_V. The charge of the conserved current is exact on each configuration.
"""

from pathlib import Path

import numpy as np
from jackknife import jackknife, options, read, save_plot, shown, structure


def series(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Axial, vector and conserved charges of u and d, [configuration, line, current, t]; and C2 at the sink."""
    lines, two = [], []
    for line, quarks in (("u", 2), ("d", 1)):
        values, attributes = read(path, line)
        chosen = [structure(attributes, name) for name in ("A3", "V4", "conserved_V4")]
        lines.append(values[:, :, 0][:, :, chosen].mean(axis=1))
        two.append([(a["two_point_at_sink"] / quarks).mean() for a in attributes])
    three = np.array(lines).swapaxes(0, 1)
    return np.stack([three[:, :, 0].imag, three[:, :, 1].real, three[:, :, 2].real], axis=2), np.array(two[0]).real


def main() -> None:
    """Prints the ratio at each t, the charges, and draws them."""
    o = options(__doc__, "nucleon_charge.toml --out charge.h5", separation=6)
    three, two = series(o.results)
    separation = o.separation
    times = np.arange(1, separation)
    ratio, error = jackknife(lambda c: ((c[0, 0] - c[1, 0]) / (c[0, 1] - c[1, 1]))[times], three)
    for t, r, e in zip(times, ratio, error, strict=True):
        print(f"t = {t}  A/V of u - d {shown(r, e)}")
    middle = slice(2, separation - 1)
    charges = (three[:, :, 2, 1] - three[:, :, 2, separation + 1]).mean(axis=0) / two.mean()
    print("conserved charges of u and d: {:.6f}, {:.6f}".format(*charges))
    local, e = jackknife(lambda c, p: 1 / ((c[0, 1] - c[1, 1]) / p)[middle].mean(), three, two)
    print(f"Z_V {shown(local, e)}")
    for name, u, d in (("u", 1, 0), ("d", 0, 1), ("u - d", 1, -1)):
        g, e = jackknife(lambda c: ((u * c[0, 0] + d * c[1, 0]) / (c[0, 1] - c[1, 1]))[middle].mean(), three)  # noqa: B023
        print(f"g_A of {name} {shown(g, e)}")

    def draw(axes):
        axes.errorbar(times, ratio, error, fmt="o", capsize=3, label="axial over vector, u - d")
        axes.fill_between([1.5, separation - 1.5], g - e, g + e, alpha=0.3, color="C1", label=f"$g_A$ = {shown(g, e)}")

    save_plot(o.out, draw, xlabel="time of the current", ylabel="$g_A$, without $Z_A/Z_V$")


if __name__ == "__main__":
    main()
