"""Trajectories with quarks as several ranks: the same bits as one process, whatever the grid."""

import json

import pytest
from test_hmc import CASES, DATA, QUARKS, described
from test_ranks import Job, mpirun, several_ranks  # noqa: F401  (fixtures)

KEYS = ("kinetic", "actions", "dH", "forces", "accepted", "plaquette")
GRIDS = ((2, "1,1,1,2"), (4, "1,1,2,2"))


def on_ranks(job: Job, ranks: int, grid: str, *arguments: object) -> list[dict]:
    """What the trajectories of one process or several gave."""
    line = ("hmc", *arguments, "--json", "out.json", "--overwrite", "--device", "cpu")
    job(ranks, *line, *(("--grid", grid) if ranks > 1 else ()))
    found = json.loads((job.folder / "out.json").read_text())["trajectories"]
    assert found and all(t["dH"] != 0 for t in found)
    return [{key: t[key] for key in KEYS} for t in found]


@pytest.mark.parametrize("name", QUARKS)
def test_every_quark_has_the_bits_of_one_process(mpirun, name):  # noqa: F811
    # Parts have room for as many lanes as the whole: clover terms are rounded otherwise in one lane. Hops of three
    # sites need more.
    wide = name in ("asqtad", "hisq")
    extents = "[4, 8, 8, 8]" if wide else "[4, 4, 8, 8]"
    text = described(name, 1).replace("[4, 4, 4, 4]", extents).replace("[6, 6, 6, 6]", extents)
    # Fewer poles: their many iterations take long where ranks share processors.
    (mpirun.folder / "run.toml").write_text(text.replace("error = 1e-8", "error = 1e-5"))
    alone = on_ranks(mpirun, 1, "", "run.toml")
    for ranks, grid in GRIDS[:1] if wide or QUARKS[name][0] == "rational" else GRIDS:
        assert on_ranks(mpirun, ranks, grid, "run.toml") == alone, grid


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
def test_a_replay_has_the_bits_of_one_process(mpirun):  # noqa: F811
    case = DATA / "chroma_2_plus_2_gaugeact"
    line = (case / "run.toml", "--replay", case / "replay.h5")
    alone = on_ranks(mpirun, 1, "", *line)
    for ranks, grid in GRIDS:
        assert on_ranks(mpirun, ranks, grid, *line) == alone, grid
