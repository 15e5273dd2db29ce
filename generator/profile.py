"""Profiles: the only list of what is built. A TOML file of rows, each expanded over the lists it gives."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.algebra.gamma import find_basis
from generator.launch import default_launch
from generator.operators import add_expressions, find_operator
from generator.spec import KernelSpec, SpecError

FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True)
class Profile:
    """A named set of kernels.

    Attributes:
        name: stem of its file.
        path: the file.
        kernels: expanded records, sorted by name, without repetition.
        budget: upper limits: `kernels`, `lines` of generated text, `seconds` of build time on two cores.
    """

    name: str
    path: Path
    kernels: tuple[KernelSpec, ...]
    budget: dict[str, int]

    def find(self, name: str) -> KernelSpec:
        """The record of that name.

        Raises:
            SpecError: not in this profile.
        """
        for spec in self.kernels:
            if spec.name == name:
                return spec
        raise SpecError(f"kernel '{name}' is not in profile {self.name}; `list --profile {self.name}` shows all")


def profile_path(name: str) -> Path:
    """File of a profile given by name or path.

    Raises:
        SpecError: no such file.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise SpecError(f"profile '{name}' is unknown; use one of {known} or the path of a .toml file")
    return path


def load_profile(name: str) -> Profile:
    """Reads and expands a profile.

    Raises:
        SpecError: unreadable, an unknown key or value, or more kernels than its budget.
    """
    path = profile_path(name)
    try:
        data = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"profile {path}: {error}") from error
    unknown = set(data) - {"kernel", "budget", "expressions"}
    if unknown:
        raise SpecError(
            f"profile {path}: unknown table {', '.join(sorted(unknown))}; use [[kernel]], [budget] and expressions"
        )
    for file in data.get("expressions", []):
        add_expressions(path.parent / file)
    specs: dict[str, KernelSpec] = {}
    for number, row in enumerate(data.get("kernel", []), start=1):
        try:
            for spec in expand_row(row, path.parent):
                specs[spec.name] = spec
        except ValueError as error:
            raise SpecError(f"profile {path}, [[kernel]] number {number}: {error}") from error
    budget = data.get("budget", {})
    limit = budget.get("kernels")
    if limit is not None and len(specs) > limit:
        raise SpecError(
            f"profile {path}: {len(specs)} kernels exceed its budget of {limit}; drop rows or raise the budget"
        )
    return Profile(path.stem, path, tuple(sorted(specs.values())), budget)


def expand_row(row: dict[str, Any], folder: Path) -> list[KernelSpec]:
    """All records of one row: the product of its lists."""
    names = _as_list(row.get("operator"))
    result = []
    for name in names:
        operator = find_operator(name)
        given = {k: v for k, v in row.items() if k != "operator"}
        extra = sorted(set(given) - set(operator.axes))
        if extra:
            raise SpecError(f"operator {name} has no axis {', '.join(extra)}; it has {', '.join(operator.axes)}")
        missing = [a for a in ("precision", "links", "basis", "tile") if a in operator.axes and a not in given]
        if missing:
            raise SpecError(f"operator {name} needs {', '.join(missing)}")
        axes = {axis: [_value(axis, v, folder) for v in _as_list(values)] for axis, values in given.items()}
        for combination in itertools.product(*axes.values()):
            spec = KernelSpec(operator=name, **dict(zip(axes, combination, strict=True)))
            result.append(spec.with_launch(*default_launch(operator, spec)))
    return result


def row_for(spec: KernelSpec) -> str:
    """The profile row that adds one kernel."""
    operator = find_operator(spec.operator)
    text = {
        "dagger": str(spec.dagger).lower(),
        "epilogue": f'"{spec.epilogue}"',
        "precision": f'"{spec.precision}"',
        "links": f'"{spec.links[1:]}"',
        "basis": f'"{spec.basis.source or spec.basis.name}"' if spec.basis else "",
        "coefficient": f'"{spec.coefficient}"',
        "tile": str(spec.tile),
        "ranks": str(spec.ranks).lower(),
        "spins": str(spec.spins),
    }
    pairs = [f'operator = "{spec.operator}"'] + [f"{axis} = [{text[axis]}]" for axis in operator.axes]
    return "[[kernel]]\n" + "\n".join(pairs)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        raise SpecError("a row needs `operator`")
    return value if isinstance(value, list) else [value]


def _value(axis: str, value: Any, folder: Path) -> Any:
    if axis == "basis":
        return find_basis(value, folder)
    if axis == "links":
        return f"r{value}"
    return value
