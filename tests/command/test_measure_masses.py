"""Propagators of `quarksmith measure` that come from one solve, and interpolators that are combinations of others."""

import numpy as np

STAGGERED = """
[configurations]
files = ["weak:0.3:4,4,4,8:1"]
[[source]]
name = "wall"
kind = "corner-wall"
at = [1]
[[quark]]
name = "light"
action = "asqtad"
mass = 0.1
tol = 1e-12
[[quark]]
name = "strange"
action = "asqtad"
mass = 0.3
tol = 1e-12
{extra}
[[propagator]]
name = "light"
quark = "light"
source = "wall"
[[propagator]]
name = "strange"
quark = "strange"
source = "wall"
[[correlator]]
name = "kaon"
kind = "staggered-meson"
quarks = ["light", "strange"]
mesons = ["pion_5", "rho_i"]
momenta = [[0, 0, 0], [0, 1, 0]]
"""

DIRAC = """
[configurations]
files = ["weak:0.3:4,4,4,4:1"]
[[source]]
name = "point"
at = [0, 0, 0, 0]
[[quark]]
name = "q"
action = "wilson"
mass = 0.4
[[propagator]]
name = "q"
quark = "q"
source = "point"
[[correlator]]
name = "nucleon"
kind = "baryon"
quarks = {1 = "q", 2 = "q"}
interpolators = ["chroma-nucleon-pol", "chroma-nucleon-mixed", "chroma-nucleon-unpol", "chroma-nucleon-pol-nonrel",
                 "chroma-nucleon-mixed-nonrel", "chroma-nucleon-unpol-nonrel"]
"""


def measured(quarksmith, tmp_path, text: str, name: str) -> np.ndarray:
    (tmp_path / "run.toml").write_text(text)
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json", "--overwrite")
    values = quarksmith.json("r.json")["configurations"][0]["results"][name]["values"]
    return np.array(values) @ np.array([1, 1j])


def test_staggered_quarks_of_several_masses_come_from_one_solve(quarksmith, tmp_path):
    together = measured(quarksmith, tmp_path, STAGGERED.format(extra=""), "kaon")
    shown = quarksmith("measure", "run.toml", "--dry-run").stdout
    assert "3 solves of quark 'light' for source 'wall', together with 'strange'" in shown
    apart = measured(quarksmith, tmp_path, STAGGERED.format(extra='solver = "cg"\nmax_iterations = 9999'), "kaon")
    assert "together" not in quarksmith("measure", "run.toml", "--dry-run").stdout
    assert np.abs(together - apart).max() < 1e-10 * np.abs(apart).max()


def test_polarised_nucleons_are_mixed_ones_without_the_unpolarised(quarksmith, tmp_path):
    values = measured(quarksmith, tmp_path, DIRAC, "nucleon")[0, 0]
    for pol, mixed, unpol in (values[:3], values[3:]):
        assert np.abs(pol - (mixed - unpol)).max() < 1e-14 * np.abs(mixed).max()
        assert np.abs(unpol).max() > 1e-6 * np.abs(mixed).max()
