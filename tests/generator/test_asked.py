"""What is said of kernels that a program asked for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from generator.emit import asked
from generator.emit.ondemand import CompileError
from generator.folders import ROOT
from generator.operators import kernel

NONE_RAN = "Note: Google Test filter = x\n[==========] 0 tests from 0 test suites ran.\n[  PASSED  ] 0 tests."


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no test ran", "is untested, as no test of it ran"),
        (NONE_RAN, "is untested, as no test of it ran"),
        ("[  FAILED  ] 1 test, listed below:\n[  PASSED  ] 0 tests.", "fails its tests"),
        ("Segmentation fault", "fails its tests"),
    ],
)
def test_a_kernel_without_a_test_does_not_fail_tests(monkeypatch, tmp_path: Path, output, said):
    module, spec = tmp_path / "module.so", kernel("wilson", "double", "r18")
    monkeypatch.setattr(asked, "run_tests", lambda *given: (0, output))
    monkeypatch.setattr(asked, "discard", lambda module: None)
    with pytest.raises(CompileError) as refused:
        asked._test([(module, spec)], SimpleNamespace(tests=module))
    assert str(refused.value) == f"{output}\nkernel {spec.name} ({module}) {said}"


MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from generator.emit.build import Build
from generator.emit.ondemand import PROCESSORS, exclusive, run_compiler
folder = Path(sys.argv[1])
with exclusive(Build(folder, {}, frozenset())), ThreadPoolExecutor(3 * PROCESSORS) as pool:
    for n in range(3 * PROCESSORS):
        pool.submit(run_compiler, ["sh", "-c", f"> {folder}/begun{n}; exec sleep 100"])
"""


def test_a_signal_ends_compilers_and_none_begins_after_it(tmp_path: Path):
    processors = len(os.sched_getaffinity(0))
    begun = lambda: len(list(tmp_path.glob("begun*")))  # noqa: E731
    with subprocess.Popen([sys.executable, "-c", MANY, tmp_path], cwd=ROOT) as run:
        while begun() < processors and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        run.send_signal(signal.SIGTERM)  # a program that ends passes it on to a compilation that may have it already
        assert run.wait(timeout=60) == -signal.SIGTERM
    assert begun() == processors
