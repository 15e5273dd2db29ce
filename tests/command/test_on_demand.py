"""Kernels that a build lacks are compiled when a program first asks for them."""

import os
import re
import shutil

import pytest
from conftest import BUILD

from generator.profile import all_of_row

KERNEL = "wilson_single_r18_nr_n1"
"""Not of the default profile, as what else a solve with such links needs."""
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
    begin, end = re.findall(r"quarksmith: (?:this build lacks (.*): compiling|(.* tests passed))", first.stderr)
    assert KERNEL in begin[0].split(", ")
    assert re.fullmatch(r"\d+ kernels? compiled for .* in [0-9.]+ s; [1-9][0-9]* tests passed", end[1])
    assert len(empty_cache()) == 1
    again = quarksmith(*SOLVE, env=environment("on"))
    assert KERNEL not in again.stderr
    iterations = [re.search(r"double-single.*", run.stdout)[0].split()[:4] for run in (first, again)]
    assert iterations[0] == iterations[1]


ROW = re.compile(r"^\[\[kernel\]\]\n(?:\w+ = .*\n)+", flags=re.M)


def test_off_is_an_error_with_the_rows_of_all(quarksmith, empty_cache):
    message = quarksmith.refuses(*SOLVE, env=environment("off"))
    assert 'precision = ["single"]' in message and 'links = ["18"]' in message
    asked = [spec.name for row in re.findall(ROW, message) for spec in all_of_row(row)]
    assert len(asked) == len(set(asked)) and KERNEL in asked
    assert not empty_cache()
    assert "use on, or off" in quarksmith.refuses(*SOLVE, env=environment("perhaps"))


def test_all_that_a_run_lacks_is_named_at_once(quarksmith, tmp_path):
    """Not row by row: a profile to which they are added needs nothing more."""
    line = (
        "propagator",
        "--gauge",
        "weak:0.2:4,4,4,4:3",
        "--mass",
        "0.5",
        "--device",
        "cpu",
        "--correlators",
        "c.json",
    )
    line += ("--precision", "double-bits20", "--reconstruct", "8", "--source", "gaussian:0,0,0,0:2.0,3")
    message = quarksmith.refuses(*line, env=environment("off"))
    asked = {spec.name for row in re.findall(ROW, message) for spec in all_of_row(row)}
    both = {f"wilson{form}_bits20_r8_nr_n1" for form in ("", "_axpby")}
    assert both | {"encode_links_single_r8", "bicgstab_step_bits20"} <= asked
