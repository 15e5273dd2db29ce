"""No file is lost: existing ones are kept unless --overwrite, and no two runs write the same."""

import contextlib
import fcntl
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BUILD

SMALL = ("--lattice", "4,4,4,4")
UNIT = ("--gauge", "unit:4,4,4,4")
MASS = ("--mass", "1")

WRITERS = {
    "convert": (("convert", "u_00001.ildg", "out.nersc"), "out.nersc"),
    "smear": (("smear", "stout", "u_00001.ildg", "out.ildg"), "out.ildg"),
    "flow": (("flow", "u_00001.ildg", "--time", "0.1", "--out", "out.ildg"), "out.ildg"),
    "links": (("links", "u_00001.ildg", "--fat", "out.ildg"), "out.ildg"),
    "links long": (("links", "u_00001.ildg", "--long", "out.ildg"), "out.ildg"),
    "heatbath": (("heatbath", *SMALL, "--sweeps", "2", "--out", "out"), "out_00002.ildg"),
    "heatbath between": (
        ("heatbath", *SMALL, "--sweeps", "2", "--save-every", "1", "--out", "out"),
        "out_00001.ildg",
    ),
    "correlators": (("propagator", *UNIT, *MASS, "--correlators", "c.json"), "c.json"),
    "propagator": (("propagator", *UNIT, *MASS, "--out", "p.h5"), "p.h5"),
    "json": (("info", "u_00001.ildg", "--json", "i.json"), "i.json"),
    "csv": (("solve-bench", *UNIT, *MASS, "--solver", "cg", "--precision", "double", "--csv", "t.csv"), "t.csv"),
}


@pytest.fixture
def configuration(quarksmith):
    quarksmith("heatbath", *SMALL, "--sweeps", "1", "--start", "hot", "--out", "u")
    return quarksmith.folder / "u_00001.ildg"


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_over_unless_told_so(quarksmith, configuration, name):
    """Nor anything else: before the work it is clear that there is a place, and no lock is left."""
    line, out = WRITERS[name]
    target, precious = quarksmith.folder / out, quarksmith.folder / "precious"
    elsewhere = [f"none/{a}" if a.startswith(("out", "c.json", "p.h5", "i.json", "t.csv")) else a for a in line]
    assert "none" in quarksmith.refuses(*elsewhere, status=1)
    target.mkdir()
    assert out in quarksmith.refuses(*line)
    target.rmdir()
    precious.write_bytes(b"precious")
    for put in (lambda: target.symlink_to(precious), lambda: target.hardlink_to(precious)):
        put()
        before = sorted(p.name for p in quarksmith.folder.iterdir())
        message = quarksmith.refuses(*line)
        assert f"{out}: exists; " in message and "--overwrite" in message
        assert sorted(p.name for p in quarksmith.folder.iterdir()) == before
        target.unlink()
    target.write_bytes(b"old")
    quarksmith(*line, "--overwrite")
    assert target.read_bytes() != b"old" and precious.read_bytes() == b"precious"
    assert not list(quarksmith.folder.glob("*.part")) and not list(quarksmith.folder.glob("*.lock"))


def test_links_in_place_of_temporary_files_are_not_followed(quarksmith, configuration):
    content = configuration.read_bytes()
    (quarksmith.folder / "out.nersc.part").symlink_to(configuration)
    message = quarksmith.refuses("convert", configuration, "out.nersc", "--overwrite")
    assert "out.nersc.part: is no regular file; remove it" in message
    assert configuration.read_bytes() == content
    (quarksmith.folder / "o.nersc.lock").symlink_to(configuration)
    assert "o.nersc.lock" in quarksmith.refuses("convert", configuration, "o.nersc", status=1)
    assert configuration.read_bytes() == content


@pytest.mark.parametrize("content", [b"[[package]]\nname = 'quark'\n", b""], ids=["text", "empty"])
@pytest.mark.parametrize("place", ["file", "hard link"])
def test_a_file_of_the_name_of_a_lock_that_is_none_stays(quarksmith, configuration, content, place):
    """`--out poetry` beside a poetry.lock."""
    lock, other = quarksmith.folder / "poetry.lock", quarksmith.folder / "other"
    other.write_bytes(content)
    lock.hardlink_to(other) if place == "hard link" else lock.write_bytes(content)
    for line in (
        ("heatbath", *SMALL, "--sweeps", "1", "--out", "poetry"),
        ("convert", configuration, "poetry", "--format", "ildg"),
        ("convert", configuration, "poetry", "--format", "ildg", "--overwrite"),
    ):
        message = quarksmith.refuses(*line, status=1)
        assert "poetry: cannot lock it: poetry.lock is " in message and "choose another name" in message
    assert lock.read_bytes() == other.read_bytes() == content


def test_what_a_killed_run_left_is_not_taken_for_another_file(quarksmith, configuration):
    (quarksmith.folder / "o.nersc.part").write_bytes(b"unfinished")
    assert "left by a run that was killed" in quarksmith.refuses("convert", configuration, "o.nersc")
    (quarksmith.folder / "o.nersc.lock").write_bytes(b"host old, process 1\n")  # of nobody alive: no hindrance
    quarksmith("convert", configuration, "o.nersc", "--overwrite")
    assert not (quarksmith.folder / "o.nersc.lock").exists()
    assert "part; choose another" in quarksmith.refuses("convert", configuration, "x.part", "--format", "ildg")


def test_a_name_in_use_is_refused_with_its_owner(quarksmith, configuration):
    lock = quarksmith.folder / "o.nersc.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("host h, process 17\n")
        file.flush()
        message = quarksmith.refuses("convert", configuration, "o.nersc", "--overwrite", status=1)
        assert "o.nersc: in use by another run (host h, process 17)" in message
        assert lock.exists()
    quarksmith("convert", configuration, "o.nersc")


def test_a_lock_is_never_without_its_owner(quarksmith, configuration, tmp_path):
    """One that a run killed in between has left would be anybody's empty file, and its name of no further use."""
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        pytest.skip("this file system has no files without a name")
    line = [BUILD / "bin" / "quarksmith", "convert", configuration, "o.nersc", "--overwrite"]
    sizes = set()
    for _ in range(10):
        run = subprocess.Popen(line, cwd=quarksmith.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None:
            with contextlib.suppress(OSError):
                sizes.add((quarksmith.folder / "o.nersc.lock").stat().st_size)
    assert sizes and min(sizes) > 0


def test_two_runs_on_one_propagator(quarksmith, tmp_path):
    line = ["propagator", "--gauge", "weak:0.3:8,8,8,8:1", "--mass", "0.01", "--tol", "1e-12", "--out", "p.h5"]
    first = subprocess.Popen(
        [BUILD / "bin" / "quarksmith", *line], cwd=tmp_path, stderr=subprocess.PIPE, env=os.environ, text=True
    )
    while not (tmp_path / "p.h5.part").exists():
        time.sleep(0.01)
    for more in ((), ("--overwrite",)):
        message = quarksmith.refuses(*line, *more, status=1)
        assert f"in use by another run (host {os.uname().nodename}, process {first.pid})" in message
    first.terminate()
    first.communicate(timeout=60)


def test_two_conversions_to_one_name(quarksmith, configuration):
    """Whoever comes second is refused or replaces the whole file: never a mixture."""
    quarksmith("heatbath", *SMALL, "--sweeps", "1", "--start", "hot", "--seed", "5", "--out", "v")
    whole = set()
    for name in ("u", "v"):
        quarksmith("convert", f"{name}_00001.ildg", f"{name}.nersc")
        whole.add((quarksmith.folder / f"{name}.nersc").read_bytes())
    for _ in range(8):
        runs = [
            subprocess.Popen(
                [BUILD / "bin" / "quarksmith", "convert", f"{name}_00001.ildg", "x.nersc", "--overwrite"],
                cwd=quarksmith.folder,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in ("u", "v")
        ]
        ends = [(run.communicate()[1], run.returncode) for run in runs]
        assert any(status == 0 for _, status in ends)
        assert all(status == 0 or "in use by another run" in text for text, status in ends), ends
        assert (quarksmith.folder / "x.nersc").read_bytes() in whole
        assert not list(quarksmith.folder.glob("*.part")) and not list(quarksmith.folder.glob("*.lock"))


HMC = """
[lattice]
extents = [4, 4, 4, 4]
gauge = "{gauge}"
[trajectory]
length = 0.1
count = 1
[[integrator]]
kind = "leapfrog"
steps = 2
monomials = ["gauge"]
[[monomial]]
name = "gauge"
kind = "gauge"
action = "wilson"
beta = 5.5
"""
MEASURE = """
[configurations]
files = ["u_00001.ildg"]
[[source]]
name = "point"
at = [0, 0, 0, 0]
[[quark]]
name = "light"
action = "wilson"
mass = 0.4
{key}
[[propagator]]
name = "p"
quark = "light"
source = "point"
[[correlator]]
name = "pion"
kind = "meson"
quarks = ["p", "p"]
gammas = ["g5"]
"""


def test_what_a_run_file_reads_is_no_output(quarksmith, configuration, tmp_path):
    """Also where the run writes it later, or reads it once its names are taken."""
    quarksmith("convert", configuration, "run_00001.ildg")
    quarksmith("eigen", *("--gauge", "u_00001.ildg", "--mass", 0.4, "--count", 2, "--tol", 1e-5, "--out", "e_00001.h5"))
    (tmp_path / "mg.toml").write_text("rounds = 1\n")
    (tmp_path / "hmc.toml").write_text(HMC.format(gauge="run_00001.ildg"))
    (tmp_path / "deflated.toml").write_text(MEASURE.format(key='deflation = "e"'))
    (tmp_path / "mg_run.toml").write_text(MEASURE.format(key='solver = "multigrid"\nmg = "mg.toml"'))
    for line, kept in (
        (("hmc", "hmc.toml", "--out", "run"), "run_00001.ildg"),
        (("measure", "deflated.toml", "--out", "e_00001.h5"), "e_00001.h5"),
        (("measure", "mg_run.toml", "--out", "mg.toml"), "mg.toml"),
    ):
        content = (tmp_path / kept).read_bytes()
        assert "would replace" in quarksmith.refuses(*line, "--overwrite")
        assert (tmp_path / kept).read_bytes() == content


def test_odd_files_are_told(quarksmith, tmp_path):
    """FIFOs, devices, bombs, text that cannot have the extents: one clear error each, at once and without memory."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero"):
        assert "is a device, pipe or socket" in quarksmith.refuses("info", name, status=1)
        assert "is a device, pipe or socket" in quarksmith.refuses("convert", name, "x.ildg", status=1)
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"0 " * (1 << 19))
    assert "unpacks to more than" in quarksmith.refuses("info", "bomb.gz", "--lattice", "4,4,4,4", status=1)
    (tmp_path / "text").write_text("1.0\n" * 1000)
    message = quarksmith.refuses("info", "text", "--lattice", "128,128,128,128", status=1)
    assert "4000 bytes cannot be the" in message
    with (tmp_path / "sparse").open("wb") as file:
        file.write(b"1.0\n" * 20)
        file.truncate(10 << 30)
    assert "cannot be the" in quarksmith.refuses("info", "sparse", "--lattice", "4,4,4,4", status=1)


def test_output_that_cannot_be_written_is_a_failure(quarksmith, configuration):
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [BUILD / "bin" / "quarksmith", "info", configuration],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 1
    assert "standard output cannot be written: No space left on device" in run.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_with_what_was_kept(quarksmith, tmp_path, name):
    files = ("--out", "p.h5", "--json", "j.json", "--correlators", "c.json")
    line = ["propagator", "--gauge", "weak:0.3:8,8,8,8:1", "--mass", "0.1", "--tol", "1e-12", *files]
    number = getattr(signal, name)
    run = subprocess.Popen(
        [BUILD / "bin" / "quarksmith", *line],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # jobs in the background ignore SIGINT
    )
    while not (tmp_path / "p.h5.part").exists():
        time.sleep(0.01)
    run.send_signal(number)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 128 + number
    assert f"quarksmith: error: ended by {name}; " in errors and "p.h5.part" in errors
    assert (tmp_path / "p.h5.part").exists() and not list(tmp_path.glob("*.lock"))
    part = quarksmith.json("j.json")
    assert part["finished"] is False and "correlators" not in part and not (tmp_path / "c.json").exists()
    assert "j.json" in quarksmith.refuses(*line[:4], "0.2", *line[5:])
    assert "mass" in quarksmith.refuses(*line[:4], "0.2", *line[5:-4])  # p.h5.part alone
    quarksmith(*line)
    assert len(quarksmith.json("j.json")["solves"]) == 12


def test_a_gzipped_file_takes_no_memory_for_what_follows_the_links(quarksmith, configuration, tmp_path):
    """400 MB of zeros behind a configuration; and one that is larger than what is held at once is read all the same."""
    quarksmith("convert", configuration, "u.nersc")
    with gzip.open(tmp_path / "padded.gz", "wb", compresslevel=1) as file:
        file.write((tmp_path / "u.nersc").read_bytes())
        for _ in range(400):
            file.write(bytes(1 << 20))
    # What a process had as a fork of this one would count as its own, so that a small one starts it.
    starts = "import os, sys; _, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0); "
    starts += "print(os.waitstatus_to_exitcode(status), used.ru_maxrss)"
    line = [sys.executable, "-c", starts, str(BUILD / "bin" / "quarksmith"), "info", "padded.gz"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, run.stdout.split()[-2:])
    assert status == 1 and "padded.gz" in run.stderr
    assert kilobytes < 250 << 10, f"{kilobytes} kB"
