"""Link programs of records to rows of the table that C++ has (runtime/action_info.hpp: LinkLaunch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..cpp.numbers import number_function
from ..lower.program import Launch, product
from ..lower.record import Lowered
from ..operators.programs import core_name, is_loop

_HOW = {True: "sets", False: "adds"}


@dataclass
class Numbers:
    """Functions of an action's parameters, each once: launches refer to them by number."""

    parameters: Sequence[str]
    functions: list[str] = field(default_factory=list)

    def index(self, code: str) -> int:
        """The number of a function, which is added if it is not there."""
        if code not in self.functions:
            self.functions.append(code)
        return self.functions.index(code)


@dataclass(frozen=True)
class Program:
    """Rows of fields, of launches by stage, and how far the stages reach."""

    fields: list[str]
    launches: list[list[str]]
    reaches: list[str]


def program_rows(record: Lowered, numbers: Numbers) -> Program:
    """The fields of a statement, those that it makes after the others, and the launches that make them."""
    names = list(record.fields)
    kept = {name for stage in record.stages for name in stage.fields}
    fields = [_field_row(record, name, kept=name in kept) for name in names]
    launches = [[_launch_row(record, names, launch, numbers) for launch in stage.launches] for stage in record.stages]
    return Program(fields, launches, [f"{{{', '.join(map(str, stage.reach))}}}" for stage in record.stages])


def _field_row(record: Lowered, name: str, *, kept: bool) -> str:
    origin = next((f.origin for f in record.action.fields if f.name == name), "made")
    moves = str(name in record.moving).lower()
    members = [f'"{name}"', f'"{record.fields[name]}"', f"Origin::{origin}", moves]
    slots = sum(1 << mu for mu in record.graphs.made.get(name, range(4)))
    members += [str(slots), str(kept).lower()]
    if name in record.read and record.fields[name] in ("links", "matrices"):
        members.append(f'"{record.group(name)}"')
    return f"{{{', '.join(members)}}}"


def _launch_row(record: Lowered, names: Sequence[str], launch: Launch, numbers: Numbers) -> str:
    """Initialiser of a LinkLaunch in C++."""
    parameters = numbers.parameters
    weight = numbers.index(number_function(((1.0, (product(launch.weight),)),), parameters)) if launch.weight else -1
    of_core = [numbers.index(number_function(((1.0, (n,)),), parameters)) for n in launch.numbers]
    flags = [str(flag).lower() for flag in (is_loop(launch, record.gauge), _projects(launch))]
    more = [names.index(launch.kept) if launch.kept else -1, *flags]
    members = [
        f'"{core_name(launch.core)}"',
        f"LinkLaunch::{_HOW[launch.first]}",
        names.index(launch.field),
        -1 if launch.mu is None else launch.mu,
        weight,
        *map(_list, ([names.index(name) for name in launch.operands], of_core, launch.directions)),
        *(more if more != [-1, "false", "false"] else []),
    ]
    return f"{{{', '.join(map(str, members))}}}"


def _projects(launch: Launch) -> bool:
    node = launch.core.node
    return node.op == "project_u3" and node.args[0].op == "load"


def _list(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"
