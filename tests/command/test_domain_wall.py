"""Domain-wall quarks from the command line."""

import pytest

GAUGE = ("--gauge", "weak:0.3:4,4,4,4:3")
WALL = ("propagator", *GAUGE, "--action", "domain-wall", "--m5", "1.8", "--mass", "0.1")


def test_residual_mass_falls_with_the_fifth_dimension(quarksmith, tmp_path):
    masses = []
    for slices in (4, 8):
        quarksmith(*WALL, "--ls", slices, "--correlators", f"{slices}.json")
        result = quarksmith.json(f"{slices}.json")
        assert all(s["residual"] <= 1e-10 for s in result["solves"])
        assert result["provenance"]["ls"] == slices and result["provenance"]["action"] == "domain-wall"
        assert len(result["residual_mass"]) == 4
        masses.append(result["residual_mass"][2])
    assert 0 < masses[1] < 0.7 * masses[0]


def test_every_way_to_solve_gives_the_same(quarksmith):
    moebius = ("propagator", *GAUGE, "--action", "moebius", "--ls", "4", "--b5", "1.5", "--c5", "0.5", "--mass", "0.1")
    quarksmith(*moebius, "--correlators", "a.json")
    a, forms = quarksmith.json("a.json"), ("--reconstruct", "12t", "--even-odd", "none")
    for choice in (("--even-odd", "asymmetric"), ("--precision", "double-half"), ("--batch", "3"), forms):
        quarksmith(*moebius, "--correlators", "b.json", *choice, "--overwrite")
        b = quarksmith.json("b.json")
        assert b["correlators"]["pion"] == pytest.approx(a["correlators"]["pion"], rel=1e-7), choice
        assert b["residual_mass"] == pytest.approx(a["residual_mass"], rel=1e-7), choice


def test_coefficients_of_each_slice(quarksmith, tmp_path):
    bench = ("solve-bench", *GAUGE, "--action", "moebius", "--ls", "3", "--mass", "0.2")
    quarksmith(
        *bench, "--solver", "cg", "--b5", "1.4,1.5:0.1,1.6", "--c5", "0.5", "--precision", "double", "--json", "t.json"
    )
    result = quarksmith.json("t.json")
    assert result["solves"][0]["converged"]
    assert result["action"]["b5"] == "1.3999999999999999,1.5:0.10000000000000001,1.6000000000000001"
    run = quarksmith(*bench, "--operator", "--precision", "double,half", "--json", "o.json")
    assert [r["precision"] for r in quarksmith.json("o.json")["operators"]] == ["double", "half"]
    assert "GFLOP/s" in run.stdout
