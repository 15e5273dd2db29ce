"""Runs the built command."""

import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

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
    """The built `quarksmith`, run in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: object, status: int = 0, **options: object) -> subprocess.CompletedProcess[str]:
        """Runs one command and checks its exit status."""
        run = subprocess.run(
            [BUILD / "bin" / "quarksmith", *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            **options,
        )
        if status == 0 and run.returncode != 0:
            skip_what_wide_has(run.stderr)
        assert run.returncode == status, f"status {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run

    def refuses(self, *arguments: object, status: int = 2, **options: object) -> str:
        """The one error message of a command that must fail."""
        run = self(*arguments, status=status, **options)
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        errors = [
            line for line in lines if "error" in line.lower() or "required" in line.lower() or "not" in line.lower()
        ]
        assert errors, run.stderr
        return run.stderr


@pytest.fixture
def quarksmith(tmp_path: Path) -> Command:
    """The command, in a fresh folder."""
    if not (BUILD / "bin" / "quarksmith").exists():
        pytest.fail(f"{BUILD}/bin/quarksmith is missing; run `make library`")
    return Command(tmp_path)


@pytest.fixture
def measured(quarksmith: Command, tmp_path: Path) -> Callable[[str], dict]:
    """Runs a description of measurements on one configuration; gives its results by name."""

    def run(text: str) -> dict:
        (tmp_path / "run.toml").write_text(text)
        quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json")
        return json.loads((tmp_path / "r.json").read_text())["configurations"][0]["results"]

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


def built_for_cpus(profile: str) -> set[str]:
    """Names of the kernels of a profile, and of the variants that were the fastest on some CPU."""
    kernels = load_profile(profile).kernels
    return {s.name for s in (*kernels, *choices(kernels, devices=())[1]["cpu"])}
