"""Runs the built command."""

import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

from generator.operators import OPERATORS
from generator.profile import all_of_row, load_profile
from generator.tune.tuned import choices

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("QUARKSMITH_BUILD", "build")
sys.path.append(str(ROOT / "tests/generator"))  # what tests of both share
os.environ.setdefault("QUARKSMITH_ON_DEMAND", "off")  # a test that lacks a kernel is to fail
BESIDE_OTHERS = "PYTEST_XDIST_WORKER" in os.environ and "OMP_NUM_THREADS" not in os.environ
if BESIDE_OTHERS:  # threads of several commands would wait for each other's processors, half of the time
    os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(autouse=True)
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives every fourth of the tests that run side by side all threads; those that run alone have them anyway."""
    if BESIDE_OTHERS and zlib.crc32(request.node.nodeid.encode()) % 4 == 0:
        monkeypatch.delenv("OMP_NUM_THREADS")


def rows_of(error: str) -> str:
    """The rows of a profile that an error names."""
    return "".join(re.findall(r"^\[\[kernel\]\]\n(?:\w+ = .*\n)+", error, flags=re.M))


def skip_what_wide_has(error: str) -> None:
    """Skips a test that lacks a kernel which profile wide has and the default profile leaves out on purpose."""
    if not re.search("this build has no kernels? ", error):
        return
    asked = {spec.name for spec in all_of_row(rows_of(error))}
    names = [{spec.name for spec in load_profile(profile).kernels} for profile in ("wide", "default")]
    if asked <= names[0] - names[1]:
        pytest.skip("these kernels are of profile wide; make test-full has them")


class Command:
    """The built `quarksmith`, or another program made of it, run in a folder of the test."""

    def __init__(self, folder: Path, program: Path = BUILD / "bin" / "quarksmith", **environment: str) -> None:
        self.folder, self.program, self.environment = folder, program, environment

    def __call__(self, *arguments: object, status: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs one command and checks its exit status."""
        run = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            **({"env": os.environ | self.environment} | options),
        )
        if status == 0 and run.returncode != 0 and not self.environment:
            skip_what_wide_has(run.stderr)
        assert run.returncode == status, f"{arguments}: status {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run

    def refuses(self, *arguments: object, status: int = 2, **options: object) -> str:
        """What a command that must fail writes, which has one error."""
        text = self(*arguments, status=status, **options).stderr
        assert len(re.findall("^quarksmith: error: ", text, flags=re.M)) == 1, text
        return text

    def json(self, name: str) -> dict[str, Any]:
        """What it has written."""
        return json.loads((self.folder / name).read_text())


@pytest.fixture
def quarksmith(tmp_path: Path) -> Command:
    """The command, in a fresh folder."""
    command = Command(tmp_path)
    if not command.program.exists():
        pytest.fail(f"{command.program} is missing; run `make library`")
    return command


@pytest.fixture
def measured(quarksmith: Command, tmp_path: Path) -> Callable[[str], dict]:
    """Runs a description of measurements on one configuration; gives its results by name."""

    def run(text: str) -> dict:
        (tmp_path / "run.toml").write_text(text)
        quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
        return quarksmith.json("r.json")["configurations"][0]["results"]

    return run


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder that holds the Python package."""
    if not any((BUILD / "python/quarksmith").glob("_quarksmith*.so")):
        pytest.skip("the Python package is not built; configure.log says why (nanobind, headers of Python)")
    return BUILD / "python"


@pytest.fixture(scope="session")
def qs(package: Path) -> ModuleType:
    """The Python package."""
    sys.path.insert(0, str(package))
    import quarksmith

    return quarksmith


@pytest.fixture(scope="module")
def cells(qs: ModuleType) -> Iterator[ModuleType]:
    """The Python package where kernels are compiled on demand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUARKSMITH_ON_DEMAND", "on")
        yield qs


@pytest.fixture(scope="module")
def varied(cells: ModuleType) -> object:
    """An action that takes a field of numbers."""
    from quarksmith.language import Fermion, Links, Real, Scalars, adj, directions, gamma, shift

    @cells.action
    def cell_varied(phi: Scalars, u: Links, psi: Fermion, mass: Real) -> Fermion:
        hop = sum(
            (1 - gamma[mu]) * (u[mu] * shift(psi, +mu)) + (1 + gamma[mu]) * shift(adj(u[mu]) * psi, -mu)
            for mu in directions
        )
        return (mass + 4) * psi - hop / 2 + phi * psi

    return cell_varied


@pytest.fixture
def refused(qs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Exception]:
    """The UsageError of a call, which writes nothing. All doors have these checks: tests/refusals_test.cpp."""
    monkeypatch.chdir(tmp_path)

    def refused(command: str, **arguments: object) -> Exception:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(qs.UsageError) as caught:
            qs._quarksmith.run(command, arguments, None)
        text = re.sub("`[^`]*`", "", str(caught.value))  # but for lines of the shell
        assert "\n" not in text and " --" not in text
        assert sorted(tmp_path.rglob("*")) == before
        return caught.value

    return refused


def line_of(text: str, at: int, key: str) -> int:
    """Of a key in the table of a file around a place, from 1; of the head of the table, if the key is not there."""
    begin, end = text.rfind("\n[", 0, at) + 1, text.find("\n[", at)
    found = re.search(rf"^{key}\b", text[begin : end if end >= 0 else None], flags=re.M)
    return 1 + text[: begin + (found.start() if found else 0)].count("\n")


@pytest.fixture
def refuse_file(refused: Callable[..., Exception], tmp_path: Path) -> Callable[..., None]:
    """Checks of a description with another text that a key is refused at its line; without one, that it is refused."""

    def check(command: str, base: str, old: str, new: str, key: str | None, of: str = "", **arguments: object) -> None:
        text = base.replace(old, new, 1)
        assert text != base
        (tmp_path / "run.toml").write_text(text)
        error = refused(command, run="run.toml", **arguments)
        line, what, message = re.match(r"run\.toml:(\d+): ([^:]+): (.*)", str(error)).groups()
        if key is not None:
            assert error.member == key or re.match(rf"(key ')?{key}\b", message), str(error)
            at = text.index(f'name = "{of}"') if of else base.index(old) + 1
            assert int(line) == line_of(text, at, key) and error.line in (0, int(line)) and of in what, str(error)

    return check


@pytest.fixture
def forget_expressions() -> Iterator[None]:
    """Leaves the table of operators as it was."""
    with patch.dict(OPERATORS):
        yield


def built_for_cpus(profile: str) -> set[str]:
    """Names of the kernels of a profile, and of the variants that were the fastest on some CPU."""
    kernels = load_profile(profile).kernels
    return {s.name for s in (*kernels, *choices(kernels, devices=())[1]["cpu"])}
