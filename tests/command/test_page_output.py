"""Numbers on pages: the pages as they stand, with all sizes that they have (marked slow), and what is compared."""

import os
import re
import subprocess

import pytest
from conftest import BUILD, ROOT
from page_output import agree, missing, numbers, parts, skeleton
from test_docs import DOCUMENTS, Runner, commands

PAGES = [p for p in DOCUMENTS if any(lines for _, lines in parts(p.read_text()))]
"""Those that say what is printed."""
NOT_RUN = ("make ", "mpirun ", ".venv/bin/pip ")
"""Commands that the numbers of a page do not need."""


def test_a_trajectory_of_the_tutorial(quarksmith, tmp_path):
    """One of all pages that is short."""
    text = (ROOT / "examples/hmc_clover.toml").read_text()
    (tmp_path / "hmc_clover.toml").write_text(re.sub(r"^count = \d+", "count = 6", text, flags=re.M))
    run = quarksmith("hmc", "hmc_clover.toml", "--reversibility", "5", "--out", "test")
    ((_, lines), *_) = parts((ROOT / "docs/tutorial-ensemble.md").read_text())
    assert lines and missing(lines, run.stdout + run.stderr, exact=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_a_page_as_it_stands(path, tmp_path):
    """Minutes each: whole ensembles."""
    for folder in ("examples", "tools", "generator"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    environment = {**os.environ, "PYTHONPATH": f"{BUILD / 'python'}:{ROOT}"}
    environment.pop("OMP_NUM_THREADS", None)
    programs = Runner(tmp_path).programs
    for prose, lines in parts(path.read_text()):
        output = ""
        for line in commands(prose):
            if line.startswith(NOT_RUN):
                continue
            first, _, rest = line.partition(" ")
            full = f"{programs.get(first, first)} {rest}"
            done = subprocess.run(full, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
            output += done.stdout + done.stderr
        assert missing(lines, output, exact=True) == [], output[-3000:]


def test_numbers_of_pages_are_compared():
    line = "pion 0.761(23), 2.15 s; dH -7.4e-02, u_00300.ildg 6^3, residual 7.92e-11"
    assert numbers(line) == [("0.761", "23"), ("-7.4e-02", None), ("6", None), ("7.92e-11", None)]
    assert skeleton("t = 1  1.0 s") == "t = # # s"
    assert parts("a\n```text\nb\nc\n```\nd\n") == [("a\n", ["b", "c"]), ("\nd\n", [])]
    near = [
        ("0.761(23)", "0.783(21)"),
        ("7.9e-11", "5e-11"),
        ("0.4320", "0.4321"),
        ("130", "132"),
        ("3(1.2)", "4(1.2)"),
    ]
    for page, found in near:
        assert agree(*numbers(page), *numbers(found)), page
    for page, found in [
        ("0.761(23)", "0.785(23)"),
        ("0.761(23)", "0.761(40)"),
        ("0.4320", "0.4322"),
        ("8e-11", "8e-10"),
    ]:
        assert not agree(*numbers(page), *numbers(found)), page


def test_lines_of_pages_that_nobody_prints_are_found():
    output = "noise\nplaquette 0.5812 after 3.1 s\n"
    assert missing(["plaquette 0.5812 after 9 s", "plaquette 0.5812 ..."], output, exact=True) == []
    assert missing(["plaquette 0.60 after 9 s"], output, exact=False) == []
    assert missing(["plaquette 0.60 after 9 s", "plaquettes 0.5812"], output, exact=True) == [
        "plaquette 0.60 after 9 s",
        "plaquettes 0.5812",
    ]
