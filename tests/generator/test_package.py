"""The generator inside of the Python package, where it has another name, and what programs add to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from generator.emit.build import RECORD, Build, read_build, write_record
from generator.emit.words import formula
from generator.errors import SpecError
from generator.folders import ROOT
from generator.language import Fermion, Links, Real, Spinor, action, expression, gamma5, parameter, shift, x
from generator.lower.record import lower
from generator.operators import OPERATORS, RECORDS, add_action, add_expression

FILE = """from generator.language import Links, Real, Spinor, expression, shift, x

@expression
def one_step(u: Links, psi: Spinor, k: Real) -> Spinor:
    return psi + k * (u[x] * shift(psi, +x))
"""
PROGRAM = """
import sys
from pathlib import Path
from quarksmith.generator.language.formula import Formula
from quarksmith.generator.operators import add_expressions

(made,) = add_expressions(Path(sys.argv[1]))
assert isinstance(made.stated, Formula), "one class, whoever imports it"
assert not any(name == "generator" or name.startswith("generator.") for name in sys.modules)
print(made.formula)
"""


def test_files_import_generator_whatever_its_name_is(tmp_path):
    (tmp_path / "quarksmith").mkdir()
    (tmp_path / "quarksmith/__init__.py").write_text("")
    (tmp_path / "quarksmith/generator").symlink_to(ROOT / "generator")
    (tmp_path / "mine.py").write_text(FILE)
    command = [sys.executable, "-c", PROGRAM, tmp_path / "mine.py"]
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout == "out = psi + k*(u[x]*shift(psi, +x))\n", run.stderr


def test_a_record_stands_for_a_build(tmp_path, monkeypatch):
    words = ["/usr/bin/c++", f"-I{ROOT}", "-DQUARKSMITH_TARGET=cpu_v3", "-O2"]
    write_record(Build(Path("gone"), {"x86-64-v3": words}, frozenset({"a", "b"})), tmp_path / RECORD)
    assert str(ROOT) not in (tmp_path / RECORD).read_text()
    build = read_build(tmp_path)
    assert build.commands == {"x86-64-v3": words} and build.kernels == {"a", "b"} and not build.has_tests
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/of/user")
    assert build.cache == Path("/var/cache/of/user/quarksmith/kernels"), "a package is not written to"


def twisted(u: Links, psi: Fermion, mass: Real, mu: Real = parameter(0.5, help="twist")) -> Fermion:  # noqa: B008
    """Twisted quarks."""
    return mass * psi + 1j * mu * gamma5 * psi - u[x] * shift(psi, +x)


def test_a_function_is_the_class_that_says_the_same():
    @action
    class Twisted:
        """Twisted quarks."""

        mass: Real = parameter(help="mass")
        mu: Real = parameter(0.5, help="twist")

        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            return self.mass * psi + 1j * self.mu * gamma5 * psi - u[x] * shift(psi, +x)

    made = action(twisted).action
    assert made.name == Twisted.action.name == "twisted" and made.text == "Twisted quarks."
    assert [(p.name, p.default) for p in made.parameters] == [("mass", None), ("mu", 0.5)]
    assert formula(lower(made)) == formula(lower(Twisted.action))
    assert made.place.file == __file__ and made.place.line == twisted.__code__.co_firstlineno


def test_programs_add_actions_and_take_them_back():
    made = action(type("Added", (), {"__annotations__": {"mass": Real}, "mass": parameter(help="m"), "dirac": dirac}))
    try:
        names = add_action(made.action)
        assert "added" in RECORDS and all(name in OPERATORS for name in names) and names
        assert add_action(made.action) == names, "a cell that is run again"
    finally:
        RECORDS.pop("added", None)
        for name in names:
            OPERATORS.pop(name, None)


def dirac(self, u: Links, psi: Fermion) -> Fermion:
    return self.mass * psi - u[x] * shift(u[x] * shift(psi, +x), +x)


def test_names_of_the_library_are_refused():
    wilson = type("Wilson", (), {"__annotations__": {"mass": Real}, "mass": parameter(help="m"), "dirac": dirac})
    with pytest.raises(SpecError, match="wilson is an action of the library; use another name"):
        add_action(action(wilson).action)

    @expression("plaquette")
    def other(psi: Spinor) -> Spinor:
        return psi

    with pytest.raises(SpecError, match="plaquette is the name of an operator of the library"):
        add_expression(other)
