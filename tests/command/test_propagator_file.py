"""What propagator files hold, and what becomes of damaged, interrupted and finished ones."""

import hashlib
import json
import shutil
import struct
import subprocess

import numpy as np
import pytest
from conftest import BUILD

WILSON = ("propagator", "--gauge", "hot:4,4,4,4:3", "--mass", "0.2")
WALL = ("propagator", "--gauge", "weak:0.3:4,4,4,4:3", "--action", "domain-wall", "--ls", "4", "--mass", "0.1")
HISQ = ("propagator", "--gauge", "weak:0.3:4,4,4,8:3", "--action", "hisq", "--mass", "0.4,0.1")


def numbers(result):
    """All that two ways to the same columns must have in common: everything."""
    return {key: result.get(key) for key in result if key != "solves"}


@pytest.mark.parametrize("command", [WILSON, WALL, HISQ], ids=["wilson", "domain-wall", "hisq"])
def test_correlators_come_from_the_file_to_the_bit(quarksmith, tmp_path, command):
    quarksmith(*command, "--out", "p.h5", "--correlators", "c.json")
    quarksmith("correlators", "p.h5", "--correlators", "again.json")
    assert quarksmith.json("again.json") == quarksmith.json("c.json")
    rerun = quarksmith(*command, "--out", "p.h5", "--correlators", "rerun.json")
    assert "finished" in rerun.stderr
    assert quarksmith.json("rerun.json") == quarksmith.json("c.json")
    if command is WALL:
        assert len(quarksmith.json("again.json")["residual_mass"]) == 4
    other = quarksmith.refuses(*command[:-1], "0.7", "--out", "p.h5", "--correlators", "x.json")
    assert "another calculation (mass" in other and not (tmp_path / "x.json").exists()


def test_smeared_sinks_need_the_same_links(quarksmith, tmp_path):
    quarksmith(*WILSON, "--out", "p.h5", "--sink", "gaussian:1.2,3", "--correlators", "c.json")
    again = ("correlators", "p.h5", "--sink", "gaussian:1.2,3", "--correlators", "again.json")
    assert "--gauge" in quarksmith.refuses(*again)
    assert "other links" in quarksmith.refuses(*again, "--gauge", "hot:4,4,4,4:4")
    quarksmith(*again, "--gauge", "hot:4,4,4,4:3")
    # The run smears its columns where they are, in the basis of its kernels: the same but for rounding.
    first, second = quarksmith.json("c.json"), quarksmith.json("again.json")
    rounding = 1e-14 * max(first["correlators"]["pion"])
    for group in ("correlators", "mesons"):
        for name, values in first.pop(group).items():
            assert np.array(second[group][name]) == pytest.approx(np.array(values), rel=1e-12, abs=rounding)
        del second[group]
    assert second == first


def test_info_tells_what_a_file_holds(quarksmith, tmp_path):
    quarksmith(*WILSON, "--out", "p.h5")
    run = quarksmith("info", "p.h5", "--json", "i.json")
    info = quarksmith.json("i.json")
    assert info["finished"] and len(info["columns"]) == 12 and "12 of 12 sound" in run.stdout
    assert all(c["state"] == "sound" and c["residual"] <= 1e-10 for c in info["columns"])
    provenance = info["provenance"]
    assert provenance["lattice"] == [4, 4, 4, 4] and provenance["mass"] == pytest.approx(0.2)
    assert provenance["boundary"] == [[1, 0], [1, 0], [1, 0], [-1, 0]]
    for key in ("solver", "precision", "even_odd", "links", "tolerance", "program_version", "gauge_digest"):
        assert provenance[key]


def test_other_links_of_the_same_name_are_not_mixed(quarksmith, tmp_path):
    for seed, folder in ((1, "a"), (2, "b")):
        (tmp_path / folder).mkdir()
        heat = ("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "hot", "--seed", seed)
        quarksmith(*heat, "--out", f"{folder}/u")
        quarksmith("convert", f"{folder}/u_00001.ildg", f"{folder}/u.openqcd")
    command = ("propagator", "--gauge", "a/u.openqcd", "--mass", "0.2")
    quarksmith(*command, "--out", "p.h5")
    refused = quarksmith.refuses(*command[:2], "b/u.openqcd", *command[3:], "--out", "p.h5", "--json", "c.json")
    assert "gauge_digest" in refused


def damage(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("command", [WILSON, WALL], ids=["wilson", "domain-wall"])
def test_damaged_columns_are_solved_again(quarksmith, tmp_path, command):
    quarksmith(*command, "--out", "p.h5", "--correlators", "c.json")
    shutil.copy(tmp_path / "p.h5", tmp_path / "q.h5")
    middle = (tmp_path / "p.h5").stat().st_size // 2  # inside some column: they take nearly all of the file
    damage(tmp_path / "p.h5", middle)
    assert "checksum" in quarksmith.refuses("correlators", "p.h5", "--json", "x.json", status=1)
    assert "checksum" in quarksmith.refuses("info", "p.h5", "--json", "i.json", status=1)
    assert [c["state"] for c in quarksmith.json("i.json")["columns"]].count("damaged") == 1
    assert "checksum" in quarksmith.refuses(*command, "--out", "p.h5", "--json", "x.json", status=1)
    (tmp_path / "p.h5").rename(tmp_path / "p.h5.part")
    run = quarksmith(*command, "--out", "p.h5", "--correlators", "d.json")
    assert run.stderr.count("solved again") == 1 and run.stderr.count("taken from") == 11
    assert numbers(quarksmith.json("d.json")) == numbers(quarksmith.json("c.json"))


def test_an_interrupted_staggered_run_goes_on(quarksmith, tmp_path):
    quarksmith(*HISQ, "--out", "whole.h5", "--correlators", "w.json")
    (tmp_path / "whole.h5").rename(tmp_path / "p.h5.part")
    damage(tmp_path / "p.h5.part", (tmp_path / "p.h5.part").stat().st_size // 2)
    run = quarksmith(*HISQ, "--out", "p.h5", "--correlators", "c.json")
    assert run.stderr.count("solved again") == 1 and run.stderr.count("taken from") == 2
    assert numbers(quarksmith.json("c.json")) == numbers(quarksmith.json("w.json"))


def test_files_cut_short_never_crash(quarksmith, tmp_path):
    quarksmith(*WILSON, "--out", "p.h5")
    whole = (tmp_path / "p.h5").read_bytes()
    for size in (8, 100, 1000, 5000, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.h5").write_bytes(whole[:size])
        run = quarksmith.refuses("correlators", "cut.h5", "--json", "x.json", status=1)
        assert "cut.h5" in run


SEAL = b"quarksmith seal 1\n"
"""The last bytes of a file of ours; docs/files.md."""


def without_seal(data):
    """What is left of it when another program has changed a file."""
    assert data.endswith(SEAL)
    (length,) = struct.unpack("<Q", data[-len(SEAL) - 8 : -len(SEAL)])
    return data[: len(data) - length - 8 - len(SEAL)]


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "without-seal"])
def test_garbage_in_the_structure_never_crashes(quarksmith, tmp_path, sealed):
    """The heap of variable-length strings, which carries no checksum and on which libhdf5 crashes, included."""
    quarksmith(*WILSON, "--out", "p.h5")
    whole = (tmp_path / "p.h5").read_bytes()
    if not sealed:
        whole = without_seal(whole)
    heap = whole.index(b"GCOL")
    places = [*range(0, heap, 499), *range(heap, heap + 4096, 97), *range(heap + 4096, heap + 12000, 499)]
    for at in [*places, *range(len(whole) - 1000, len(whole) - 4, 97)]:
        data = bytearray(whole)
        data[at : at + 4] = b"\xff\x7f\xfe\x01"
        (tmp_path / "bad.h5").write_bytes(bytes(data))
        run = subprocess.run(
            [BUILD / "bin" / "quarksmith", "info", "bad.h5"], cwd=tmp_path, capture_output=True, timeout=60
        )
        assert run.returncode in (0, 1), f"byte {at}: status {run.returncode}"
        if run.returncode == 0:
            assert b"12 of 12 sound" in run.stdout and run.stdout.decode() and not sealed, f"byte {at}"
        else:
            assert run.stderr.startswith(b"quarksmith: error: bad.h5: ") and run.stderr.count(b"\n") == 1, run.stderr


def test_a_crash_of_libhdf5_is_one_error(quarksmith, tmp_path):
    """This length of a string in the heap ends libhdf5 1.10 with a segmentation fault."""
    quarksmith(*WILSON, "--out", "p.h5")
    data = bytearray(without_seal((tmp_path / "p.h5").read_bytes()))
    heap = data.index(b"GCOL")
    data[heap + 24 : heap + 28] = b"\xff\x7f\xfe\x01"
    (tmp_path / "bad.h5").write_bytes(bytes(data))
    (tmp_path / "q.h5.part").write_bytes(bytes(data))
    assert "bad.h5: cannot be read as HDF5: libhdf5 crashed on it" in quarksmith.refuses("info", "bad.h5", status=1)
    assert "libhdf5 crashed on it" in quarksmith.refuses("correlators", "bad.h5", "--json", "x.json", status=1)
    message = quarksmith.refuses(*WILSON, "--out", "q.h5", status=1)
    assert "q.h5.part: " in message and "--overwrite discards it" in message
    quarksmith(*WILSON, "--out", "q.h5", "--overwrite")


def test_files_without_a_seal_are_read_and_continued(quarksmith, tmp_path):
    """Those of earlier versions, and those that another program has changed."""
    quarksmith(*WILSON, "--out", "p.h5", "--correlators", "c.json")
    data = without_seal((tmp_path / "p.h5").read_bytes())
    for name in ("q.h5", "r.h5.part"):
        (tmp_path / name).write_bytes(data)
    quarksmith("correlators", "q.h5", "--correlators", "q.json")
    damage(tmp_path / "r.h5.part", len(data) // 2)
    run = quarksmith(*WILSON, "--out", "r.h5", "--correlators", "r.json")
    assert run.stderr.count("solved again") == 1 and run.stderr.count("taken from") == 11
    for name in ("q.json", "r.json"):
        assert numbers(quarksmith.json(name)) == numbers(quarksmith.json("c.json"))


def test_a_seal_with_false_contents_is_refused(quarksmith, tmp_path):
    """A digest can be made for any structure: what it says is checked all the same."""
    quarksmith(*WILSON, "--out", "p.h5")
    whole = (tmp_path / "p.h5").read_bytes()
    end = len(without_seal(whole))
    head = whole[end : -len(SEAL) - 8 - 64]
    for at in range(0, min(len(head), 160), 4):
        for word in (0x7FFFFFFF, 0xFFFFFFFF):
            false = head[:at] + struct.pack("<I", word) + head[at + 4 :]
            body = false + hashlib.sha256(false + structure_of(whole, end, head)).hexdigest().encode()
            (tmp_path / "bad.h5").write_bytes(whole[:end] + body + struct.pack("<Q", len(body)) + SEAL)
            run = subprocess.run(
                [BUILD / "bin" / "quarksmith", "info", "bad.h5"], cwd=tmp_path, capture_output=True, timeout=60
            )
            assert run.returncode in (0, 1), f"byte {at}: status {run.returncode}"


def structure_of(whole, end, head):
    """All bytes but the numbers, by the places that the head of a seal gives: columns, report."""
    places = struct.unpack_from("<13Q", head, 2 + 4 + 16 + 8)
    spans = sorted([(p, 256 * 192) for p in places[:12]] + [(places[12], 12 * 128)])
    bounds = [0, *(b for p, n in spans for b in (p, p + n)), end]
    return b"".join(whole[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True))


def test_the_digest_of_a_seal_is_what_the_documentation_says(quarksmith, tmp_path):
    quarksmith(*WILSON, "--out", "p.h5")
    whole = (tmp_path / "p.h5").read_bytes()
    end = len(without_seal(whole))
    head, recorded = whole[end : -len(SEAL) - 8 - 64], whole[-len(SEAL) - 8 - 64 : -len(SEAL) - 8]
    assert hashlib.sha256(head + structure_of(whole, end, head)).hexdigest().encode() == recorded


def test_a_text_that_was_being_written_when_killed_is_written_again(quarksmith, tmp_path):
    """Of whatever length its partial file is; one that begins otherwise is nobody's to replace."""
    command = (*WILSON, "--out", "p.h5", "--correlators", "c.json")
    quarksmith(*command)
    text, partial = tmp_path / "c.json", tmp_path / "c.json.part"
    whole = text.read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole)):
        text.unlink()
        partial.write_bytes(whole[:length])
        quarksmith(*command)
        assert text.read_bytes() == whole and not partial.exists()
    text.unlink()
    partial.write_bytes(whole + b"more")
    assert "c.json.part: left by a run that was killed" in quarksmith.refuses(*command)
    assert partial.read_bytes() == whole + b"more" and not text.exists()
    quarksmith(*command, "--overwrite")
    assert quarksmith.json("c.json")["correlators"] == json.loads(whole)["correlators"] and not partial.exists()


def test_an_output_never_replaces_the_input(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    before = (tmp_path / "u_00001.ildg").read_bytes()
    (tmp_path / "link.json").symlink_to("u_00001.ildg")
    for name in ("u_00001.ildg", "link.json"):
        refused = quarksmith.refuses(*("propagator", "--gauge", "u_00001.ildg", "--mass", "0.2", "--correlators", name))
        assert "would replace" in refused
    for command in (
        ("links", "u_00001.ildg", "--fat", "u_00001.ildg"),
        ("smear", "stout", "u_00001.ildg", "u_00001.ildg"),
        ("convert", "u_00001.ildg", "./u_00001.ildg", "--bits", "32"),
        ("flow", "u_00001.ildg", "--time", "0.01", "--every", "0.01", "--out", "u_00001.ildg"),
    ):
        assert "would replace" in quarksmith.refuses(*command, "--overwrite")
    assert (tmp_path / "u_00001.ildg").read_bytes() == before


def test_other_tools_read_it(quarksmith, tmp_path):
    h5py = pytest.importorskip("h5py")
    quarksmith(*WILSON, "--out", "p.h5", "--json", "c.json")
    with h5py.File(tmp_path / "p.h5") as file:
        column = file["column/0/0"]
        assert column.dtype == complex and column.shape == (4, 4, 4, 4, 4, 3)
        assert [d.label for d in column.dims] == ["t", "z", "y", "x", "spin", "colour"]
        assert [len(d[0]) for d in column.dims] == [4, 4, 4, 4, 4, 3]
        assert isinstance(file.attrs["action"], str) and file.attrs["mass"] == pytest.approx(0.2)
        assert list(file.attrs["lattice"]) == [4, 4, 4, 4] and file.attrs["boundary"][3] == -1
        pion = sum((abs(file[f"column/{s}/{c}"][:]) ** 2).sum(axis=(1, 2, 3, 4, 5)) for s in range(4) for c in range(3))
        assert list(pion) == pytest.approx(quarksmith.json("c.json")["correlators"]["pion"], rel=1e-12)
        assert (file["report"]["residual"] <= 1e-10).all()


def test_what_other_tools_have_changed_is_read(quarksmith, tmp_path):
    h5py = pytest.importorskip("h5py")
    quarksmith(*WILSON, "--out", "p.h5", "--correlators", "c.json")
    shutil.copy(tmp_path / "p.h5", tmp_path / "edited.h5")
    with h5py.File(tmp_path / "edited.h5", "r+") as file:
        file.attrs["comment"] = "mine"
    with h5py.File(tmp_path / "p.h5") as file, h5py.File(tmp_path / "packed.h5", "w") as packed:
        for key, value in file.attrs.items():
            packed.attrs[key] = value
        packed["report"] = file["report"][:]
        for n in range(12):
            name = f"column/{n // 3}/{n % 3}"
            packed.create_dataset(name, data=file[name][:], compression="gzip")
    for name in ("edited", "packed"):
        quarksmith("correlators", f"{name}.h5", "--correlators", f"{name}.json")
        assert quarksmith.json(f"{name}.json")["correlators"] == quarksmith.json("c.json")["correlators"]


def test_a_doublet_goes_by_two_names_and_is_no_single_flavour(quarksmith, tmp_path):
    """`--action twisted-mass --epsilon E` is `twisted-doublet`, and a file says which of the two it is of."""
    line = ("propagator", "--gauge", "weak:0.3:4,4,4,4:1", "--mass", "0.5", "--mu", "0.1", "--tol", "1e-4")
    single, doublet = ("--action", "twisted-mass"), ("--action", "twisted-doublet", "--epsilon", "0.2")
    quarksmith(*line, *doublet, "--flavours", "0,1", "--out", "p.h5", "--json", "a.json")
    provenance = quarksmith.json("a.json")["provenance"]
    assert [provenance[k] for k in ("action", "epsilon", "flavours")] == ["twisted-mass", 0.2, [0, 1]]
    quarksmith(*line, *single, *doublet[2:], "--flavours", "0,1", "--out", "p.h5", "--json", "b.json")
    assert quarksmith.json("b.json") == quarksmith.json("a.json")
    assert "epsilon is '0.2" in quarksmith.refuses(*line, *single, "--out", "p.h5", "--json", "c.json")
    quarksmith(*line, *single, "--json", "one.json")
    assert quarksmith.json("one.json")["provenance"]["epsilon"] == 0
