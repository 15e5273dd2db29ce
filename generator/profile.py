"""Profiles: the only list of what is built. A TOML file of rows, each expanded over the lists it gives."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .algebra.gamma import find_basis
from .algebra.su3 import STORAGES, numbers_of
from .errors import SpecError
from .include import SETS, WORKING_BASIS, included
from .launch import launched
from .operators import RECORDS, REFUSED, action_of_file, add_action, add_expressions, find_operator
from .served import operators_of
from .spec import KernelSpec

DIRAC = 4
"""Colour vectors of a site where a row does not say how many."""
FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True)
class Profile:
    """A named set of kernels.

    Attributes:
        name: stem of its file.
        path: the file.
        kernels: expanded records, sorted by name, without repetition.
        budget: `kernels`, `lines` of generated text, `seconds` of build time on two cores that are meant to suffice.
            Tests hold the profiles of the project to theirs; what a user adds to one is not counted.
        added: by set of `include` the kernels that its rows alone do not ask for.
    """

    name: str
    path: Path
    kernels: tuple[KernelSpec, ...]
    budget: dict[str, int]
    added: dict[str, list[KernelSpec]] = field(default_factory=dict)

    def find(self, name: str) -> KernelSpec:
        """The record of that name.

        Raises:
            SpecError: not in this profile.
        """
        for spec in self.kernels:
            if spec.name == name:
                return spec
        raise SpecError(f"kernel '{name}' is not in profile {self.name}; `list --profile {self.name}` shows all")


def profile_path(name: str, folder: Path = Path()) -> Path:
    """File of a profile given by name or by path, which is that from a folder.

    Raises:
        SpecError: no such file.
    """
    path = folder / name if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise SpecError(f"profile '{name}' is unknown; use one of {known} or the path of a .toml file")
    return path


@dataclass(frozen=True)
class _Row:
    """A `[[kernel]]` and where it stands; paths in it start from the folder of its file."""

    axes: dict[str, Any]
    path: Path
    number: int


def load_profile(name: str, having: str = "") -> Profile:
    """Reads and expands a profile.

    Args:
        name: of the profile, or its file.
        having: a kernel; if rows name it, or nothing else can, what such rows ask for.

    Raises:
        SpecError: unreadable, or an unknown key or value.
    """
    path = profile_path(name)
    data = _read(path)
    for file in data["expressions"]:
        add_expressions(file)
    if having:
        specs, _ = _expand([replace(row, axes=_narrowed(row.axes, having)) for row in data["kernel"]])
        if having in specs or not data.get("include", SETS):
            return Profile(path.stem, path, tuple(sorted(specs.values())), data.get("budget", {}))
    specs, taking_part = _expand(data["kernel"])
    try:
        added = included(taking_part, _sets(data.get("include", list(SETS))))
    except SpecError as error:
        raise SpecError(f"profile {path}: {error}") from error
    for group in added.values():
        group[:] = [s for s in group if s.name not in specs]
    everything = specs | {s.name: s for group in added.values() for s in group}
    return Profile(path.stem, path, tuple(sorted(everything.values())), data.get("budget", {}), added)


def _read(path: Path, extended_by: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Tables of a profile: rows and expressions after those of the one that it extends, whose `include` it takes.

    Raises:
        SpecError: unreadable, an unknown key, or a profile that extends itself.
    """
    chain = (*extended_by, path.resolve())
    if path.resolve() in extended_by:
        raise SpecError(f"profile {path} extends itself: {' -> '.join(p.name for p in chain)}; drop one `extends`")
    try:
        data = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"profile {path}: {error}") from error
    unknown = set(data) - {"kernel", "budget", "expressions", "include", "extends"}
    if unknown:
        raise SpecError(
            f"profile {path}: unknown table {', '.join(sorted(unknown))}; "
            "use [[kernel]], [budget], extends, include and expressions"
        )
    data["kernel"] = [_Row(row, path, n) for n, row in enumerate(data.get("kernel", []), start=1)]
    data["expressions"] = [path.parent / file for file in data.get("expressions", [])]
    if "extends" not in data:
        return data
    try:
        if not isinstance(data["extends"], str):
            raise SpecError(f"{data['extends']!r} is no name; use that of one profile or the path of a .toml file")
        base = profile_path(data["extends"], path.parent)
    except SpecError as error:
        raise SpecError(f"profile {path}, extends: {error}") from error
    found = _read(base, chain)
    found.pop("budget", None)  # of fewer kernels
    return found | data | {key: found[key] + data[key] for key in ("kernel", "expressions")}


def all_of_row(text: str) -> list[KernelSpec]:
    """The records that a `[[kernel]]` names, of `actions` of files too.

    Of a program that asks: axes that an operator lacks are left out.

    Raises:
        SpecError: the text is no such row.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"row {text!r}: {error}") from error
    for file in given.get("actions", []):
        add_action(action_of_file(file), with_digest=True)
    found = []
    for row in given.get("kernel", []):
        if "operator" not in row:
            found += expand_row(row, FOLDER)
            continue
        for name in _as_list(row["operator"]):
            axes = find_operator(name).all_axes
            found += expand_row({"operator": name} | {k: v for k, v in row.items() if k in axes}, FOLDER)
    return found


def one_of_row(text: str) -> KernelSpec:
    """The record of a row that names one.

    Raises:
        SpecError: the text is no such row, or its lists have several values.
    """
    specs = all_of_row(text)
    if len(specs) != 1:
        raise SpecError(f"row {text!r} names {len(specs)} kernels; give one value to each axis")
    return specs[0]


def _expand(rows: list[_Row]) -> tuple[dict[str, KernelSpec], list[KernelSpec]]:
    """The kernels of all rows by name, and those from which `include` follows; `ranks` holds if one row asks for it."""
    specs: dict[str, KernelSpec] = {}
    taking_part: dict[str, KernelSpec] = {}
    for row in rows:
        try:
            part = row.axes.get("include", True)
            if not isinstance(part, bool):
                raise SpecError(f"include = {part!r} of a row; use true or false")
            for spec in expand_row({k: v for k, v in row.axes.items() if k != "include"}, row.path.parent):
                before = specs.get(spec.name, spec)
                specs[spec.name] = before if before.ranks else spec
                if part:
                    taking_part[spec.name] = specs[spec.name]
        except ValueError as error:
            raise SpecError(f"profile {row.path}, [[kernel]] number {row.number}: {error}") from error
    return specs, list(taking_part.values())


def _narrowed(axes: dict[str, Any], name: str) -> dict[str, Any]:
    """A row with those operators, precisions and links alone that a kernel of this name may have."""
    if "operator" not in axes:
        return axes
    texts = {a: [v for v in _as_list(axes[a]) if str(v) in name] for a in ("precision", "links") if a in axes}
    return axes | texts | {"operator": [o for o in _as_list(axes["operator"]) if name.startswith(str(o))]}


def _sets(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise SpecError(f"include = {value!r}; use a list of {', '.join(SETS)}, or [] for the rows alone")
    return [str(v) for v in value]


def expand_row(row: dict[str, Any], folder: Path) -> list[KernelSpec]:
    """All records of one row: the product of its lists; of a row with `action` what that action is solved with."""
    if "action" in row:
        given = {k: v for k, v in row.items() if k != "action"}
        rows = [r for name in _as_list(row["action"]) for r in rows_of_action(name, given)]
        return [spec for r in rows for spec in expand_row(r, folder)]
    names = _as_list(row.get("operator"))
    result = []
    for name in names:
        operator = find_operator(name)
        given = {k: v for k, v in row.items() if k != "operator"}
        extra = sorted(set(given) - set(operator.all_axes))
        if extra:
            raise SpecError(f"operator {name} has no axis {', '.join(extra)}; it has {', '.join(operator.all_axes)}")
        if operator.family == "expression" and "spins" in operator.axes:
            given.setdefault("spins", DIRAC)
        missing = [a for a in ("precision", "links", "basis", "tile") if a in operator.axes and a not in given]
        if missing:
            raise SpecError(f"operator {name} needs {', '.join(missing)}")
        axes = {axis: [_value(axis, v, folder) for v in _as_list(values)] for axis, values in given.items()}
        for combination in itertools.product(*axes.values()):
            result.append(launched(KernelSpec(operator, **dict(zip(axes, combination, strict=True)))))
    return result


def rows_of_action(name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the operators that an action is solved with, each with those of the given axes that it has.

    Links are stored with 12 reals, or 18 where they are not SU(3), and the basis is that of the solvers, unless given;
    of bodies with both, which molecular dynamics takes with 18.

    Raises:
        SpecError: there is no such action, it was refused, or an axis is none.
    """
    stated = name.replace("-", "_")
    if stated not in RECORDS:
        why = REFUSED.get(stated, f"use one of {', '.join(sorted(RECORDS))}")
        raise SpecError(f"action '{name}': {why}")
    unknown = set(given) - {"precision", "links", "basis", "coefficient", "ranks"}
    if unknown or "precision" not in given:
        wrong = f"has no axis {', '.join(sorted(unknown))}" if unknown else "needs precision"
        raise SpecError(f"a row of action {name} {wrong}; it takes precision, links, basis, coefficient and ranks")
    record = RECORDS[stated]
    groups = [group == "SU(3)" for group in record.groups.values()]
    in_su3 = all(groups) if record.form is not None else any(groups)  # bodies read other matrices beside links
    links = [12, 18] if in_su3 and record.form is None else 12 if in_su3 else 18
    axes = {"links": links, "basis": WORKING_BASIS} | given
    found = []
    for operator, own in operators_of(record):
        found.append({"operator": operator.name} | {a: v for a, v in (axes | own).items() if a in operator.axes})
    return found


def row_for(spec: KernelSpec) -> str:
    """The profile row that adds one kernel."""
    text = {
        "dagger": str(spec.dagger).lower(),
        "epilogue": f'"{spec.epilogue}"',
        "precision": f'"{spec.precision}"',
        "links": f'"{numbers_of(spec.links)}"',
        "basis": f'"{spec.basis.source or spec.basis.name}"' if spec.basis else "",
        "coefficient": f'"{spec.coefficient}"',
        "tile": str(spec.tile),
        "ranks": str(spec.ranks).lower(),
        "spins": str(spec.spins),
        "colours": str(spec.colours),
    }
    axes = [axis for axis in spec.operator.all_axes if axis != "colours" or spec.colours != 3]
    pairs = [f'operator = "{spec.operator.name}"'] + [f"{axis} = [{text[axis]}]" for axis in axes]
    return "[[kernel]]\n" + "\n".join(pairs)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        raise SpecError("a row needs `operator`")
    return value if isinstance(value, list) else [value]


def _value(axis: str, value: Any, folder: Path) -> Any:
    if axis == "basis":
        return find_basis(value, folder)
    if axis == "links":
        return str(value) if str(value) in STORAGES else f"r{value}"
    return value
