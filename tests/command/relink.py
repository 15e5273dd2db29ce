"""Programs linked as in the build, with some objects of a test before the library."""

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conftest import BUILD, Command


def compiled(source: Path, like: str, command: str = "") -> Path:
    """The object of a source, compiled as the build compiles the file that ends in `like`, by a command with a text."""
    records = json.loads((BUILD / "compile_commands.json").read_text())
    record = next(r for r in records if r["file"].endswith(like) and command in r["command"])
    words = shlex.split(record["command"])
    out = source.with_suffix(".o")
    words[words.index("-o") + 1], words[words.index("-c") + 1] = str(out), str(source)
    subprocess.run(words, cwd=record["directory"], check=True)
    return out


def linked(folder: Path, objects: Sequence[Path | str]) -> Path:
    """The command `quarksmith` in `folder`: what `objects` define stands in for what the library does.

    Options of the linker may be among them.
    """
    listed = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "bin/quarksmith"], capture_output=True, text=True)
    link = listed.stdout.splitlines()[-1]
    assert "-o bin/quarksmith " in link and " libquarksmith.a" in link
    names = " ".join(map(str, objects))
    link = link.replace("-o bin/quarksmith ", f"-o {folder}/quarksmith {names} ")
    subprocess.run(link, shell=True, cwd=BUILD, check=True)
    return folder / "quarksmith"


def own_command(folder: Path, objects: Sequence[Path | str]) -> Command:
    """The same as a command of tests, with one thread: their lattices are small."""
    return Command(folder, linked(folder, objects), OMP_NUM_THREADS="1")
