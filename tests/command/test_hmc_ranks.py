"""Trajectories with quarks as several ranks: the same bits as one process, whatever the grid."""

import ctypes
import json
import re

import numpy as np
import pytest
from conftest import BUILD
from independent import hdf5_of
from test_hmc import CASES, DATA, QUARKS, close, described
from test_ranks import Job, mpirun, several_ranks  # noqa: F401  (fixtures)

KEYS = ("kinetic", "actions", "dH", "forces", "accepted", "plaquette")
GRIDS = ((2, "1,1,1,2"), (4, "1,1,2,2"))


def on_ranks(job: Job, ranks: int, grid: str, *arguments: object) -> list[dict]:
    """What the trajectories of one process or several gave."""
    line = ("hmc", *arguments, "--json", "out.json", "--overwrite", "--device", "cpu")
    job(ranks, *line, *(("--grid", grid) if ranks > 1 else ()))
    found = job.json("out.json")["trajectories"]
    assert found and all(t["dH"] != 0 for t in found)
    return [{key: t[key] for key in KEYS} for t in found]


@pytest.mark.parametrize("name", QUARKS)
def test_every_quark_has_the_bits_of_one_process(mpirun, name):  # noqa: F811
    # Hops of three sites need parts of at least four.
    wide = name in ("asqtad", "hisq")
    extents = "[4, 8, 8, 8]" if wide else "[4, 4, 8, 8]"
    text = described(name, 1).replace("[4, 4, 4, 4]", extents).replace("[6, 6, 6, 6]", extents)
    # Fewer poles: their many iterations take long where ranks share processors.
    (mpirun.folder / "run.toml").write_text(text.replace("error = 1e-8", "error = 1e-5"))
    alone = on_ranks(mpirun, 1, "", "run.toml")
    ranks, grid = GRIDS[0] if wide or QUARKS[name][0] == "rational" else GRIDS[1]
    assert on_ranks(mpirun, ranks, grid, "run.toml") == alone, grid


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
def test_a_replay_has_the_bits_of_one_process(mpirun):  # noqa: F811
    case = DATA / "chroma_2_plus_2_gaugeact"
    line = (case / "run.toml", "--replay", case / "replay.h5")
    alone = on_ranks(mpirun, 1, "", *line)
    for ranks, grid in GRIDS:
        assert on_ranks(mpirun, ranks, grid, *line) == alone, grid


STEPS = 5
"""Of the trajectory of MILC."""


def twice_in_x(data, extents):
    """A field, x the fastest of its coordinates, on a lattice of twice the length in x."""
    field = np.frombuffer(data, np.uint8).reshape(extents[3], extents[2], extents[1], extents[0], -1)
    return np.concatenate([field, field], axis=3)


def links_twice(path, extents):
    """The same of a configuration in NERSC's format."""
    head, end, links = path.read_bytes().partition(b"END_HEADER\n")
    text = re.sub(r"(SITE_CRC|CREATOR).*\n", "", head.decode()).replace("DIMENSION_1 = 6", "DIMENSION_1 = 12")
    text = re.sub(r"(?<=CHECKSUM = )\w+", lambda sum: f"{2 * int(sum[0], 16) % 2**32:x}", text)
    path.write_bytes(text.encode() + end + twice_in_x(links, extents).tobytes())


def numbers_twice(source, target, names, extents):
    """The same of the numbers of a replay."""
    h5, none = hdf5_of(BUILD / "bin" / "quarksmith"), ctypes.c_int64(0)
    files = [ctypes.c_int64(h5.H5Fopen(str(source).encode(), 0, none))]
    files.append(ctypes.c_int64(h5.H5Fcreate(str(target).encode(), 2, none, none)))
    h5.H5Gclose(ctypes.c_int64(h5.H5Gcreate2(files[1], b"noise", none, none, none)))
    for name in names:
        data = ctypes.c_int64(h5.H5Dopen2(files[0], name.encode(), none))
        kind = ctypes.c_int64(h5.H5Dget_type(data))
        inner = (4, 3, 3) if name == "momenta" else (3,)
        buffer = ctypes.create_string_buffer(int(np.prod((*extents, *inner))) * 16)  # stored, they are compressed
        assert h5.H5Dread(data, kind, none, none, none, buffer) >= 0, name
        twice = twice_in_x(buffer.raw, extents).tobytes()
        shape = (extents[3], extents[2], extents[1], 2 * extents[0], *inner)
        sizes = (ctypes.c_uint64 * len(shape))(*shape)
        space = ctypes.c_int64(h5.H5Screate_simple(len(shape), sizes, None))
        new = ctypes.c_int64(h5.H5Dcreate2(files[1], name.encode(), kind, space, none, none, none))
        assert h5.H5Dwrite(new, kind, none, none, none, twice) >= 0, name
        for close_it, handle in ((h5.H5Dclose, new), (h5.H5Sclose, space), (h5.H5Tclose, kind), (h5.H5Dclose, data)):
            close_it(handle)
    for file in files:
        h5.H5Fclose(file)


@pytest.mark.skipif(not CASES, reason="set QUARKSMITH_DATA to the folder of reference data")
@pytest.mark.parametrize("steps", [1, STEPS])
def test_two_ranks_have_twice_the_numbers_of_milc_on_twice_its_lattice(quarksmith, mpirun, steps):  # noqa: F811
    """6^4 cannot be cut. Periodic in x, all fields there twice, its energies and norms are doubled.

    The first of its steps shows that for each force; where its trajectory ends, one process finds in test_hmc.py.
    """
    case, folder, extents = DATA / "milc_su3_rhmc_hisq", mpirun.folder, (6, 6, 6, 6)
    quarksmith("convert", case / "start.ildg", "start.nersc", "--bits", "64")
    links_twice(folder / "start.nersc", extents)
    text = (case / "run.toml").read_text().replace("[6, 6, 6, 6]", "[12, 6, 6, 6]")
    text = text.replace("= 1e-12", "= 1e-10")  # a hundredth of what is compared to
    length = float(re.search(r"^length = (\S+)", text, re.M)[1])
    for old, new in (
        ("start.ildg", "start.nersc"),
        (f"length = {length}", f"length = {length * steps / STEPS}"),
        (f"steps = {STEPS}", f"steps = {steps}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "run.toml").write_text(text)
    expected = json.loads((case / "expected.json").read_text())
    (wanted,), limits = expected["recomputed"], expected["tolerance"]
    names = ["momenta", *(f"noise/{m}" for m in wanted["actions"] if m != "gauge")]
    numbers_twice(case / "replay.h5", folder / "twice.h5", names, extents)
    (found,) = on_ranks(mpirun, 2, "2,1,1,1", "run.toml", "--replay", "twice.h5")
    whole = steps == STEPS
    for n in (0, 1) if whole else (0,):
        assert close(found["kinetic"][n] / 2, wanted["kinetic"][n], limits["recomputed"])
        for name, action in wanted["actions"].items():
            assert close(found["actions"][name][n] / 2, action[n], limits["recomputed"]), name
    for name, norms in wanted["forces"].items():
        for ours, theirs in zip(found["forces"][name], norms[: len(norms) * steps // STEPS], strict=True):
            assert abs(ours["norm2"] / 2 - theirs) <= limits["recomputed"] * theirs + limits["force_floor"], name
    if whole:
        assert abs(found["dH"] / 2 - wanted["dH"]) <= limits["recomputed_dH"]
        assert close(found["plaquette"], wanted["plaquette"], limits["recomputed"])
