"""Kernels that a build lacks are compiled when a program first asks for them."""

import os
import re
import shutil

import pytest
from conftest import BUILD

KERNEL = "wilson_single_r18_nr_n1"
"""Not of the default profile."""
SOLVE = (
    *("solve-bench", "--gauge", "weak:0.2:4,4,4,4:3", "--mass", "0.5", "--device", "cpu", "--solver", "bicgstab"),
    *("--precision", "double-single", "--reconstruct", "18", "--tol", "1e-8", "--repeat", "1"),
)
pytestmark = pytest.mark.skipif(not (BUILD / "compile_commands.json").exists(), reason="no compilers were recorded")


@pytest.fixture
def empty_cache():
    """No module of the kernel, before and after."""
    made = lambda: list((BUILD / "kernels").glob(f"{KERNEL}-*"))  # noqa: E731
    for folder in made():
        shutil.rmtree(folder)
    yield made
    for folder in made():
        shutil.rmtree(folder)


def environment(setting):
    return {**os.environ, "QUARKSMITH_ON_DEMAND": setting}


def test_a_kernel_is_compiled_and_tested_once(quarksmith, empty_cache):
    first = quarksmith(*SOLVE, env=environment("on"))
    assert re.search(rf"lacks kernel {KERNEL}: compiled for .* in [0-9.]+ s; [1-9][0-9]* tests passed", first.stderr)
    assert len(empty_cache()) == 1
    again = quarksmith(*SOLVE, env=environment("on"))
    assert KERNEL not in again.stderr
    iterations = [re.search(r"double-single.*", run.stdout)[0].split()[:4] for run in (first, again)]
    assert iterations[0] == iterations[1]


def test_off_is_an_error_with_the_row(quarksmith, empty_cache):
    message = quarksmith.refuses(*SOLVE, env=environment("off"))
    assert 'precision = ["single"]' in message and 'links = ["18"]' in message
    assert not empty_cache()
    assert "use on, or off" in quarksmith.refuses(*SOLVE, env=environment("perhaps"))
