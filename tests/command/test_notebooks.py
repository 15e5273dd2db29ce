"""The notebooks of examples/: their cells run one after another; the pion's as it stands if marked slow."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


SMALL = {
    "spectrum": {"(8, 8, 8, 24)": "(4, 4, 4, 12)", "100, 325, 25": "10, 30, 5"},
    "sweep": {"(8, 8, 8, 16)": "(4, 4, 4, 8)", "sweeps=60": "sweeps=10", "0.16, 0.163": "0.16"},
}
"""Sizes of notebooks that take minutes, and what stands for them."""


def code_of(notebook) -> str:
    """All cells, in each of which the last expression is shown, as in a notebook."""
    cells = [c for c in json.loads(notebook.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells), "outputs are not kept"
    return "\n".join(f"run({''.join(c['source'])!r}, 'In[{n}]')" for n, c in enumerate(cells, start=1))


RUN = """
import ast
import linecache

names = {"__name__": "__main__"}


def run(text, cell):
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    tree = ast.parse(text, cell)
    shown = isinstance(tree.body[-1], ast.Expr)
    last = ast.Expression(tree.body.pop().value) if shown else None
    exec(compile(tree, cell, "exec"), names)
    if shown:
        print(eval(compile(last, cell, "eval"), names))
"""


def test_there_are_notebooks():
    assert {n.stem for n in NOTEBOOKS} == {"action", "kernel", "ranks", "spectrum", "sweep"}


def runs(package, folder, code: str) -> list[str]:
    """What the cells show."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
        "QUARKSMITH_ON_DEMAND": "on",
        "MPLBACKEND": "Agg",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = [sys.executable, "-c", RUN + code]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=3600)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_a_notebook_runs(package, tmp_path, notebook):
    if notebook.stem == "ranks" and shutil.which("mpirun") is None:
        pytest.skip("needs mpirun")
    code = code_of(notebook)
    for size, small in SMALL.get(notebook.stem, {}).items():
        assert code.count(size) == 1
        code = code.replace(size, small)
    last = runs(package, tmp_path, code)
    if notebook.stem == "ranks":
        assert [line for line in last if line != "None"] == ["0.0", "0.0"]
    if notebook.stem == "action":
        assert [line for line in last if "dH" in line][-1].startswith("12: dH")


@pytest.mark.slow
def test_the_pion_has_a_plateau(package, tmp_path):
    shown = runs(package, tmp_path, code_of(ROOT / "examples/notebooks/spectrum.ipynb"))
    masses = {int(t): (float(m), float(e)) for t, m, e in re.findall(r"t = +(\d+)  (\S+) \+- (\S+)", "\n".join(shown))}
    (mass, error) = (float(x) for x in re.findall(r"a m = (\S+) \+- (\S+)", "\n".join(shown))[0])
    assert error < 0.05 * mass and all(abs(m - mass) < 3 * e for t, (m, e) in masses.items() if t >= 5)
