"""Multigrid by the command as several ranks: what one process gives, searched, kept and in trajectories."""

import re

import pytest
from test_multigrid import LINKS, QUICK, RATIO, trajectory
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

GRIDS = ((2, "1,1,1,2"), (4, "1,1,2,2"))
SOLVE = ("propagator", *LINKS, "--solver", "multigrid", "--mg", "mg.toml", "--overwrite")


def solved(job, ranks: int, grid: str, *options: object) -> tuple[dict, str]:
    """The JSON of a propagator of one process or several, and what was said."""
    name = "alone.json" if ranks == 1 else "together.json"
    line = (*SOLVE, *options, "--correlators", name, *(("--grid", grid) if ranks > 1 else ()))
    said = job(ranks, *line).stderr
    return job.json(name), said


def iterations(found: dict) -> list[int]:
    return [int(s["iterations"]) for s in found["solves"]]


def test_solves_are_those_of_one_process(mpirun):  # noqa: F811
    (mpirun.folder / "mg.toml").write_text(QUICK)
    alone, said = solved(mpirun, 1, "", "--kappa", "0.12")
    table = re.findall(r"multigrid: level[^:]*", said)
    for ranks, grid in GRIDS:
        together, said = solved(mpirun, ranks, grid, "--kappa", "0.12")
        assert iterations(together) == pytest.approx(iterations(alone), abs=1), grid
        assert together["correlators"]["pion"] == pytest.approx(alone["correlators"]["pion"], rel=1e-8)
        assert re.findall(r"multigrid: level[^:]*", said) == table


def test_near_null_vectors_serve_any_number_of_ranks(mpirun):  # noqa: F811
    (mpirun.folder / "mg.toml").write_text(QUICK)
    found, _ = solved(mpirun, 2, "1,1,1,2", "--kappa", "0.12", "--mg-save", "v.h5")
    for ranks in (1, 2):
        again, _ = solved(mpirun, ranks, "1,1,2,1", "--kappa", "0.12", "--mg-load", "v.h5")
        assert iterations(again) == pytest.approx(iterations(found), abs=1)
    _, said = solved(mpirun, 2, "1,2,1,1", "--kappa", "0.13", "--mg-load", "v.h5", "--mg-refresh")
    assert "with 1 round of adaptation" in said


def test_tune_measures_on_ranks(mpirun):  # noqa: F811
    (mpirun.folder / "begin.toml").write_text(QUICK)
    tune = ("multigrid", "tune", *LINKS, "--kappa", "0.12", "--tol", "1e-8", "--out", "mg.toml", "--json", "t.json")
    text = mpirun(2, *tune, "--mg", "begin.toml", "--within", "3s").stdout
    report = mpirun.json("t.json")
    assert len(re.findall(r"^ +\d+ ", text, flags=re.M)) == len(report["trials"]) >= 1
    best = next(t for t in report["trials"] if t["best"])
    assert (mpirun.folder / "mg.toml").read_text().endswith(best["parameters"])


def test_a_trajectory_is_that_of_one_process(mpirun):  # noqa: F811
    (mpirun.folder / "mg.toml").write_text(QUICK)
    keys = f'{RATIO}\nsolver = "multigrid"\nmg = "mg.toml"'
    (mpirun.folder / "run.toml").write_text(trajectory(keys))
    found = []
    for ranks, grid in ((1, ()), (2, ("--grid", "1,1,1,2"))):
        mpirun(ranks, "hmc", "run.toml", "--json", "o.json", "--overwrite", *grid)
        found.append(mpirun.json("o.json")["trajectories"][0])
    alone, together = found
    assert together["dH"] == pytest.approx(alone["dH"], abs=1e-8)
    assert together["actions"]["quark"] == pytest.approx(alone["actions"]["quark"], rel=1e-10)
    assert together["work"]["quark"]["fallbacks"] == 0


def test_blocks_that_do_not_fit_a_part_are_told_once(mpirun):  # noqa: F811
    (mpirun.folder / "mg.toml").write_text("[[level]]\nblock = [2, 2, 2, 4]\n")
    error = mpirun.error(4, *SOLVE, "--kappa", "0.12", "--correlators", "c.json", "--grid", "1,1,1,4")
    assert "level 1: blocks of 2x2x2x4 do not fit into 4x4x4x2, which a rank has of 4x4x4x8" in error
