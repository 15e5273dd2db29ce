"""Domain-wall quarks from the command line."""

import json

import pytest

GAUGE = ("--gauge", "weak:0.3:4,4,4,4:3")
WALL = ("propagator", *GAUGE, "--action", "domain-wall", "--m5", "1.8", "--mass", "0.1")


def load(path):
    return json.loads(path.read_text())


def test_residual_mass_falls_with_the_fifth_dimension(quarksmith, tmp_path):
    masses = []
    for slices in (4, 8):
        quarksmith(*WALL, "--ls", slices, "--correlators", f"{slices}.json")
        result = load(tmp_path / f"{slices}.json")
        assert all(s["residual"] <= 1e-10 for s in result["solves"])
        assert result["provenance"]["ls"] == slices and result["provenance"]["action"] == "domain-wall"
        assert len(result["residual_mass"]) == 4
        masses.append(result["residual_mass"][2])
    assert 0 < masses[1] < 0.7 * masses[0]


@pytest.mark.parametrize(
    "choice",
    [
        ("--even-odd", "asymmetric"),
        ("--precision", "double-half"),
        ("--batch", "3"),
        ("--reconstruct", "12t", "--even-odd", "none"),
    ],
)
def test_every_way_to_solve_gives_the_same(quarksmith, tmp_path, choice):
    moebius = ("propagator", *GAUGE, "--action", "moebius", "--ls", "4", "--b5", "1.5", "--c5", "0.5", "--mass", "0.1")
    quarksmith(*moebius, "--correlators", "a.json")
    quarksmith(*moebius, "--correlators", "b.json", *choice)
    a, b = load(tmp_path / "a.json"), load(tmp_path / "b.json")
    assert b["correlators"]["pion"] == pytest.approx(a["correlators"]["pion"], rel=1e-7)
    assert b["residual_mass"] == pytest.approx(a["residual_mass"], rel=1e-7)


def test_coefficients_of_each_slice(quarksmith, tmp_path):
    bench = ("solve-bench", *GAUGE, "--action", "moebius", "--ls", "3", "--mass", "0.2")
    quarksmith(
        *bench, "--solver", "cg", "--b5", "1.4,1.5:0.1,1.6", "--c5", "0.5", "--precision", "double", "--json", "t.json"
    )
    result = load(tmp_path / "t.json")
    assert result["solves"][0]["converged"]
    assert result["action"]["b5"] == "1.3999999999999999,1.5:0.10000000000000001,1.6000000000000001"
    run = quarksmith(*bench, "--operator", "--precision", "double,half", "--json", "o.json")
    assert [r["precision"] for r in load(tmp_path / "o.json")["operators"]] == ["double", "half"]
    assert "GFLOP/s" in run.stdout
    run = quarksmith(*bench, "--b5", "1,2", status=2)
    assert "--b5 has 2 numbers for --ls 3" in run.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kappa", "0.12"), "--kappa belongs to --action wilson, clover"),
        (("--mass", "0.1", "--csw", "1"), "--csw belongs to --action clover, twisted-clover, not to domain-wall"),
        (("--mass", "0.1", "--b5", "1.5"), "--b5 belongs to --action moebius, not to domain-wall"),
        (("--mass", "0.1", "--ls", "0"), "--ls"),
    ],
)
def test_options_that_contradict_are_refused(quarksmith, options, message):
    run = quarksmith("propagator", *GAUGE, "--action", "domain-wall", "--out", "p.h5", *options, status=2)
    assert message in run.stderr
