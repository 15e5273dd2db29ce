"""Link programs of records to rows of the table that C++ has (runtime/action_info.hpp: LinkLaunch)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..cpp.numbers import number_function
from ..language.graph import Node
from ..lower.program import Launch, product
from ..lower.record import Lowered
from ..operators.programs import core_name, is_loop


@dataclass(frozen=True)
class Program:
    """Rows of fields, of launches by stage, how far the stages reach; functions to which launches refer by number."""

    fields: list[str]
    launches: list[list[str]]
    reaches: list[str]
    numbers: list[str]


def program_rows(record: Lowered) -> Program:
    """The fields of a statement, those that it makes after the others, and the launches that make them."""
    kept = {name for stage in record.stages for name in stage.fields}
    fields = [_field_row(record, name, kept=name in kept) for name in record.fields]
    numbers: dict[str, int] = {}
    launches = [[_launch_row(record, launch, numbers) for launch in stage.launches] for stage in record.stages]
    return Program(fields, launches, [_list(stage.reach) for stage in record.stages], list(numbers))


def _field_row(record: Lowered, name: str, *, kept: bool) -> str:
    origin = next((f.origin for f in record.action.fields if f.name == name), "made")
    moves = str(name in record.moving).lower()
    slots = sum(1 << mu for mu in record.graphs.made.get(name, range(4)))
    group = [f'"{record.group(name)}"'] * (name in record.read and record.fields[name] in ("links", "matrices"))
    return _list(
        [f'"{name}"', f'"{record.fields[name]}"', f"Origin::{origin}", moves, slots, str(kept).lower(), *group]
    )


def _launch_row(record: Lowered, launch: Launch, numbers: dict[str, int]) -> str:
    """Initialiser of a LinkLaunch in C++; functions that `numbers` lacks are added."""
    parameters, place = [p.name for p in record.action.parameters], list(record.fields).index

    def number(node: Node) -> int:
        return numbers.setdefault(number_function(((1.0, (node,)),), parameters), len(numbers))

    more = [-1 if not launch.kept else place(launch.kept), is_loop(launch, record.gauge), launch.projects]
    members = [
        f'"{core_name(launch.core)}"',
        f"LinkLaunch::{'sets' if launch.first else 'adds'}",
        place(launch.field),
        -1 if launch.mu is None else launch.mu,
        number(product(launch.weight)) if launch.weight else -1,
        *map(_list, (map(place, launch.operands), map(number, launch.numbers), launch.directions)),
        *(str(value).lower() for value in (more if more != [-1, False, False] else [])),
    ]
    return _list(members)


def _list(members: Iterable[object]) -> str:
    return f"{{{', '.join(map(str, members))}}}"
