"""A full disk, or a limit on the size of files: one error, the old file as it was, and nothing that bars a rerun."""

import os
import resource
import subprocess

import pytest
from test_outputs import SMALL, WRITERS, configuration  # noqa: F401

ROOM = 100
"""Bytes: enough for the name of a lock's owner, for no output."""


def limited(size):
    """For a child: files have so many bytes at most. What that sends is the command's to handle."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(("name", "size"), [*((name, ROOM) for name in WRITERS), ("propagator", 0)])
def test_a_limit_on_the_size_of_files(quarksmith, configuration, name, size):  # noqa: F811
    line, out = WRITERS[name]
    target = quarksmith.folder / out
    target.write_bytes(b"precious")
    before = sorted(p.name for p in quarksmith.folder.iterdir())
    message = quarksmith.refuses(*line, "--overwrite", status=1, preexec_fn=limited(size))
    assert "File too large" in message and out.split("_")[0] in message
    assert target.read_bytes() == b"precious"
    assert sorted(p.name for p in quarksmith.folder.iterdir()) == before
    target.unlink()
    quarksmith(*line)
    assert target.stat().st_size > ROOM


@pytest.fixture
def small_disk(quarksmith):
    """A folder on a file system of its own, of 128 KiB."""
    folder = quarksmith.folder / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mount.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(path):
    """Takes all that is left of a file system."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


@pytest.mark.parametrize(
    ("name", "full"), [*((name, True) for name in WRITERS), *((name, False) for name in ("convert", "propagator"))]
)
def test_a_full_disk(quarksmith, configuration, small_disk, name, full):  # noqa: F811
    line, out = WRITERS[name]
    outputs = ("out", "c.json", "p.h5", "i.json", "t.csv")
    line = [f"disk/{a}" if a.startswith(outputs) else a for a in line]
    target = small_disk / out
    target.write_bytes(b"precious")
    if full:
        fill(small_disk / "filler")
    before = sorted(p.name for p in small_disk.iterdir())
    message = quarksmith.refuses(*line, "--overwrite", status=1)
    assert "No space left on device" in message and out.split("_")[0] in message
    assert target.read_bytes() == b"precious"
    assert sorted(p.name for p in small_disk.iterdir()) == before
    if full:
        (small_disk / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    quarksmith(*line, "--overwrite")
    assert target.read_bytes() != b"precious"


def test_what_was_saved_before_the_disk_was_full_is_kept(quarksmith, small_disk):
    """A configuration of 4^4 has 147 KiB."""
    subprocess.run(["mount", "-o", "remount,size=400k", small_disk], check=True)
    line = ("heatbath", *SMALL, "--seed", "3", "--sweeps", "4", "--save-every", "1", "--out")
    quarksmith(*line, "whole")
    message = quarksmith.refuses(*line, "disk/u", status=1)
    assert "No space left on device" in message and "disk/u_00003.ildg" in message
    assert sorted(p.name for p in small_disk.iterdir()) == ["u_00001.ildg", "u_00002.ildg"]
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    quarksmith("heatbath", "--resume", "disk/u_00002.ildg", "--sweeps", "2", "--save-every", "1", "--out", "disk/u")
    for n in range(1, 5):
        name = f"_{n:05}.ildg"
        assert (small_disk / f"u{name}").read_bytes() == (quarksmith.folder / f"whole{name}").read_bytes()
