"""What things of the package are called, say of themselves, and show in notebooks."""

import subprocess
import sys

import pytest

WEAK = "weak:0.3:4,4,4,8:11"


def test_things_say_what_they_are(qs):
    u = qs.read(WEAK)
    solver = qs.Solver(u, mass=0.4)
    assert repr(solver).startswith("Solver(gauge=") and "mass=0.4" in repr(solver)
    assert repr(solver(qs.source(u)).report) == "Report(solves, provenance)"
    listed = qs.list("solvers")
    assert repr(listed) == listed.text.rstrip() != ""


@pytest.mark.parametrize("notebook", [True, False])
def test_notebooks_show_progress(package, notebook):
    code = "import sys, types\n" + "sys.modules['ipykernel'] = types.ModuleType('ipykernel')\n" * notebook
    code += "import quarksmith as qs\nqs.heatbath(lattice=(2, 2, 2, 2), beta=5.7, sweeps=2)"
    run = subprocess.run([sys.executable, "-c", code], cwd=package, capture_output=True, text=True, check=True)
    assert (run.stderr != "") == notebook


def test_names_of_the_language_are_the_packages(qs):
    from quarksmith import language

    assert language.action is qs.action and language.expression is qs.expression
    assert {"action", "expression"} <= {*language.__all__}
