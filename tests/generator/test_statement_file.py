"""A new action is one file: what is known of actions, and what tests of them prove, follows from their statements."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import PurePosixPath

import pytest
from tree import ROOT, tracked

from generator.actions.naive import Naive
from generator.algebra.gamma import BASES
from generator.emit.render import render_files, render_group
from generator.emit.write import write_files
from generator.language import Fermion, Links, Matrices, Real, Scalars, action, adj, gamma, parameter, shift, x
from generator.lower.record import lower
from generator.operators import RECORDS
from generator.operators.stated import stated_operators
from generator.spec import KernelSpec
from generator.targets import TARGETS

STATEMENT = """from generator.actions.naive import Naive
from generator.language import Fermion, Links, Real, action, adj, directions, gamma, parameter, shift


@action
class TwoSteps(Naive):
    \"\"\"Naive fermions, and hops over two sites.\"\"\"

    two: Real = parameter(0.1, help="weight of hops over two sites")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        further = sum(
            u[mu] * shift(u[mu] * shift(psi, +mu), +mu) + shift(adj(u[mu]) * shift(adj(u[mu]) * psi, -mu), -mu)
            for mu in directions
        )
        return super().dirac(u, psi) + self.two * further
"""
FOLDERS = ("generator", "templates", "tests/generator", "tests/command", "docs", "generated/tuned", "tools")
OF_ACTIONS = ("actions", "action_table", "action_links", "forces", "formulas", "printed", "schema")


@pytest.fixture(scope="module")
def with_another(tmp_path_factory):
    """A copy of what the generator and its tests need, with another file in generator/actions."""
    copy = tmp_path_factory.mktemp("another")
    for path in tracked(*(f"{folder}/*" for folder in FOLDERS)):
        (copy / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy / path.relative_to(ROOT))
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copy(ROOT / "generator/profiles/dev.toml", copy / "generator/profiles/default.toml")  # renders in no time
    (copy / "generator/actions/two_steps.py").write_text(STATEMENT)
    return copy


def run(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    to = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    found = subprocess.run([sys.executable, "-u", *arguments], cwd=folder, env=environment, check=False, **to)
    return found.returncode, found.stdout


def generator(folder, *lines):
    """Status and output of commands of the generator, of one process: it reads all statements first."""
    calls = "".join(f"print('\\n===', main({line.split()!r}), flush=True)\n" for line in lines)
    output = run(folder, "-c", f"from generator.__main__ import main\n{calls}")[1]
    found = [(int(status), text) for text, status in re.findall(r"(.*?)\n=== (\d)\n", output, flags=re.S)]
    assert len(found) == len(lines), output
    return found


def test_nothing_else_has_to_be_edited(with_another):
    """`make generate`, and all tests of actions pass: those of no action by name, and those of the new one."""
    ((status, output),) = generator(with_another, "generate")
    assert status == 0, output
    assert "`two-steps`" in (with_another / "docs/actions.md").read_text()
    others = " or ".join(n for n in RECORDS if n not in ("naive",))
    tests = [f"tests/generator/test_{name}.py" for name in OF_ACTIONS]
    chosen = f"two_steps or two-steps or not ({others} or manual or further or planted)"
    status, output = run(with_another, "-m", "pytest", *tests, "-k", chosen, "-p", "no:cacheprovider", "-vv")
    assert status == 0, output
    assert len(re.findall(r"\[two_steps.*PASSED", output)) > 6, output


PHASED = """from generator.actions.wilson import Wilson
from generator.language import Fermion, Links, Phases, Real, StaggeredFermion, action, directions, parameter
from generator.language import shift, sigma
from generator.language.gauge import PLANES, field_strength


@action
class Skewed:
    m: Real = parameter(help="mass")

    def dirac(self, a: Phases, u: Links, psi: StaggeredFermion) -> StaggeredFermion:
        return self.m * psi + sum(a[mu] * (u[mu] * shift(psi, +mu)) for mu in directions)


@action
class Slanted(Wilson):
    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        leaves = sum(sigma[mu, nu] * field_strength(u, mu, nu) for mu, nu in PLANES)
        return super().dirac(u, psi) + leaves * psi + u[directions[0]] * shift(psi, +directions[0])
"""


CROWDED = """from generator.language import Fermion, Links, Real, action, adj, directions, parameter, shift, sigma, tau
from generator.language import x, y
from generator.language.gauge import PLANES, field_strength, plaquette


def sums(u, count):
    return [plaquette(u, mu, nu) + k * adj(plaquette(u, nu, mu)) for k in range(count) for mu, nu in PLANES]


@action
class Pushed:
    m: Real = parameter(help="mass")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        hop = u[x] * shift(u[y] * shift(psi, +y), +x)
        return self.m * psi + hop + sum(sigma[mu, nu] * (a * psi) for a, (mu, nu) in zip(sums(u, 3), 3 * PLANES))


@action
class Crowded:
    m: Real = parameter(help="mass")

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        hop = u[x] * shift(u[y] * shift(psi, +y), +x)
        return self.m * psi + hop + sum(sigma[mu, nu] * (a * psi) for a, (mu, nu) in zip(sums(u, 9), 9 * PLANES))
"""


def test_a_row_of_a_body_asks_for_its_kernels(with_another):
    """Of its spins, with links as solvers store them, and of all methods that it is solved with."""
    path = with_another / "generator/actions/phased.py"
    path.write_text(PHASED)
    (with_another / "body.toml").write_text('[[kernel]]\naction = ["skewed", "slanted"]\nprecision = ["double"]\n')
    try:
        ((status, output),) = generator(with_another, "list --profile body.toml")
        assert status == 0, output
        wanted = "skewed_double_r12_s1 skewed_dagger_double_r12_s1 force_skewed_double_r18_s1 turn_colour_double_s1"
        wanted += " skewed_double_r18_s1 slanted_dagger_double_r18_nr bicgstab_step_double_s1 slanted_double_r12_nr"
        wanted += " force_slanted_double_r18_nr"
        assert set(wanted.split()) <= set(output.split()), output
    finally:
        path.unlink()


def test_one_that_is_refused_does_not_stop_the_others(with_another):
    folder = with_another / "generator/actions"
    wrong = {
        "wrong": STATEMENT.replace("TwoSteps", "Wrong").replace("+ self.two * further", "+ self.two * u"),
        "taken": STATEMENT.replace("TwoSteps", "Taken").replace("    two:", "    tol:").replace("self.two", "self.tol"),
        "unclosed": STATEMENT.replace("further = sum(", "further = sum(("),
        "asked": STATEMENT.replace("TwoSteps", "Asked").replace("return super", "return self.two > 0 or super"),
        "plaquette": STATEMENT.replace("TwoSteps", "Plaquette"),
        "unread": "import nothing_like_this\n",
        "undefined": STATEMENT.replace("class TwoSteps(Naive)", "class Undefined(Nothing)"),
        "again": STATEMENT,
        "crowded": CROWDED,
    }
    for name, text in wrong.items():
        (folder / f"{name}.py").write_text(text)
    try:
        rows = '[[kernel]]\naction = ["pushed", "naive"]\nprecision = ["double"]\n'  # with all sets of include
        (with_another / "rows.toml").write_text(rows)
        commands = ("generate", "list --profile rows.toml", "explain wrong", "explain two_steps", "explain naive")
        (status, output), (_, listed), refused, again, (other, _) = generator(with_another, *commands)
        assert status == other == 0, output
        warnings = [line for line in output.splitlines() if "warning" in line]
        assert len(warnings) == len(wrong) + 1, output
        for name in wrong.keys() - {"again"} | {"two_steps", "force_pushed"}:
            message = rf"generator: warning: {name} is left out: .*/generator/actions/\w+.py:\d+: "
            assert [line for line in warnings if re.match(message, line)], output
        listed = listed.split()
        assert {"pushed_double_r18_nr", "pushed_dagger_double_r18_nr", "force_naive_double_r18_nr"} <= set(listed)
        assert not [name for name in listed if name.startswith("force_pushed")]
        assert refused[0] == 2 and "generator: error: wrong: " in refused[1]
        assert "two_steps is also the action of" in again[1]
        row = 'operator = "force_pushed"\nprecision = "double"\nlinks = 18\nbasis = "non_relativistic"'
        status, output = run(with_another, "-m", "generator", "kernel", "--row", f"[[kernel]]\n{row}")
        assert status == 2 and "force_pushed has more than 12 fields" in output and "not `hmc`" in output
    finally:
        for name in wrong:
            (folder / f"{name}.py").unlink()


def test_a_python_without_packages_is_told_by_one_line():
    """Modules of a cluster, or the system's python3 in place of that of .venv."""
    command = [sys.executable, "-S", "-m", "generator", "list"]
    done = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and re.fullmatch(
        r"generator: error: .* lacks \w+; after `make setup` use .*\n", done.stderr
    )


@action
class Named:
    """Parameters and fields with names of C++, of the library and of other parts of kernels."""

    number: Real = parameter(help="mass")
    double: Real = parameter(help="a word of C++")
    conj: Real = parameter(help="a function of kernels")
    chi: Real = parameter(help="what forces call the other spinor")
    weight: Real = parameter(help="what forces are multiplied by")

    def dirac(self, p: Scalars, sums: Matrices, u: Links, rhs: Fermion) -> Fermion:
        ahead, behind = u[x] * shift(rhs, +x), shift(adj(u[x]) * rhs, -x)
        numbers = self.number * self.double * self.conj * self.chi * self.weight
        return numbers * rhs + gamma[x] * (ahead - behind) + (p * rhs) + sums[x] * (gamma[x] * (gamma[x] * ahead))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_names_of_statements_are_none_of_cpp(tmp_path):
    """Bodies of M, M^+ and the force compile."""
    specs = []
    for operator in stated_operators([lower(Named.action)]):
        if operator.name in ("named", "named_dagger", "force_named"):
            basis = BASES["non_relativistic"] if "basis" in operator.axes else None
            specs.append(KernelSpec(operator, "double", "r18" if "links" in operator.axes else "", basis))
    assert len(specs) == 3
    files = {f"generated/{path}": text for path, text in render_files(specs, "a test").items()}
    write_files({PurePosixPath(path): text for path, text in files.items()}, tmp_path)
    (tmp_path / "unit.cpp").write_text(render_group(specs, TARGETS["cpu"], "a test"))
    command = [
        "g++",
        "-std=c++20",
        "-fsyntax-only",
        f"-I{tmp_path}",
        f"-I{ROOT}",
        "-DQUARKSMITH_TARGET=cpu",
        "unit.cpp",
    ]
    found = subprocess.run([*command, "unit.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[:3000]


def test_an_added_action_takes_the_name_of_no_other():
    """Kernels of hops that several actions have keep the name that profiles know, wherever the new file stands."""

    @action
    class Another(Naive):
        """Naive fermions by another name."""

    names = {o.name for o in stated_operators([lower(Another.action), *RECORDS.values()]) if o.family == "hopping"}
    assert "naive" in names
    assert {o.name for o in stated_operators(RECORDS.values()) if o.family == "hopping"} <= names
