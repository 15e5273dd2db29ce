"""The generator inside of the Python package, where it has another name, and what programs add to it."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from generator.actions import ACTIONS, SMEARINGS
from generator.emit.action_table import action_row
from generator.emit.build import RECORD, Build, read_build, write_record
from generator.emit.words import formula
from generator.errors import SpecError
from generator.folders import ROOT
from generator.language import Fermion, Links, Real, Spinor, action, expression, gamma5, parameter, shift, x
from generator.language.formula import named
from generator.lower.record import lower
from generator.operators import OPERATORS, RECORDS, add_action, add_expression, find_operator
from generator.released import RELEASED

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
    assert build.commands == {"x86-64-v3": words} and build.kernels == {"a", "b"} and build.tests is None
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


def dirac(self, u: Links, psi: Fermion) -> Fermion:
    return self.mass * psi - u[x] * shift(u[x] * shift(psi, +x), +x)


def other_dirac(self, u: Links, psi: Fermion) -> Fermion:
    return 2 * dirac(self, u, psi)


def stated(name, formula=dirac, **said):
    members = {"__annotations__": {"mass": Real}, "mass": parameter(help="m", **said), "dirac": formula}
    return action(type(name, (), members)).action


def test_formulas_are_known_by_what_they_say():
    with patch.dict(RECORDS), patch.dict(OPERATORS):
        first = add_action(stated("Added"))
        kernels = OPERATORS["added"]
        assert first.name == first.called == "added" and "added_dagger" in OPERATORS
        assert add_action(stated("Added")) is first, "a cell that is run again"
        others = [add_action(stated("Added", other_dirac)), add_action(stated("Added", lower=0.5))]
        assert len({first.name, *(o.name for o in others)}) == 3 and {o.called for o in others} == {"added"}
        assert first.digest == others[1].digest != others[0].digest, "a range is no formula"
        assert OPERATORS["added"] is kernels and all(o.name in OPERATORS for o in others)
        row = action_row(RECORDS[others[0].name], "added").members
        assert (row["name"], row["matrix"], row["digest"]) == (
            '"added"',
            f'"{others[0].name}"',
            f'"{others[0].digest}"',
        )

    with patch.dict(OPERATORS):
        made = [add_expression(named(multiple(k), "scaled_by_a_number")) for k in (2.0, 5.0, 2.0)]
        assert made[0] is made[2] and made[0].name != made[1].name and "5.0*psi" in made[1].formula


def multiple(k):
    def scaled(psi: Spinor) -> Spinor:
        return k * psi

    return scaled


def test_actions_of_the_library_are_as_released():
    assert {name: a.digest for name, a in (ACTIONS | SMEARINGS).items()} == RELEASED


def test_two_operators_of_one_name_are_found_when_both_are_lowered():
    with patch.dict(RECORDS), patch.dict(OPERATORS), patch.dict(ACTIONS, force_wilson=stated("ForceWilson")):
        assert "wilson" in OPERATORS
        with pytest.raises(SpecError, match="two operators are called force_wilson"):
            find_operator("force_wilson_dagger")


def test_names_of_the_library_are_refused():
    with pytest.raises(SpecError, match="wilson is an action of the library; use another name"):
        add_action(stated("Wilson"))

    @expression("plaquette")
    def other(psi: Spinor) -> Spinor:
        return psi

    with pytest.raises(SpecError, match="plaquette is the name of an operator of the library"):
        add_expression(other)
