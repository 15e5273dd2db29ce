"""Lattice expressions as several ranks: apply, flow, smear, hmc and smeared sources give what one process gives."""

import pytest
from conftest import BUILD, ROOT
from test_ranks import ENVIRONMENT, mpirun, several_ranks  # noqa: F401  (fixtures)

from generator.__main__ import main

GRIDS = ((2, "2,1,1,1"), (4, "1,1,2,2"))
needs_build = pytest.mark.skipif(not (BUILD / "bin" / "quarksmith_tests").exists(), reason="the tests were not built")


@pytest.mark.parametrize(
    ("kind", "ranks", "grid"),
    [(("stout", "--rho", "0.1"), *GRIDS[1]), (("ape", "--links", "space"), *GRIDS[0]), (("hyp",), *GRIDS[1])],
    ids=lambda k: k[0] if isinstance(k, tuple) else "",
)
def test_smeared_links_are_those_of_one_process(quarksmith, mpirun, ranks, grid, kind):  # noqa: F811
    line = ("smear", kind[0], "weak:0.3:4,4,8,8:1")
    rest = (*kind[1:], "--steps", "2")
    quarksmith(*line, "alone.ildg", *rest)
    mpirun(ranks, *line, "together.ildg", *rest, "--grid", grid)
    assert (mpirun.folder / "together.ildg").read_bytes() == (mpirun.folder / "alone.ildg").read_bytes()


@pytest.mark.parametrize(("ranks", "grid"), GRIDS[:1])
def test_flow_is_that_of_one_process(quarksmith, mpirun, ranks, grid):  # noqa: F811
    line = ("flow", "weak:0.3:4,4,8,8:1", "--step", "0.02", "--time", "0.06", "--every", "0.04")
    quarksmith(*line, "--json", "alone.json", "--out", "alone.ildg")
    run = mpirun(ranks, *line, "--json", "together.json", "--out", "together.ildg", "--grid", grid)
    assert run.stdout.count("s a step") == 1
    assert (mpirun.folder / "together.ildg").read_bytes() == (mpirun.folder / "alone.ildg").read_bytes()
    one, all_ranks = (mpirun.json(f"{name}.json") for name in ("alone", "together"))
    assert all_ranks["flow"] == one["flow"]
    assert all_ranks["lattice"] == one["lattice"] == [4, 4, 8, 8]


@pytest.mark.parametrize(("ranks", "grid"), GRIDS[1:])
def test_trajectories_are_those_of_one_process(quarksmith, mpirun, ranks, grid):  # noqa: F811
    text = (ROOT / "examples" / "hmc_gauge.toml").read_text().replace("count = 20", "count = 2")
    (mpirun.folder / "run.toml").write_text(text.replace("[4, 4, 4, 8]", "[4, 4, 8, 8]"))
    quarksmith("hmc", "run.toml", "--json", "alone.json", "--out", "alone")
    mpirun(ranks, "hmc", "run.toml", "--json", "together.json", "--out", "together", "--grid", grid)
    assert (mpirun.folder / "together_00002.ildg").read_bytes() == (mpirun.folder / "alone_00002.ildg").read_bytes()
    one, all_ranks = (mpirun.json(f"{name}.json")["trajectories"] for name in ("alone", "together"))
    for key in ("kinetic", "actions", "dH", "forces", "accepted", "plaquette"):
        assert [t[key] for t in one] == [t[key] for t in all_ranks]


@pytest.mark.parametrize(
    ("call", "ranks", "grid"),
    [
        (("jacobi_step", "kappa=0.2", "source=point:0,0,0,7", "--precision", "single"), *GRIDS[0]),
        (("stout4_step", "rho=0.1", "--out", "{}.ildg"), *GRIDS[1]),
        (("clover_energy", "mu=x", "nu=y", "rho=z", "sigma=t"), *GRIDS[0]),
    ],
    ids=lambda call: call[0] if isinstance(call, tuple) else "",
)
def test_what_is_applied_is_that_of_one_process(quarksmith, mpirun, ranks, grid, call):  # noqa: F811
    def words(name):
        return [w.format(name) for w in ("apply", *call, "--gauge", "weak:0.3:4,4,8,8:1", "--json", f"{name}.json")]

    quarksmith(*words("alone"))
    mpirun(ranks, *words("together"), "--grid", grid)
    one, all_ranks = (mpirun.json(f"{name}.json") for name in ("alone", "together"))
    for result in (one, all_ranks):
        del result["seconds"]
    assert all_ranks == one
    if "--out" in call:
        assert (mpirun.folder / "together.ildg").read_bytes() == (mpirun.folder / "alone.ildg").read_bytes()


@pytest.mark.parametrize(("ranks", "grid"), GRIDS[1:])
def test_a_jacobi_source_is_that_of_one_process(quarksmith, mpirun, ranks, grid):  # noqa: F811
    line = ("propagator", "--gauge", "weak:0.3:4,4,8,8:5", "--mass", "0.5", "--device", "cpu", "--tol", "1e-9")
    smeared = ("--source", "jacobi:0,3,4,7:0.2,5,3.5", "--sink", "jacobi:0.2,5,3.5", "--smear-links", "stout:0.1,2")
    quarksmith(*line, *smeared, "--correlators", "alone.json")
    mpirun(ranks, *line, *smeared, "--correlators", "together.json", "--grid", grid)
    one, all_ranks = (mpirun.json(f"{name}.json")["correlators"]["pion"] for name in ("alone", "together"))
    assert all_ranks == pytest.approx(one, rel=1e-7)


@needs_build
def test_parts_must_be_as_long_as_an_expression_reaches(forget_expressions, quarksmith, mpirun, tmp_path, monkeypatch):  # noqa: F811
    (tmp_path / "far.py").write_text(
        "from generator.language import *\n\n\n@expression\ndef far(u: Links, psi: Spinor) -> Spinor:\n"
        "    three = shift(shift(shift(psi, +t), +t), +t)\n"
        "    return u[x] * shift(three, +y) + shift(shift(psi, -x), -x)\n"
    )
    run = ["far", "--gauge", "weak:0.3:8,4,4,8:1", "--json", str(tmp_path / "alone.json")]
    assert main(["expression", str(tmp_path / "far.py"), "--build", str(BUILD), "--run", *run]) == 0
    module = max((BUILD / "kernels").glob("far_*/module.so"), key=lambda p: p.stat().st_mtime)
    monkeypatch.setitem(ENVIRONMENT, "QUARKSMITH_KERNELS", str(module))
    for ranks, grid in ((2, "1,1,1,2"), (4, "2,2,1,1"), (4, "4,1,1,1")):
        mpirun(ranks, "apply", *run[:3], "--json", "together.json", "--overwrite", "--grid", grid)
        assert quarksmith.json("together.json")["out"] == quarksmith.json("alone.json")["out"]
    message = mpirun.error(4, "apply", *run[:3], "--grid", "1,1,1,4")
    assert "far reads 3 sites beyond its own along t, but a part of 8x4x4x8 on 4 ranks has 8x4x4x2" in message
    assert "use another --grid or fewer ranks" in message
