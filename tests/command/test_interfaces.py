"""What the command does from the shell, from Python and from C: all of it, but for what means nothing there."""

import re
import subprocess

import pytest
from conftest import BUILD

ELSEWHERE = {"completion", "man", "sweep"}
"""Files of a shell, and what the generator alone starts."""
CALLS_ALONE = {"read", "solve"}
"""Of Python: a command reads what it needs, and has propagator."""


@pytest.fixture(scope="module")
def commands() -> set[str]:
    text = subprocess.run([BUILD / "bin/quarksmith", "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z-]+) ", text.partition("Subcommands:")[2], flags=re.M))


def test_python_calls_every_command(qs, commands):
    assert set(qs.commands.__all__) - CALLS_ALONE == {name.replace("-", "_") for name in commands - ELSEWHERE}
    assert all(getattr(qs, name).__doc__ for name in qs.__all__)


def test_c_runs_every_command(commands):
    program = BUILD / "bin" / "quarksmith_c_tests"
    if not program.exists():
        pytest.skip("the tests were not built")
    run = subprocess.run([program, "offers", *commands], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == commands - ELSEWHERE
