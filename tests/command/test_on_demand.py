"""Kernels that a build lacks are compiled when a program first asks for them."""

import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BUILD, rows_of

from generator.profile import all_of_row

KERNEL = "wilson_single_r18_nr_n1"
"""Not of the default profile."""
SOLVE = (
    *("solve-bench", "--gauge", "weak:0.2:4,4,4,4:3", "--mass", "0.5", "--device", "cpu", "--solver", "bicgstab"),
    *("--precision", "double-single", "--reconstruct", "18", "--tol", "1e-8", "--repeat", "1"),
)
pytestmark = pytest.mark.skipif(not (BUILD / "compile_commands.json").exists(), reason="no compilers were recorded")


@pytest.fixture
def empty_cache():
    """No module of the kernel, before and after, and no other test that would make one or remove it."""
    made = lambda: list((BUILD / "kernels").glob(f"{KERNEL}-*"))  # noqa: E731
    with (BUILD / "empty_cache.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in made():
            shutil.rmtree(folder)
        yield made
        for folder in made():
            shutil.rmtree(folder)


def environment(setting):
    return {**os.environ, "QUARKSMITH_ON_DEMAND": setting}


def test_all_kernels_of_a_run_are_named_compiled_and_tested_at_once(quarksmith, empty_cache):
    off = quarksmith.refuses(*SOLVE, env=environment("off"))
    asked = sorted(spec.name for spec in all_of_row(rows_of(off)))
    assert KERNEL in asked and len(asked) > 1
    assert not empty_cache()
    first = quarksmith(*SOLVE, env=environment("on"))
    told = re.findall(
        r"lacks (.*): compiling|(\d+) kernels? compiled for .* in [0-9.]+ s; [1-9]\d* tests passed", first.stderr
    )
    assert len(told) == 2 and KERNEL in told[0][0].split(", ")
    assert set(told[0][0].split(", ")) <= set(asked)
    assert len(empty_cache()) == 1
    again = quarksmith(*SOLVE, env=environment("on"))
    assert KERNEL not in again.stderr
    iterations = [re.search(r"double-single.*", run.stdout)[0].split()[:4] for run in (first, again)]
    assert iterations[0] == iterations[1]


def test_the_setting_is_on_or_off(quarksmith):
    assert "use on, or off" in quarksmith.refuses(*SOLVE, env=environment("perhaps"))


def group_of(process: Path) -> int | None:
    """The number of its group; None: it has ended."""
    try:
        return os.getpgid(int(process.name))
    except ProcessLookupError:
        return None


def folders_of(processes):
    """Folders in which some processes compile."""
    folders = (BUILD / "kernels").glob(f"compiling-{socket.gethostname()}-*")
    return [f for f in folders if f.name.rsplit("-", 2)[1] in processes]


@pytest.mark.parametrize("who", ["group", "program"])
@pytest.mark.parametrize("compiling", [False, True])
def test_an_interrupted_compilation_says_so(quarksmith, empty_cache, who, compiling):
    with subprocess.Popen(
        [BUILD / "bin/quarksmith", *SOLVE],
        env=environment("on"),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=quarksmith.folder,
        process_group=0,
        # Shells start programs in the background so.
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if who == "program" else None,
    ) as run:
        assert re.search(rf"lacks .*{KERNEL}.*: compiling", next(line for line in run.stderr if "lacks" in line))
        ours = [p.name for p in Path("/proc").glob("[0-9]*") if group_of(p) == run.pid]
        while compiling and not folders_of(ours):
            time.sleep(0.01)
        (os.killpg if who == "group" else os.kill)(run.pid, signal.SIGTERM)
        rest = run.stderr.read()
    assert run.returncode != 0
    assert "compiling kernels on demand was interrupted (SIGTERM)" in rest
    assert "no output" not in rest
    assert len(ours) > 1
    assert not [p for p in ours if Path("/proc", p).exists()]
    assert not folders_of(ours)
    assert not empty_cache()
