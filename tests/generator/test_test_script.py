"""tools/test.sh: what runs side by side, and that every run counts, with programs that stand for the tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tree import ROOT, program

PYTHON = """#!/bin/bash
echo "$*" >> calls
case "$*" in
  *"import xdist"*)
    echo "${XDIST-__version__ = '3.6.1'}" > xdist.py
    PYTHONPATH=. exec %s "$@" ;;
  tools/*) exec %s "$@" ;;
esac
for word; do
  case $word in
    --junitxml=*) echo '<testsuites><testcase name="a"/><testcase name="b"/></testsuites>' > "${word#*=}" ;;
  esac
done
case "$*" in *"-m alone"*) exit ${ALONE_FAILS:-0} ;; esac
"""
MPIRUN = """#!/bin/bash
[ "$1" != --version ] || exec echo "mpirun (Open MPI) 4"
echo "mpirun $*" >> calls
for word; do
  case $word in
    -*) ;;
    *[0-9]) ranks=$word ;;
  esac
done
for word; do
  case $word in
    *xml:*) echo '<testsuites><testcase name="a"/></testsuites>' > "${word##*xml:}" ;;
  esac
done
echo "ranks: $ranks"
[ $ranks != "${RANKS_FAIL:-none}" ] || { echo "lost on $ranks"; exit 1; }
"""
CPP = """#!/bin/bash
for word; do
  case $word in
    *xml:*) echo '<testsuites/>' > "${word##*xml:}" ;;
  esac
done
"""


@pytest.fixture
def tree(tmp_path):
    """A tree whose tests are stubs; without mpirun."""
    (tmp_path / "tools").mkdir()
    for name in ("test.sh", "count_tests.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    program(tmp_path / "tools/hosts.sh", "#!/bin/bash\nexit 77\n")
    program(tmp_path / ".venv/bin/python", PYTHON.replace("%s", sys.executable))
    for name in ("quarksmith", "quarksmith_tests", "quarksmith_c_tests", "quarksmith_fuzz"):
        program(tmp_path / "build/bin" / name, CPP)
    program(tmp_path / "bin/nproc", "#!/bin/bash\necho ${PROCESSORS:-2}\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_timed.py").write_text("@pytest.mark.alone\n")
    for name in ("bash", "dirname", "rm", "grep", "cat", "date"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return tmp_path


def outcome(tree: Path, **environment: str) -> tuple[int, str, list[str]]:
    """Status, last line, and how pytest was called."""
    environment = {"PATH": str(tree / "bin"), "LC_ALL": os.environ.get("LC_ALL", "C")} | environment
    command = [shutil.which("bash"), "tools/test.sh", "build"]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    calls = [c for c in (tree / "calls").read_text().splitlines() if c.startswith("-m pytest")]
    return run.returncode, run.stdout.splitlines()[-1], calls


@pytest.mark.parametrize(("processors", "processes"), [("2", "3"), ("8", "4"), ("64", "8")])
def test_python_tests_run_side_by_side_but_for_those_that_must_not(tree, processors, processes):
    status, last, (together, alone) = outcome(tree, PROCESSORS=processors)
    assert (status, last) == (
        0,
        "tests: 6 passed, 0 failed, 0 skipped",
    )  # two programs count as one each
    assert "tests/test_timed.py" in alone and "tests/test_timed.py" not in together
    assert f"-m not alone and not slow and not full -n {processes} --dist worksteal" in together
    assert "-m alone and not slow and not full" in alone and "-n" not in alone.split()


def test_whole_runs_are_left_to_profile_wide(tree):
    (tree / "build/CMakeCache.txt").write_text("QUARKSMITH_PROFILE:STRING=wide\n")
    _, _, (together, alone) = outcome(tree)
    assert "-m not alone and not slow -n" in together and "-m alone and not slow tests" in alone


@pytest.mark.parametrize(("version", "how"), [("3.1.0", "load"), ("3.2", "worksteal"), ("4.0.0.dev1", "worksteal")])
def test_tests_are_shared_out_as_this_xdist_can(tree, version, how):
    _, _, (together, _) = outcome(tree, XDIST=f"__version__ = '{version}'")
    assert together.endswith(f"--dist {how} --junitxml=build/tests_python.xml")


@pytest.mark.parametrize("lacking", [{"XDIST": "raise ImportError"}, {"PROCESSORS": "1"}])
def test_they_fall_back_to_one_process(tree, lacking):
    status, last, (together, alone) = outcome(tree, **lacking)
    assert (status, last) == (0, "tests: 6 passed, 0 failed, 0 skipped")
    assert "-n" not in together.split() and "-m alone and not slow and not full" in alone


def test_a_failure_of_either_run_fails_all(tree):
    status, last, _ = outcome(tree, ALONE_FAILS="1")
    assert (status, last) == (1, "tests: 6 passed, 1 failed, 0 skipped")


@pytest.mark.parametrize(("processors", "left_out"), [("2", True), ("8", False)])
def test_many_ranks_on_few_processors_leave_what_is_made_of_tested_parts_to_fewer(tree, processors, left_out):
    program(tree / "bin/mpirun", MPIRUN)
    program(tree / "bin/ldd", "#!/bin/bash\necho libmpi.so\n")
    status, last, _ = outcome(tree, PROCESSORS=processors)
    assert (status, last) == (0, "tests: 11 passed, 0 failed, 0 skipped")
    calls = [c for c in (tree / "calls").read_text().splitlines() if c.startswith("mpirun")]
    assert [f"-n {ranks} " in c for ranks, c in zip((1, 2, 4, 8, 4), calls, strict=True)] == [True] * 5
    assert ["--gtest_filter=* " in c for c in calls] == [False, True, not left_out, not left_out, False]
    names = [found for c in calls for found in re.findall(r"--gtest_filter=\*?-?(\w\S+)", c)]
    assert len(names) == 2 + 2 * left_out
    sources = "".join(path.read_text() for path in (ROOT / "tests/ranks").glob("*.cpp"))
    for name in ":".join(names).split(":"):  # a test that is called otherwise would be back
        name = re.sub(r"^\w+/|/\w+$", "", name)  # of several parameters
        suite, _, case = name.replace("*", r"\w*").partition(".")
        assert re.search(rf"TEST(_F|_P)?\({suite}, {case or r'.*'}\)", sources), name


def test_a_failure_on_some_ranks_is_shown_and_fails_all(tree):
    program(tree / "bin/mpirun", MPIRUN)
    program(tree / "bin/ldd", "#!/bin/bash\necho libmpi.so\n")
    environment = {"PATH": str(tree / "bin"), "RANKS_FAIL": "2"}
    command = [shutil.which("bash"), "tools/test.sh", "build"]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "1 failed" in run.stdout.splitlines()[-1]
    assert "lost on 2" in run.stdout and "lost on 8" not in run.stdout
