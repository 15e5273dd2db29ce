"""The notebooks of examples/: their cells run one after another."""

import json
import os
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_a_notebook_runs(package, tmp_path, notebook):
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
        "QUARKSMITH_ON_DEMAND": "on",
        "MPLBACKEND": "Agg",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    if notebook.stem == "ranks" and subprocess.run(["which", "mpirun"], capture_output=True).returncode != 0:
        pytest.skip("needs mpirun")
    command = [sys.executable, "-c", RUN + code_of(notebook)]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    last = run.stdout.splitlines()
    if notebook.stem == "ranks":
        assert [line for line in last if line != "None"] == ["0.0", "0.0"]
    if notebook.stem == "action":
        assert [line for line in last if "dH" in line][-1].startswith("12: dH")
