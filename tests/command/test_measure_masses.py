"""Propagators of `quarksmith measure` that come from one solve, and interpolators that are combinations of others."""

import numpy as np
from descriptions import quarks, run_file, table

STRANGE = {"mass": 0.3, "tol": 1e-12}
NUCLEONS = [f"chroma-nucleon-{kind}{limit}" for limit in ("", "-nonrel") for kind in ("pol", "mixed", "unpol")]


def staggered(**more):
    mesons = {"mesons": ["pion_5", "rho_i"], "momenta": [[0, 0, 0], [0, 1, 0]]}
    return run_file(
        "weak:0.3:4,4,4,8:1",
        table("source", name="wall", kind="corner-wall", at=[1]),
        quarks("wall", "asqtad", {"light": {"mass": 0.1, "tol": 1e-12}, "strange": STRANGE | more}),
        table("correlator", name="kaon", kind="staggered-meson", quarks=["light", "strange"], **mesons),
    )


DIRAC = run_file(
    "weak:0.3:4,4,4,4:1",
    table("source", name="point", at=[0, 0, 0, 0]),
    quarks("point", "wilson", {"q": {"mass": 0.4}}),
    table("correlator", name="nucleon", kind="baryon", quarks={"1": "q", "2": "q"}, interpolators=NUCLEONS),
)


def measured(quarksmith, tmp_path, text: str, name: str) -> np.ndarray:
    (tmp_path / "run.toml").write_text(text)
    quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json", "--overwrite")
    values = quarksmith.json("r.json")["configurations"][0]["results"][name]["values"]
    return np.array(values) @ np.array([1, 1j])


def test_staggered_quarks_of_several_masses_come_from_one_solve(quarksmith, tmp_path):
    together = measured(quarksmith, tmp_path, staggered(), "kaon")
    shown = quarksmith("measure", "run.toml", "--dry-run").stdout
    assert "3 solves of quark 'light' for source 'wall', together with 'strange'" in shown
    apart = measured(quarksmith, tmp_path, staggered(solver="cg", max_iterations=9999), "kaon")
    assert "together" not in quarksmith("measure", "run.toml", "--dry-run").stdout
    assert np.abs(together - apart).max() < 1e-10 * np.abs(apart).max()


def test_polarised_nucleons_are_mixed_ones_without_the_unpolarised(quarksmith, tmp_path):
    values = measured(quarksmith, tmp_path, DIRAC, "nucleon")[0, 0]
    for pol, mixed, unpol in (values[:3], values[3:]):
        assert np.abs(pol - (mixed - unpol)).max() < 1e-14 * np.abs(mixed).max()
        assert np.abs(unpol).max() > 1e-6 * np.abs(mixed).max()
