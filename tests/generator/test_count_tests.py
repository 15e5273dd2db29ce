"""The count at the end of `make test`: all kinds of tests together, and what skipped ones want."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/count_tests.py"

GOOGLE = """<testsuites><testsuite>
<testcase name="a" status="run" result="completed"/>
<testcase name="b" status="run" result="skipped"><skipped message="x.cpp:7&#x0A;set QUARKSMITH_DATA to it"/></testcase>
<testcase name="c" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="no"/></testcase>
<testcase name="c"><skipped message="set QUARKSMITH_DATA to it"/></testcase>
<testcase name="d"><skipped message="needs a GPU"/></testcase>
</testsuite></testsuites>"""


def counted(*runs: str) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, TOOL, *runs], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_all_kinds_are_counted_together(tmp_path):
    (tmp_path / "g.xml").write_text(GOOGLE)
    (tmp_path / "p.xml").write_text(PYTEST)
    status, lines = counted(f"0:{tmp_path}/g.xml", f"1:{tmp_path}/p.xml", "0:program")
    assert status == 1
    assert lines[-1] == "tests: 3 passed, 1 failed, 3 skipped"
    assert lines[:-1] == ["skipped 2: set QUARKSMITH_DATA to it", "skipped 1: needs a GPU"]


def test_a_crash_and_a_failure_on_another_rank_count(tmp_path):
    (tmp_path / "g.xml").write_text(GOOGLE)
    (tmp_path / "cut.xml").write_text(GOOGLE[:80])
    assert counted(f"1:{tmp_path}/g.xml")[1][-1] == "tests: 1 passed, 1 failed, 1 skipped"
    assert counted(f"139:{tmp_path}/cut.xml", "0:program")[1][-1] == "tests: 1 passed, 1 failed, 0 skipped"
    assert counted(f"0:{tmp_path}/missing.xml") == (1, ["tests: 0 passed, 1 failed, 0 skipped"])
