"""Writes rendered files: only those that changed, each through a temporary name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..targets import TARGETS

READ = ("links", "bases", "bodies")
"""Folders of what a person reads: git keeps them, of bodies those of .gitignore. The others hold rows and tables."""
OWNED = (*READ, *TARGETS)
"""Folders whose files all come from the generator."""
STAMP = ".rendered"
"""Its time is that of the last rendering; the build renders again if the generator is newer (cmake/render.cmake)."""


@dataclass(frozen=True)
class Written:
    """What a run did.

    Attributes:
        files: files of the profile.
        changed: files written because they were missing or different.
        removed: files of an earlier run that the profile no longer asks for.
        lines: lines of text in all.
    """

    files: int
    changed: int
    removed: int
    lines: int


def write_files(files: dict[PurePosixPath, str], folder: Path) -> Written:
    """Makes `folder` hold exactly `files` (and whatever lies outside the owned folders).

    Raises:
        OSError: the folder cannot be written; nothing half-written remains.
    """
    changed = 0
    for path, text in sorted(files.items()):
        changed += write_if_changed(folder / path, text)
    removed = 0
    for owned in OWNED:
        for existing in sorted((folder / owned).glob("*")):
            if PurePosixPath(owned) / existing.name not in files:
                existing.unlink()
                removed += 1
    (folder / STAMP).touch()
    return Written(len(files), changed, removed, sum(text.count("\n") for text in files.values()))


def write_if_changed(path: Path, text: str | bytes) -> bool:
    """Writes `text` unless the file already holds it; keeps time stamps of unchanged files for the build."""
    data = text.encode() if isinstance(text, str) else text
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return True
