"""Molecular dynamics: solvers, precisions and first guesses give the same trajectories; where their time goes."""

import json
import math
import re

import pytest
from test_hmc import close, described, quark

SOLVERS = [
    (solver, precision)
    for solver in ("auto", "bicgstab", "cg")
    for precision in ("double", "double-single", "double-half")
]


def solved(quarksmith, tmp_path, name: str, keys: str, steps: int = 2, *options: str) -> dict:
    """A trajectory with more keys of the monomial, and with its tolerances as by default."""
    text = re.sub(r"tol_force = .*\ntol_action = .*", keys, described(name, steps))
    text = text.replace("rror = 1e-8", "rror = 1e-6")  # rational functions of a few poles
    (tmp_path / "run.toml").write_text(text)
    quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite", *options)
    return quarksmith.json("o.json")["trajectories"][0]


@pytest.mark.parametrize("name", ["stout", "ratio", "moebius"])
def test_every_solver_gives_the_same_trajectory(quarksmith, tmp_path, name):
    exact = quark(quarksmith, tmp_path, name, 2)
    found = [
        solved(quarksmith, tmp_path, name, f'solver = "{solver}"\nprecision = "{precision}"')
        for solver, precision in SOLVERS
    ]
    for one in found:
        assert abs(one["dH"] - exact["dH"]) < 1e-6
        assert close(one["actions"]["quark"][1], exact["actions"]["quark"][1], 1e-9)
        assert 0 < one["work"]["quark"]["solve_seconds"] < one["work"]["quark"]["seconds"] < one["seconds"]
        assert one["work"]["quark"]["fallbacks"] == 0
    # Each in its own way, auto as bicgstab here: dH has too few digits to tell them apart, norms of forces have enough.
    assert len({json.dumps(one["forces"]["quark"]) for one in found}) == 6
    assert [one["dH"] for one in found[:3]] == [one["dH"] for one in found[3:6]]
    assert found[3]["work"]["quark"]["iterations"] < found[6]["work"]["quark"]["iterations"]
    for default in ("", 'precision = "auto"'):
        assert solved(quarksmith, tmp_path, name, default)["actions"] == found[1]["actions"]


@pytest.mark.parametrize("name", ["one flavour", "hisq"])
def test_poles_are_solved_for_in_every_precision(quarksmith, tmp_path, name):
    default, *found = (
        solved(quarksmith, tmp_path, name, keys)
        for keys in ("", 'precision = "double-single"', 'precision = "double-half"')
    )
    for one in found:
        assert abs(one["dH"] - default["dH"]) < 1e-6
        assert close(one["actions"]["quark"][1], default["actions"]["quark"][1], 1e-9)
        assert one["work"]["quark"]["iterations"] > default["work"]["quark"]["iterations"]  # poles by themselves


@pytest.mark.parametrize("name", ["one flavour", "staggered"])
def test_the_action_by_one_function_is_that_by_its_root(quarksmith, tmp_path, name):
    """phi^+ R phi, from solves to about the root of tol_action, and |r phi|^2; both after the same trajectory."""
    found = []
    for functions in ("error = 1e-10, force_error = 1e-9", "poles = 12, force_poles = 12"):
        text = described(name, 2).replace("error = 1e-8, force_error = 1e-8", functions)
        assert functions in text
        (tmp_path / "run.toml").write_text(text)
        quarksmith("hmc", "run.toml", "--json", "o.json", "--overwrite")
        found.append(quarksmith.json("o.json")["trajectories"][0])
    whole, root = found
    assert close(whole["actions"]["quark"][1], root["actions"]["quark"][1], 1e-9)
    assert abs(whole["dH"] - root["dH"]) < 1e-6
    assert whole["work"]["quark"]["iterations"] < root["work"]["quark"]["iterations"]


@pytest.mark.parametrize("name", ["stout", "ratio"])
def test_earlier_solutions_save_iterations(quarksmith, tmp_path, name):
    plain, guessed = (
        solved(quarksmith, tmp_path, name, f"chronological = {n}", 8, "--reversibility", "1") for n in (0, 4)
    )
    assert guessed["work"]["quark"]["iterations"] < 0.8 * plain["work"]["quark"]["iterations"]
    assert abs(guessed["dH"] - plain["dH"]) < 1e-6
    assert guessed["reversibility"]["links"] < 1e-9  # the tolerance of forces is 1e-10


@pytest.mark.parametrize("name", ["stout", "ratio"])
def test_ritz_vectors_of_running_solves_save_iterations(quarksmith, tmp_path, name):
    found = []
    for keys in ('solver = "cg"', 'solver = "eigcg"\nsearch = 20\nkeep = 8'):
        keys += '\nprecision = "double"'
        found.append(solved(quarksmith, tmp_path, name, keys, 8, "--reversibility", "1"))
    plain, deflated = found
    assert deflated["work"]["quark"]["iterations"] < 0.97 * plain["work"]["quark"]["iterations"]
    assert abs(deflated["dH"] - plain["dH"]) < 1e-6
    assert deflated["reversibility"]["links"] < 1e-9  # the tolerance of forces is 1e-10


@pytest.mark.parametrize(
    "keys",
    [
        'precision = "double-half"\nchronological = 3',
        'precision = "double-single"\nsolver = "eigcg"\nsearch = 20\nkeep = 8',
    ],
    ids=["chronological", "eigcg"],
)
def test_a_resumed_run_forgets_earlier_solutions(quarksmith, tmp_path, keys):
    for name, count in (("two.toml", 2), ("one.toml", 1)):
        text = described("ratio", 3).replace("tol_force = 1e-12\ntol_action = 1e-13", keys)
        (tmp_path / name).write_text(text.replace("count = 1", f"count = {count}"))
    quarksmith("hmc", "two.toml", "--out", "whole")
    quarksmith("hmc", "one.toml", "--out", "part")
    quarksmith("hmc", "two.toml", "--out", "part", "--resume", "part_00001.ildg", "--overwrite")
    assert (tmp_path / "whole_00002.ildg").read_bytes() == (tmp_path / "part_00002.ildg").read_bytes()


def test_a_trajectory_tells_where_its_time_goes(quarksmith, tmp_path):
    text = described("one flavour", 2).replace("rror = 1e-8", "rror = 1e-6").replace('["quark"]', '["quark", "gauge"]')
    gauge = '[[monomial]]\nname = "gauge"\nkind = "gauge"\naction = "wilson"\nbeta = 5.6\n\n[[integrator]]'
    (tmp_path / "run.toml").write_text(text.replace("[[integrator]]", gauge))
    line = quarksmith("hmc", "run.toml", "--json", "o.json", "--out", "run").stdout.splitlines()[0]
    found = quarksmith.json("o.json")["trajectories"][0]
    shares, work = found["shares"], found["work"]
    assert set(shares) == {"solves", "forces", "gauge", "io"} and all(0 < s < 1 for s in shares.values())
    assert 0.5 < sum(shares.values()) <= 1
    assert math.isclose(shares["gauge"] / shares["solves"], work["gauge"]["seconds"] / work["quark"]["solve_seconds"])
    assert f"; quark {work['quark']['iterations']} iterations" in line and "; gauge 0 iterations" in line
