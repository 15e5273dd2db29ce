"""The build whose programs load what is compiled on demand: compilers, flags, and the kernels that it holds."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SpecError
from ..folders import ROOT
from ..targets import HOST, TABLES

RECORD = "kernels.json"
"""File of the Python package about its build: kernels and compile commands, in which SOURCES is the source folder."""
SOURCES = "{sources}"


@dataclass(frozen=True)
class Build:
    """The build whose programs will load the module.

    Attributes:
        folder: the folder of the build.
        commands: table (generator/targets.py) -> compiler and flags as the build uses them.
        kernels: names of the kernels that the build holds already.
        tables: the tables for which modules are compiled.
    """

    folder: Path
    commands: dict[str, list[str]]
    kernels: frozenset[str]
    tables: tuple[str, ...] = tuple(TABLES)

    @property
    def devices(self) -> list[str]:
        """Names of the targets that the build has compilers for, each once."""
        return list(dict.fromkeys(TABLES[table].name for table in TABLES if table in self.commands))

    @property
    def tests(self) -> Path | None:
        """The program of all tests, or of those of kernels (`make kernel-tests`); none was built."""
        programs = (self.folder / "bin" / name for name in ("quarksmith_tests", "quarksmith_kernel_tests"))
        return next((program for program in programs if program.is_file()), None)

    @property
    def cache(self) -> Path:
        """Folder of compiled modules: in the build, or in the user's cache if that is read-only or a Python package."""
        recorded = (self.folder / RECORD).is_file()
        if not recorded and (not self.folder.exists() or os.access(self.folder, os.W_OK)):
            return self.folder / "kernels"
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # to be ignored by the XDG specification
            base = Path.home() / ".cache"
        return base / "quarksmith" / "kernels"

    @property
    def compiled(self) -> list[str]:
        """Tables that modules hold."""
        return [name for name in TABLES if name in self.commands and name in self.tables]

    @property
    def host_tables(self) -> list[str]:
        """Tables of CPU kernels, one for each instruction set."""
        return [table for table in HOST.tables if table in self.commands]

    @property
    def host(self) -> list[str]:
        """Compiler and flags of kernels for the host, those of its first instruction set."""
        return self.commands[self.host_tables[0]]


def write_record(build: Build, file: Path) -> None:
    """Writes the record from which `read_build` works when the build and its sources are no longer there."""
    commands = {t: [w.replace(str(ROOT), SOURCES) for w in words] for t, words in build.commands.items()}
    file.write_text(json.dumps({"commands": commands, "kernels": sorted(build.kernels)}))


def read_build(folder: Path) -> Build:
    """Reads how a build compiles, from its compile_commands.json or from the record of the Python package.

    Raises:
        SpecError: the folder holds no finished configuration.
    """
    if (folder / RECORD).is_file():
        kept = json.loads((folder / RECORD).read_text())
        found = {t: [w.replace(SOURCES, str(ROOT)) for w in words] for t, words in kept["commands"].items()}
        return Build(folder, found, frozenset(kept["kernels"]))
    record, suffix = folder / "compile_commands.json", ""
    if not record.is_file():  # a further profile of a build has a folder inside that build's
        record, suffix = folder.parent / "compile_commands.json", f"-{folder.name}"
    if not record.is_file():
        raise SpecError(f"{folder} holds no build; run `make test` or `make library TESTS=ON` first")
    commands: dict[str, list[str]] = {}
    names: set[str] = set()
    for entry in json.loads(record.read_text()):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        spaces = ((table, target.tables[table]) for table, target in TABLES.items())
        table = next((t for t, space in spaces if f"/quarksmith_{space}{suffix}.dir/" in output), None)
        if table is not None:
            commands.setdefault(table, _flags(words))
        if entry["file"].endswith(f"{HOST.name}/registry.cpp") and table is not None:
            names |= set(re.findall(r'^    kernel\("(\w+)"', Path(entry["file"]).read_text(), flags=re.M))
    if not commands:
        raise SpecError(f"{folder} holds no build; run `make test` or `make library TESTS=ON` first")
    return Build(folder, commands, frozenset(names))


def _flags(words: Sequence[str]) -> list[str]:
    """The compiler and flags of a recorded command, without launcher (ccache), input and output."""
    kept = [w for w in words if not re.fullmatch(r"env|CCACHE_\w+=.*|.*ccache", w)]
    for option in ("-o", "-c"):
        at = kept.index(option)
        del kept[at : at + 2]
    return kept
