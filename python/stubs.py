"""Writes the types of the package into its folder: those of the module and those of the commands, as they say them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

HEAD = '''"""A function for each command."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ._quarksmith import GaugeField, Spinors
from .arrays import Array
from .calls import Eigenvectors, Report
from .table import Command

Text = str | bytes | os.PathLike[str] | os.PathLike[bytes]
TABLE: dict[str, Command]

def with_action(given: dict[str, Any]) -> dict[str, Any]:
    ...

def refresh() -> None:
    """Reads the table anew, where an action was added: its parameters are arguments."""
    ...

Values = Text | complex | Sequence[float] | Sequence[complex] | Sequence[str]
'''
GIVEN = {
    "rhs": "Spinors | Array",
    "guess": "Spinors | Array",
    "out": "Spinors | Array",
    "on_trajectory": "Callable[[dict[str, Any]], object]",
}
"""What calls take besides what describes a run."""
LEAVES = {"gauge": "GaugeField", "quarks": "Spinors", "report": "Report", "eigenvectors": "Eigenvectors"}


def type_of(member: Any) -> str:
    """What a member takes."""
    if member.flag:
        return "bool"
    if member.choices:
        values = member.choices if member.type == "TEXT" else [int(c) for c in member.choices]
        return f"Literal[{', '.join(map(repr, values))}]"
    numbers = {"FLOAT": "float", "INT": "int", "UINT": "int"}
    return numbers.get(member.type, "Mapping[str, Any] | Sequence[Text]" if member.repeated else "Values")


def stub(command: Any) -> str:
    """The declaration of a command."""
    lines, named = [], False
    for name, p in command.signature().parameters.items():
        if p.kind is p.KEYWORD_ONLY and not named:
            lines.append("    *,")
            named = True
        kind = type_of(command.members[name]) if name in command.members else GIVEN[name]
        if name in ("gauge", "in_"):
            kind = "GaugeField | Text"
        if name == "run":
            kind = "Mapping[str, Any] | Text"
        if p.default is p.empty:
            lines.append(f"    {name}: {kind},")
        else:
            lines.append(f"    {name}: {kind}{' | None' if p.default is None else ''} = {p.default!r},")
    doc = "\n".join(f"    {line}".rstrip() for line in command.doc().replace("\\", "\\\\").splitlines())
    lines = [f"def {command.name}(", *lines, f") -> {LEAVES[command.leaves]}:"]
    return "\n".join([*lines, f'    """{doc.strip()}\n    """', "    ...", ""])


def main(package: Path) -> None:
    """Writes them."""
    sys.path.insert(0, str(package.parent))
    from quarksmith.commands import TABLE

    names = "\n".join(f'    "{name}",' for name in TABLE)
    text = f"{HEAD}\n__all__ = [\n{names}\n]\n\n" + "\n".join(stub(c) for c in TABLE.values())
    (package / "commands.pyi").write_text(text)
    (package / "py.typed").write_text("")
    arguments = ["-m", "quarksmith._quarksmith", "-o", str(package / "_quarksmith.pyi")]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-i", package.parent, *arguments], check=True)
    module = package / "_quarksmith.pyi"
    device = "    def __dlpack_device__(self) -> tuple[int, int]: ...\n"
    buffer = "    def __buffer__(self, flags: int, /) -> memoryview: ...\n"  # a slot, which nanobind does not list
    text = module.read_text().replace(device, f"{device}\n{buffer}")
    module.write_text(text.replace(") -> object:", ") -> Any:"))  # numbers, or arrays of them


def record(package: Path) -> None:
    """Writes what an installed package keeps of its build, beside the package."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from generator.emit.build import RECORD, read_build, write_record

    write_record(read_build(package.parents[1]), package.parent / RECORD)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
    record(Path(sys.argv[1]).absolute())
