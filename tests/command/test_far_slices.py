"""What is known of numbers is said: heavy quarks far from their source, critical masses, degenerate ends."""

import itertools
import re

import numpy as np
import pytest
from independent import clover_term


def free_pion(kappa, extent, length):
    """Sum over columns and sites of |S|^2 by t, antiperiodic: residues of 1/(a - 2 w cos p_t), without cancellation."""
    found = np.zeros(length)
    for n in itertools.product(range(extent), repeat=3):
        p = 2 * np.pi * np.array(n) / extent
        s2 = (np.sin(p) ** 2).sum()
        w = 1 / (2 * kappa) - 3 + (1 - np.cos(p)).sum()
        e = np.arccosh((1 + w * w + s2) / (2 * w))
        t = np.abs(np.arange(-1, length + 1))
        g = (np.exp(-e * t) - np.exp(-e * (length - t))) / (1 + np.exp(-e * length)) / (2 * w * np.sinh(e))
        here, ahead, behind = g[1:-1], g[2:], g[:-2]
        found += 12 / extent**3 * (s2 * here**2 + (ahead - behind) ** 2 / 4 + (w * here - (ahead + behind) / 2) ** 2)
    return found


@pytest.mark.parametrize(("kappa", "tol"), [(0.10, 1e-10), (0.08, 1e-10), (0.08, 1e-15), (0.12, 1e-10)])
def test_heavy_quarks_are_right_or_warned_of(quarksmith, tmp_path, kappa, tol):
    line = ("--gauge", "unit:4,4,4,64", "--kappa", kappa, "--tol", tol, "--correlators", "c.json")
    said = re.search(r"farther than (\d+) time slices", quarksmith("propagator", *line).stderr)
    pion = np.array(quarksmith.json("c.json")["mesons"]["g5"])
    known = int(said[1]) if said else 32
    off = abs(pion / free_pion(kappa, 4, 64) - 1)[1 : known + 1]
    assert (off < 0.01).all()
    assert (said is None) == (kappa == 0.12)
    assert known >= {0.10: 20, 0.08: 13, 0.12: 32}[kappa]
    assert quarksmith.json("c.json").get("known_slices") == (None if said is None else [known])


@pytest.mark.parametrize("kappa", [0.10, 0.08, 0.04])
@pytest.mark.parametrize(
    "how",
    [
        (),
        ("--precision", "double-half", "--batch", 12),
        ("--solver", "cg", "--even-odd", "none", "--tol", 1e-14),
        ("--precision", "single", "--tol", 1e-6, "--solver", "cg", "--batch", 12),
    ],
)
def test_a_criterion_by_time_slice_makes_heavy_quarks_right_at_all_times(quarksmith, tmp_path, kappa, how):
    """Down to |S| of 1e-32 of its source, where solves in single end at 1e-6."""
    line = ("--gauge", "unit:4,4,4,64", "--kappa", kappa, "--correlators", "c.json", "--slice-tol", 1e-6)
    assert "farther" not in quarksmith("propagator", *line, *how).stderr
    found = quarksmith.json("c.json")
    assert "known_slices" not in found
    assert all(0 < s["slice_residual"] <= 1e-6 for s in found["solves"])
    np.testing.assert_allclose(found["mesons"]["g5"], free_pion(kappa, 4, 64), rtol=1e-5)


def test_a_criterion_that_is_too_weak_is_no_excuse(quarksmith):
    line = ("--gauge", "unit:4,4,4,64", "--kappa", 0.08, "--correlators", "c.json", "--slice-tol", 0.9)
    assert "--slice-tol 1e-6" in quarksmith("propagator", *line).stderr


def test_a_criterion_by_time_slice_out_of_reach_or_place_is_refused(quarksmith):
    line = ("--gauge", "unit:4,4,4,16", "--correlators", "c.json")
    told = quarksmith.refuses("propagator", *line, "--kappa", 0.1, "--slice-tol", 1e-30, status=1)
    assert "on a time slice" in told and "larger --slice-tol" in told
    quarksmith.refuses("propagator", *line, "--kappa", 0.1, "--slice-tol", 1)
    masses = ("--action", "staggered", "--mass", "1,2", "--slice-tol", 1e-6)
    assert "one at a time" in quarksmith.refuses("propagator", *line, *masses)
    quarksmith.refuses("solve-bench", "--gauge", "unit:4,4,4,8", "--kappa", 0.1, "--slice-tol", 1e-6)


@pytest.mark.parametrize("slices", ["", "slice_tol = 1e-6"])
def test_measurements_of_heavy_quarks_are_right_or_warned_of(quarksmith, tmp_path, slices):
    (tmp_path / "m.toml").write_text(f"""
        configurations = {{ files = ["unit:4,4,4,64"] }}
        source = [{{ name = "p", at = [[0, 0, 0, 0]] }}]
        quark = [{{ name = "q", action = "wilson", kappa = 0.08{", " * bool(slices)}{slices} }}]
        propagator = [{{ name = "s", quark = "q", source = "p" }}]
        correlator = [{{ name = "pion", kind = "meson", quarks = ["s", "s"], gammas = ["g5"] }}]
    """)
    said = "farther than" in quarksmith("measure", "m.toml", "--out", "m.h5", "--json", "m.json").stderr
    found = quarksmith.json("m.json")["configurations"][0]
    pion = np.array(found["results"]["pion"]["values"]).reshape(-1, 64, 2)[0, :, 0]
    known = found["solves"].get("known_slices", [32])
    assert said == (slices == "") and (known == [32]) == (slices != "")
    assert (abs(pion / free_pion(0.08, 4, 64) - 1)[: known[0] + 1] < 0.01).all()


def test_degenerate_eigenvalues_at_the_upper_end(quarksmith, tmp_path):
    """On unit links all that are asked for are equal, of 96."""
    line = ("--gauge", "unit:4,4,4,4", "--kappa", 0.12, "--boundary", "periodic", "--count", 20, "--largest")
    quarksmith("eigen", *line, "--json", "e.json")
    assert quarksmith.json("e.json")["eigenvalues"] == pytest.approx([1.51388416] * 20, abs=1e-9)


def test_a_singular_site_term_is_solved_on_all_sites(quarksmith):
    line = ("--gauge", "unit:4,4,4,4", "--action", "clover", "--mass", -4, "--csw", 1, "--correlators", "c.json")
    assert "--even-odd none" in quarksmith.refuses("propagator", *line, status=1)
    quarksmith("propagator", *line, "--even-odd", "none")


def test_a_site_term_that_only_rounding_keeps_regular_is_told(quarksmith, tmp_path):
    """At csw = -(4 + m) / lambda, lambda an eigenvalue of the clover term with csw = 1 at one site."""
    quarksmith("heatbath", *("--lattice", "4,4,4,4", "--beta", 5.8, "--sweeps", 2, "--seed", 3, "--out", "u"))
    quarksmith("convert", "u_00002.ildg", "u.nersc", "--bits", 64)
    content = (tmp_path / "u.nersc").read_bytes().partition(b"END_HEADER\n")[2]
    u = np.frombuffer(content, ">c16").astype(complex).reshape(4, 4, 4, 4, 4, 3, 3)
    columns = []
    for spin, colour in itertools.product(range(4), range(3)):
        psi = np.zeros((4, 4, 4, 4, 4, 3), complex)
        psi[..., spin, colour] = 1
        columns.append(clover_term(u, psi, 1.0).reshape(256, 12))
    lowest = np.linalg.eigvalsh(np.stack(columns, axis=-1)).min()
    line = ("--gauge", "u_00002.ildg", "--action", "clover", "--mass", 0.2, "--csw", float(-4.2 / lowest))
    told = quarksmith.refuses("propagator", *line, "--correlators", "c.json", status=1)
    assert "site term" in told and "--even-odd none" in told
    quarksmith("propagator", *line, "--correlators", "c.json", "--even-odd", "none")


def test_rough_links_and_masses_beyond_the_critical_one_are_said(quarksmith):
    assert "rougher" in quarksmith("smear", "stout", "weak:0.3:4,4,4,4:1", "u.ildg", "--rho", 0.9).stderr
    assert "rougher" not in quarksmith("smear", "stout", "weak:0.3:4,4,4,4:1", "v.ildg", "--rho", 0.1).stderr
    assert "rougher" not in quarksmith("smear", "ape", "weak:0.3:4,4,4,4:1", "w.ildg", "--alpha", 0).stderr
    line = ("--gauge", "weak:0.3:4,4,4,4:1", "--mass", 0.4, "--correlators", "s.json")
    assert "rougher" in quarksmith("propagator", *line, "--smear-links", "stout:0.9,1").stderr
    line = ("--gauge", "unit:4,4,4,4", "--correlators", "c.json")
    assert "critical" in quarksmith("propagator", *line, "--kappa", 0.2).stderr
    assert "critical" not in quarksmith("propagator", *line, "--kappa", 0.12, "--overwrite").stderr
