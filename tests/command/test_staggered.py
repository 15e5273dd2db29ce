"""Staggered, asqtad and HISQ quarks from the command line."""

import csv
import json

import pytest

GAUGE = ("--gauge", "weak:0.3:4,4,4,8:3")


def load(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("action", [("staggered",), ("asqtad", "--u0", "0.9"), ("hisq", "--naik-epsilon", "-0.05")])
def test_several_masses_are_those_of_single_solves(quarksmith, tmp_path, action):
    command = ("propagator", *GAUGE, "--action", *action, "--source", "corner-wall:2")
    quarksmith(*command, "--mass", "0.4,0.1", "--correlators", "both.json")
    both = load(tmp_path / "both.json")
    assert set(both["correlators"]) == {"pion_0.4", "pion_0.4_0.1", "pion_0.1"}
    assert len(both["solves"]) == 6 and all(s["residual"] <= 1.01e-10 for s in both["solves"])
    for mass in ("0.4", "0.1"):
        quarksmith(*command, "--mass", mass, "--correlators", "one.json", "--overwrite")
        one = load(tmp_path / "one.json")
        assert one["correlators"]["pion"] == pytest.approx(both["correlators"][f"pion_{mass}"], rel=1e-8)
        assert [s["colour"] for s in one["solves"]] == [0, 1, 2] and one["provenance"]["action"] == action[0]


def test_every_way_to_solve_gives_the_same(quarksmith, tmp_path):
    command = ("propagator", *GAUGE, "--action", "hisq", "--mass", "0.2")
    quarksmith(*command, "--correlators", "a.csv")
    rows = [list(map(float, row)) for row in list(csv.reader((tmp_path / "a.csv").open()))[1:]]
    assert len(rows) == 8
    for choice in (("--reconstruct", "18"), ("--precision", "double-half"), ("--reconstruct", "9")):
        quarksmith(*command, *choice, "--correlators", "b.csv", "--overwrite")
        again = [list(map(float, row)) for row in list(csv.reader((tmp_path / "b.csv").open()))[1:]]
        assert [r[1] for r in again] == pytest.approx([r[1] for r in rows], rel=1e-8)


def test_solve_bench_knows_the_actions(quarksmith, tmp_path):
    bench = ("solve-bench", *GAUGE, "--action", "asqtad", "--mass", "0.1", "--solver", "cg", "--repeat", "1")
    quarksmith(*bench, "--precision", "double,double-half", "--batch", "1,3", "--json", "t.json")
    solves = load(tmp_path / "t.json")["solves"]
    assert len(solves) == 4 and all(s["converged"] for s in solves)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mass", "-1"), "--mass -1 of action hisq: use a number of at least 0"),
        ((), "needs --mass"),
        (("--mass", "0.1", "--u0", "0.9"), "--u0 belongs to --action asqtad"),
        (("--mass", "0.1", "--csw", "1"), "--csw belongs to --action clover, twisted-clover, not to hisq"),
        (("--mass", "0.1", "--source", "gaussian:0,0,0,0:2,5"), "smearing is for Dirac spinors"),
        (("--mass", "0.1", "--reconstruct", "12"), "is a number times U(3): matrices; use r13"),
    ],
)
def test_what_does_not_fit_is_refused(quarksmith, options, message):
    error = quarksmith.refuses("propagator", *GAUGE, "--action", "hisq", *options, "--correlators", "c.json")
    assert message in error


def test_short_lattices_are_refused(quarksmith):
    command = ("propagator", "--gauge", "unit:2,4,4,4", "--action", "hisq", "--mass", "0.1", "--correlators", "c.json")
    assert "hops over 3 sites" in quarksmith.refuses(*command)
