"""Trajectories with quarks as several ranks: what one process gives, but for the rounding of sums over sites."""

import json

import pytest
from test_hmc import CASES, DATA, QUARKS, described
from test_ranks import Job, mpirun, several_ranks  # noqa: F401  (fixtures)

GRIDS = ((2, "1,1,1,2"), (4, "1,1,2,2"), (4, "2,1,1,2"))


def on_ranks(job: Job, ranks: int, grid: str, *arguments: object) -> list[dict]:
    """What the trajectories of one process or several gave."""
    line = ("hmc", *arguments, "--json", "out.json", "--overwrite", "--device", "cpu")
    job(ranks, *line, *(("--grid", grid) if ranks > 1 else ()))
    return json.loads((job.folder / "out.json").read_text())["trajectories"]


def assert_same(found: list[dict], alone: list[dict], grid: str) -> None:
    """Momenta and noise have the same bits; solves begin with sums that are rounded otherwise."""
    assert len(found) == len(alone) > 0
    for ours, one in zip(found, alone, strict=True):
        assert one["dH"] != 0
        assert ours["kinetic"][0] == one["kinetic"][0], grid
        assert ours["kinetic"][1] == pytest.approx(one["kinetic"][1], rel=1e-12), grid
        assert ours["dH"] == pytest.approx(one["dH"], abs=1e-10), grid
        assert ours["plaquette"] == pytest.approx(one["plaquette"], rel=1e-13), grid
        assert ours["accepted"] == one["accepted"]
        for name, energies in one["actions"].items():
            assert ours["actions"][name] == pytest.approx(energies, rel=1e-13), (grid, name)
            norms, theirs = ([f["norm2"] for f in t["forces"][name]] for t in (ours, one))
            assert norms == pytest.approx(theirs, rel=1e-12), (grid, name)


@pytest.mark.parametrize("name", QUARKS)
def test_every_quark_is_that_of_one_process(mpirun, name):  # noqa: F811
    # Hops of three sites need parts of as many: 8 in the directions that are cut.
    wide = name in ("asqtad", "hisq")
    extents = "[4, 4, 8, 8]" if wide else "[4, 2, 4, 4]"
    text = described(name, 1).replace("[4, 4, 4, 4]", extents).replace("[6, 6, 6, 6]", extents)
    # Fewer poles: their many iterations take long where ranks share processors.
    (mpirun.folder / "run.toml").write_text(text.replace("error = 1e-12", "error = 1e-5"))
    alone = on_ranks(mpirun, 1, "", "run.toml")
    for ranks, grid in GRIDS[:1] if wide or QUARKS[name][0] == "rational" else GRIDS:
        assert_same(on_ranks(mpirun, ranks, grid, "run.toml"), alone, grid)


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
def test_a_replay_is_that_of_one_process(mpirun):  # noqa: F811
    case = DATA / "chroma_2_plus_2_gaugeact"
    line = (case / "run.toml", "--replay", case / "replay.h5")
    alone = on_ranks(mpirun, 1, "", *line)
    for ranks, grid in GRIDS:
        assert_same(on_ranks(mpirun, ranks, grid, *line), alone, grid)
