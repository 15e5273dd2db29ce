"""tools/test.sh: what runs side by side, and that every run counts, with programs that stand for the tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/bash
echo "$*" >> calls
case "$*" in
  *"import xdist"*) exit ${LACKS_XDIST:-0} ;;
  tools/*) exec %s "$@" ;;
esac
for word; do
  case $word in
    --junitxml=*) echo '<testsuites><testcase name="a"/><testcase name="b"/></testsuites>' > "${word#*=}" ;;
  esac
done
case "$*" in *"-m alone"*) exit ${ALONE_FAILS:-0} ;; esac
"""
CPP = """#!/bin/bash
for word; do
  case $word in
    *xml:*) echo '<testsuites/>' > "${word##*xml:}" ;;
  esac
done
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path):
    """A tree whose tests are stubs; without mpirun."""
    (tmp_path / "tools").mkdir()
    for name in ("test.sh", "count_tests.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    program(tmp_path / ".venv/bin/python", PYTHON % sys.executable)
    for name in ("quarksmith", "quarksmith_tests", "quarksmith_c_tests", "quarksmith_fuzz"):
        program(tmp_path / "build/bin" / name, CPP)
    program(tmp_path / "bin/nproc", "#!/bin/bash\necho ${PROCESSORS:-2}\n")
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


@pytest.mark.parametrize(("processors", "processes"), [("2", "2"), ("8", "4"), ("64", "8")])
def test_python_tests_run_side_by_side_but_for_those_that_must_not(tree, processors, processes):
    status, last, (together, alone) = outcome(tree, PROCESSORS=processors)
    assert (status, last) == (
        0,
        "tests: 6 passed, 0 failed, 0 skipped",
    )  # two programs count as one each
    assert f"-m not alone and not slow -n {processes} --dist worksteal" in together
    assert "-m alone and not slow" in alone and "-n" not in alone.split()


@pytest.mark.parametrize("lacking", [{"LACKS_XDIST": "1"}, {"PROCESSORS": "1"}])
def test_they_fall_back_to_one_process(tree, lacking):
    status, last, (together, alone) = outcome(tree, **lacking)
    assert (status, last) == (0, "tests: 6 passed, 0 failed, 0 skipped")
    assert "-n" not in together.split() and "-m alone and not slow" in alone


def test_a_failure_of_either_run_fails_all(tree):
    status, last, _ = outcome(tree, ALONE_FAILS="1")
    assert (status, last) == (1, "tests: 6 passed, 1 failed, 0 skipped")
