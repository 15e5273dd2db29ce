"""Runs the built command."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("QUARKSMITH_BUILD", "build")
os.environ.setdefault("QUARKSMITH_ON_DEMAND", "off")  # a test that lacks a kernel is to fail


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
