"""Staggered, asqtad and HISQ quarks from the command line."""

import csv

import pytest

GAUGE = ("--gauge", "weak:0.3:4,4,4,8:3")


@pytest.mark.parametrize("action", [("staggered",), ("asqtad", "--u0", "0.9"), ("hisq", "--naik-epsilon", "-0.05")])
def test_several_masses_are_those_of_single_solves(quarksmith, tmp_path, action):
    command = ("propagator", *GAUGE, "--action", *action, "--source", "corner-wall:2")
    quarksmith(*command, "--mass", "0.4,0.1", "--correlators", "both.json")
    both = quarksmith.json("both.json")
    assert set(both["correlators"]) == {"pion_0.4", "pion_0.4_0.1", "pion_0.1"}
    assert len(both["solves"]) == 6 and all(s["residual"] <= 1.01e-10 for s in both["solves"])
    for mass in ("0.4", "0.1"):
        quarksmith(*command, "--mass", mass, "--correlators", "one.json", "--overwrite")
        one = quarksmith.json("one.json")
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
    solves = quarksmith.json("t.json")["solves"]
    assert len(solves) == 4 and all(s["converged"] for s in solves)
