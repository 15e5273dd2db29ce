"""Types of everything, made from the options of the commands; and how long the package takes to import."""

import importlib.util
import re
import subprocess
import sys

import pytest

USE = """
import quarksmith as qs

u: qs.GaugeField = qs.heatbath(lattice=(4, 4, 4, 8), beta=5.7, sweeps=2)
x = qs.solve(u, qs.source(u), action="clover", kappa=0.12, csw=1.0, max_iterations=100)
kept: qs.Spinors = qs.Solver(u, kappa=0.12)(x, guess=x)
qs.hmc("run.toml", on_trajectory=lambda record: record["dH"] < 1)
y: qs.Spinors = qs.propagator(u, kappa=0.12, batch=3)
text: str = qs.info("file").text + u.report.text
view: memoryview = memoryview(x)
qs.smear("stout", u, steps=2).plaquette().hex()
qs.smear("stot", u)
qs.heatbath(sweeps="many")
qs.solve(u, u, kappa=0.12)
qs.propagator(u, kapa=0.12)
"""


SETTINGS = """[mypy]
strict = True
python_version = 3.11
[mypy-numpy.*,quarksmith.generator.*]
follow_imports = skip
"""
"""Reading NumPy's own types takes longer than all else; `make check` reads those of the generator."""


def test_types_are_those_of_the_options(package, tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("needs mypy (make check fetches it)")
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={package.parent / 'mypy'}", "use.py"]
    environment = {"MYPYPATH": str(package)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    wrong = re.findall(r"^(\S+?):(\d+): error: .*\[(.*)\]", run.stdout, flags=re.M)
    expected = [(12, "arg-type"), (13, "arg-type"), (14, "arg-type"), (15, "call-arg")]
    assert wrong == [("use.py", str(line), kind) for line, kind in expected], run.stdout + run.stderr


def test_everything_says_what_it_is(qs):
    for name in qs.__all__:
        if not name.startswith("_"):
            assert getattr(qs, name).__doc__, name
    assert "overrelax: microcanonical passes a sweep" in qs.heatbath.__doc__


@pytest.mark.alone
def test_the_import_is_quick(package):
    code = "import time; t = time.perf_counter(); import quarksmith; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    times = [
        float(
            subprocess.run(command, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=True).stdout
        )
        for _ in range(3)
    ]
    assert min(times) < 0.3
