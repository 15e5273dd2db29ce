"""Solvers that give way to another, and numbers that mean nothing: told before the first iteration."""

import struct

import pytest
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

TWISTED = ("--gauge", "weak:0.25:4,4,4,8:5", "--action", "twisted-mass", "--mass", "-1", "--mu", "0.01")
QUARK = ("--gauge", "weak:0.3:4,4,4,8:5", "--mass", "0.1", "--correlators", "c.json")


def test_default_takes_multigrid_where_bicgstab_fails_and_says_so(quarksmith):
    run = quarksmith("propagator", *TWISTED, "--correlators", "c.json")
    solves = quarksmith.json("c.json")["solves"]
    assert len(solves) == 12 and all(s["solver"] == "multigrid" and s["residual"] <= 1e-10 for s in solves)
    assert run.stderr.count("multigrid: set up in") == 1


def test_default_goes_on_with_cg_and_says_so(mpirun):  # noqa: F811
    """Where multigrid fails as well: a lattice of a few sites, on several ranks."""
    small = ("--gauge", "weak:0.25:2,2,2,8:5", *TWISTED[2:])
    run = mpirun(2, "propagator", *small, "--grid", "1,1,1,2", "--batch", 12, "--correlators", "c.json")
    solves = mpirun.json("c.json")["solves"]
    assert len(solves) == 12
    fallen = [s for s in solves if s["solver"] == "cg"]
    assert fallen
    for s in fallen:
        assert "goes on with cg on the normal equations" in s["events"][-1]["what"]
        assert s["residual"] <= 1e-10
        assert s["iterations"] < 3000
    assert run.stderr.count("goes on with cg on the normal equations") == 1  # once a run


def test_named_solver_is_kept_and_its_failure_names_what_helps(quarksmith):
    line = ("propagator", *TWISTED, "--correlators", "c.json", "--solver", "bicgstab", "--max-iterations", "200")
    said = quarksmith.refuses(*line, status=1)
    assert "goes on with cg" not in said
    assert "use a larger --max-iterations, --solver cg or a larger --tol" in said
    assert "--precision double" not in said


def test_solver_that_converges_is_recorded(quarksmith):
    quarksmith("propagator", *QUARK)
    solves = quarksmith.json("c.json")["solves"]
    assert {s["solver"] for s in solves} == {"bicgstab"}


def test_source_that_overflows_is_refused_before_the_solve(quarksmith):
    said = quarksmith.refuses("propagator", *QUARK, "--source", "jacobi:0,0,0,0:100,3000", status=1)
    assert "not finite" in said
    assert "iteration" not in said
    assert not (quarksmith.folder / "c.json").exists()


@pytest.mark.parametrize(("number", "text"), [(1e38, "1e10"), (0.0, "is zero"), (float("nan"), "not finite")])
def test_links_that_are_none_are_refused_with_their_place(quarksmith, number, text):
    """An openQCD file, which has no checksum, one link of which is overwritten."""
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "hot", "--out", "u")
    quarksmith("convert", "u_00001.ildg", "u.dat", "--format", "openqcd")
    path = quarksmith.folder / "u.dat"
    data = bytearray(path.read_bytes())
    link = 24 + 9 * 16 * 100  # four extents and the plaquette, then links
    data[link : link + 9 * 16] = struct.pack("<d", number) * 18
    path.write_bytes(data)
    said = quarksmith.refuses("info", "u.dat", status=1)
    assert text in said
    assert "link " in said and "of site (" in said
