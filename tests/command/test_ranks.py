"""The command as several ranks: what one process gives, errors told once, no rank left waiting."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BUILD, skip_what_wide_has

LAUNCH = (
    *("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"),
    *("--mca", "odls_base_sigkill_timeout", "0"),  # a job that fails waits a second otherwise
)
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
AT_ONCE = 30
"""Seconds within which a job in trouble must have ended, beside other tests."""


class Job:
    """`mpirun` on the built command, in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def line(self, ranks: int, *arguments: object) -> list[str]:
        """The words of a command line."""
        return [*LAUNCH, "-n", str(ranks), str(BUILD / "bin" / "quarksmith"), *map(str, arguments)]

    def run(self, line: list[str], status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Runs a job; `None` is any status but 0. A job that fails must do so at once."""
        start = time.monotonic()
        run = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        text = f"status {run.returncode}\n{run.stdout}\n{run.stderr}"
        if status == 0 and run.returncode != 0:
            skip_what_wide_has(run.stderr)
        assert run.returncode == status if status is not None else run.returncode != 0, text
        if status != 0:
            assert time.monotonic() - start < AT_ONCE, text
        return run

    def __call__(self, ranks: int, *arguments: object, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        return self.run(self.line(ranks, *arguments), status)

    def json(self, name: str) -> dict:
        """What it has written."""
        return json.loads((self.folder / name).read_text())

    def error(self, ranks: int, *arguments: object, status: int | None = 2) -> str:
        """The one error of a job that must fail."""
        return only_error(self(ranks, *arguments, status=status).stderr)


def only_error(stderr: str) -> str:
    """The line of the error, which stands there once."""
    errors = [line for line in stderr.splitlines() if line.startswith("quarksmith: error: ")]
    assert len(errors) == 1, stderr
    return errors[0]


@pytest.fixture(scope="module")
def several_ranks():
    """Skips where this build cannot run as several ranks."""
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing (openmpi-bin)")
    line = [*LAUNCH, "-n", "2", str(BUILD / "bin" / "quarksmith"), "devices"]
    run = subprocess.run(line, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    if "built without MPI" in run.stderr:
        pytest.skip("the library was built without MPI")


@pytest.fixture
def mpirun(tmp_path, several_ranks):
    """A job in a fresh folder."""
    return Job(tmp_path)


@pytest.fixture
def configuration(quarksmith):
    """The name of a configuration in the folder of the test."""
    quarksmith("heatbath", "--lattice", "4,4,4,8", "--sweeps", "1", "--start", "hot", "--out", "u")
    return "u_00001.ildg"


def test_info_is_that_of_one_process(quarksmith, mpirun, configuration):
    """Slices in time of two sites are chosen without being asked for."""
    alone = quarksmith("info", configuration, "--json", "alone.json").stdout
    assert mpirun(4, "info", configuration, "--json", "together.json").stdout == alone
    one, all_ranks = (mpirun.json(f"{name}.json") for name in ("alone", "together"))
    for key in ("plaquette", "space_plaquette", "time_plaquette", "link_trace"):
        assert all_ranks.pop(key) == pytest.approx(one.pop(key), abs=1e-14)
    assert all_ranks == one


@pytest.mark.parametrize(
    ("kind", "ranks", "grid"),
    [("ildg", 2, "1,1,1,2"), ("nersc", 4, "2,2,1,1"), ("milc", 4, "1,1,1,4"), ("openqcd", 2, "2,1,1,1")],
)
def test_converted_files_are_those_of_one_process(quarksmith, mpirun, configuration, kind, ranks, grid):
    quarksmith("convert", configuration, "alone", "--format", kind)
    mpirun(ranks, "convert", configuration, "together", "--format", kind, "--grid", grid)
    assert (mpirun.folder / "together").read_bytes() == (mpirun.folder / "alone").read_bytes()


ACTION = ("--gauge", "weak:0.3:4,4,4,8:5", "--mass", "0.1", "--device", "cpu")


@pytest.mark.parametrize(
    ("ranks", "grid", "extra"),
    [
        (4, "2,1,2,1", ("--boundary", "0.3,0,0,1")),
        (
            4,
            "2,1,2,1",
            ("--action", "clover", "--csw", "1.1", "--source", "gaussian:3,0,1,6:2,4", "--sink", "gaussian:1.5,3"),
        ),
        (2, "1,1,1,2", ("--reconstruct", "12t", "--source", "wall:5", "--solver", "cg")),
        (2, "1,1,1,2", ("--precision", "double-half", "--source", "noise:3,z4")),
    ],
    ids=["wilson", "clover and smearing", "temporal gauge", "mixed precision"],
)
def test_propagator_is_that_of_one_process(quarksmith, mpirun, ranks, grid, extra):
    quarksmith("propagator", *ACTION, *extra, "--correlators", "alone.json", "--out", "alone.h5")
    mpirun(
        ranks, "propagator", *ACTION, *extra, "--correlators", "together.json", "--out", "together.h5", "--grid", grid
    )
    one, all_ranks = (mpirun.json(f"{name}.json") for name in ("alone", "together"))
    assert all_ranks["lattice"] == one["lattice"]
    assert all_ranks["plaquette"] == pytest.approx(one["plaquette"], abs=1e-14)
    for ours, alone in zip(all_ranks["solves"], one["solves"], strict=True):
        assert ours["iterations"] == pytest.approx(alone["iterations"], rel=0.05, abs=2)
        assert ours["residual"] <= 1e-10
    for name in ("pion", "rho"):
        size = max(map(abs, one["correlators"][name]))
        assert all_ranks["correlators"][name] == pytest.approx(one["correlators"][name], rel=1e-8, abs=1e-10 * size)
    for ours, alone in zip(all_ranks["correlators"]["proton"], one["correlators"]["proton"], strict=True):
        assert abs(complex(*ours) - complex(*alone)) <= 1e-8 * abs(complex(*alone)) + 1e-12
    assert (mpirun.folder / "together.h5").exists()


def over_hosts(mpirun, hosts, *arguments):
    """The line of four ranks that count as several hosts."""
    line = mpirun.line(4, *arguments)
    return [*line[: len(LAUNCH)], "-x", f"QUARKSMITH_HOSTS={hosts}", *line[len(LAUNCH) :]]


def test_several_hosts_give_the_bits_of_one(mpirun):
    line = ("propagator", *ACTION, "--grid", "1,1,2,2", "--tol", "1e-6", "--correlators")
    for hosts in (1, 2, 4):
        mpirun.run(over_hosts(mpirun, hosts, *line, f"{hosts}.json"))
    one, *others = (mpirun.json(f"{hosts}.json")["correlators"] for hosts in (1, 2, 4))
    assert others == [one, one]
    policies = {}
    for hosts in (1, 2, 4):
        mpirun.run(over_hosts(mpirun, hosts, "devices", "--device", "cpu", "--json", "d.json", "--overwrite"))
        policies[hosts] = [name for name, state in mpirun.json("d.json")["policies"].items() if state == "used"]
    assert policies == {1: ["peer"], 2: ["mixed"], 4: ["overlap"]}


@pytest.mark.parametrize("hosts", ["3", "0", "two"])
def test_hosts_that_cannot_be_are_refused(mpirun, hosts):
    assert f"QUARKSMITH_HOSTS={hosts}" in mpirun.run(over_hosts(mpirun, hosts, "devices"), 2).stderr


def test_correlators_as_csv_and_one_writer(mpirun):
    run = mpirun(2, "propagator", *ACTION, "--tol", "1e-6", "--correlators", "c.csv")
    assert (mpirun.folder / "c.csv").read_text().count("\n") == 9
    assert run.stderr.count("wrote c.csv") == 1


def test_solve_bench_on_ranks(mpirun):
    line = ("solve-bench", *ACTION, "--solver", "cg", "--precision", "double", "--repeat", 1)
    run = mpirun(2, *line, "--csv", "b.csv", "--history", "h.csv", "--json", "b.json")
    assert run.stdout.count("double") == 1
    assert mpirun.json("b.json")["lattice"] == [4, 4, 4, 8]


def test_a_heatbath_goes_on_as_that_of_one_process(quarksmith, mpirun):
    run = ("heatbath", "--lattice", "4,4,4,8", "--beta", "5.8", "--start", "hot", "--sweeps")
    quarksmith(*run, 3, "--out", "alone", "--json", "alone.json")
    mpirun(2, *run, 2, "--out", "together", "--json", "together.json", "--grid", "2,1,1,1")
    mpirun(2, *run, 3, "--out", "together", "--json", "together.json", "--grid", "1,1,1,2")
    files = [(mpirun.folder / f"{name}_00003.ildg").read_bytes() for name in ("alone", "together")]
    one, both = (mpirun.json(f"{name}.json") for name in ("alone", "together"))
    assert files[0] == files[1] and both["lattice"] == [4, 4, 4, 8]
    assert both["plaquettes"] == pytest.approx(one["plaquettes"], abs=1e-14)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("info", "u_00001.ildg", "--grid", "1,1,1,4"), "--grid 1,1,1,4"),
        (("bench", "--lattice", "4,4,4,4"), "bench"),
        (("propagator", *ACTION, "--source", "point:0,0,0,8", "--correlators", "c"), "4x4x4x8"),
        (("solve-bench", "--gauge", "unit:6,6,6,6", "--mass", "1"), "2 parts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_use_is_told_once(mpirun, configuration, arguments, named):
    assert named in mpirun.error(2, *arguments)


def test_errors_that_all_ranks_meet_are_told_once(mpirun, configuration):
    assert "nothing.ildg" in mpirun.error(4, "info", "nothing.ildg", status=1)
    damaged = bytearray((mpirun.folder / configuration).read_bytes())
    damaged[5000] ^= 1
    (mpirun.folder / "damaged.ildg").write_bytes(damaged)
    assert "damaged" in mpirun.error(4, "convert", "damaged.ildg", "v.ildg", status=1)
    assert not (mpirun.folder / "v.ildg").exists()
    assert "none/c.json" in mpirun.error(2, "info", configuration, "--json", "none/c.json", status=1)


def test_options_that_do_not_exist_are_told_once(mpirun):
    assert mpirun(4, "info", "--nonsense", status=2).stderr.count("info has no option --nonsense") == 1
    assert mpirun(2, "--version").stdout.count(".") < 4


def test_ranks_must_be_the_same_command(mpirun, configuration):
    first = mpirun.line(1, "info", configuration)
    other = mpirun.line(1, "info", configuration, "--quiet")[len(LAUNCH) :]
    assert "rank 1 has another command line" in only_error(mpirun.run([*first, ":", *other], None).stderr)


def test_a_rank_that_fails_alone_ends_the_job(mpirun, configuration):
    good = mpirun.line(1, "info", configuration)
    lost = ["-x", "QUARKSMITH_KERNELS=missing.so", *good[len(LAUNCH) :]]
    stderr = mpirun.run([*good, ":", *lost], None).stderr
    assert "rank 1: " in only_error(stderr)
    assert "missing.so" in only_error(stderr)


def test_a_file_that_one_rank_lacks_ends_the_job(mpirun, configuration):
    (mpirun.folder / "elsewhere").mkdir()
    good = mpirun.line(1, "convert", configuration, "v.ildg")
    lost = ["-wdir", str(mpirun.folder / "elsewhere"), *good[len(LAUNCH) :]]
    assert configuration in only_error(mpirun.run([*good, ":", *lost], None).stderr)


def test_a_rank_that_is_killed_ends_the_job(mpirun):
    line = mpirun.line(2, "solve-bench", *ACTION, "--tol", "1e-30", "--max-iterations", 10**9, "--repeat", 1000)
    job = subprocess.Popen(line, cwd=mpirun.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        children: list[int] = []
        deadline = time.monotonic() + 30
        while len(children) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
            children = [int(pid) for pid in Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()]
        time.sleep(1)  # now they solve
        os.kill(children[1], signal.SIGKILL)
        assert job.wait(AT_ONCE) != 0
    finally:
        job.kill()


UNSET = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
CROWDED = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")


def free_environment(**more):
    """The environment without what steers threads."""
    return {**{k: v for k, v in os.environ.items() if k not in UNSET}, **more}


def crowd(folder, ranks, *arguments, **more):
    """Ranks that are bound to nothing, without any setting for threads or MPI."""
    line = [*CROWDED, "-n", str(ranks), BUILD / "bin" / "quarksmith", *map(str, arguments)]
    environment = free_environment(**more)
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor cannot be divided")
def test_ranks_divide_the_processors_of_their_host(tmp_path, several_ranks):
    processors = len(os.sched_getaffinity(0))
    ranks = 2 if processors < 4 else 4
    threads = processors // ranks
    run = crowd(tmp_path, ranks, "propagator", *ACTION, "--correlators", "c.json", "--overwrite")
    assert run.returncode == 0, run.stderr
    said = f"{ranks} ranks share {processors} processors of this host: {threads} thread{'s' * (threads > 1)} each"
    assert run.stderr.count(said) == 1, run.stderr
    quiet = crowd(tmp_path, ranks, "propagator", *ACTION, "--correlators", "c.json", "--overwrite", "--quiet")
    assert not [text for text in quiet.stderr.splitlines() if not text.startswith("[hwloc")]  # without /sys
    asked = crowd(tmp_path, ranks, "propagator", *ACTION, "--correlators", "c.json", "--overwrite", OMP_NUM_THREADS="2")
    assert asked.returncode == 0 and "share" not in asked.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks need a processor each")
def test_ranks_bound_apart_keep_their_processors(tmp_path, several_ranks):
    line = ["mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", "2", BUILD / "bin" / "quarksmith", "devices"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=free_environment())
    assert run.returncode == 0, run.stderr
    assert "share" not in run.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one thread does not wait for others")
def test_waiting_threads_sleep_soon_unless_the_environment_says_how(tmp_path):
    def spins(**more):
        environment = free_environment(OMP_DISPLAY_ENV="VERBOSE", **more)
        line = [BUILD / "bin" / "quarksmith", "devices"]
        run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment)
        assert run.returncode == 0, run.stderr
        return [text.split("'")[1] for text in run.stderr.splitlines() if "GOMP_SPINCOUNT" in text]

    assert spins()[-1] == "1000"
    assert spins(GOMP_SPINCOUNT="77") == ["77"]
    assert len(spins(OMP_WAIT_POLICY="active")) == 1
    assert len(spins(OMP_NUM_THREADS="1")) == 1
