"""Files of the project: those that git keeps. Users keep files of their own beside them, which no test is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def program(path: Path, text: str) -> None:
    """A script in the place of a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def tracked(*patterns: str) -> list[Path]:
    """Files below a folder by patterns such as `docs/*.md`; in the folder of a tarball all that are there."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [ROOT / line for line in listing.stdout.split("\0") if line and (ROOT / line).is_file()]
    return found or sorted(p for each in map(Path, patterns) for p in (ROOT / each.parent).rglob(each.name))
