"""Records to text: every file of a profile, rendered through the templates."""

from __future__ import annotations

import hashlib
import re
import textwrap
import traceback
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import jinja2

from ..cpp.expressions import frame_text, storage_text
from ..folders import ROOT
from ..language.printed import literal
from ..launch import side_by_side
from ..operators.coarse import COARSE_HEADERS
from ..plan import NOT_TUNED, Tuning, body_path, chosen_for_large, exists_on, sample_of, slug, storages_of, unit_of
from ..profile import Profile
from ..spec import KernelSpec, Operator
from ..targets import TARGETS, Target
from .action_table import action_table
from .registry import NO_VARIANTS, halo_arguments, order_of, registry_data
from .tables import tables

TEMPLATES = ROOT / "templates"
_HEADERS = (
    *("expression_site", "propagator", "su3", "su3_adjoint", "site_values", "hop_weights", "term_exp", "part_update"),
    *COARSE_HEADERS,
)
"""Headers of runtime/kernels that some kernels need, in the order in which units include them."""


_actions = cache(action_table)
"""The same for all profiles."""


class TemplateError(RuntimeError):
    """A template cannot be rendered with the data it is given."""


@cache
def environment() -> jinja2.Environment:
    """The Jinja environment of all templates."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        line_statement_prefix="//%",
        autoescape=False,
    )
    made.filters["wrapped"] = lambda text: filled(text, 110, " " * 6)
    made.filters["terms"] = break_sum
    made.filters["commented"] = lambda text: textwrap.fill(text, 105).replace("\n", "\n  /// ")
    made.filters["broken"] = lambda text: filled(text, 105, " " * 8)
    return made


def filled(text: str, width: int, indent: str) -> str:
    """A paragraph of lines of at most so many columns, all but the first after an indent."""
    return text if len(text) <= width else textwrap.fill(text, width, subsequent_indent=indent)


@cache
def _digest(template: str) -> str:
    return hashlib.sha256((TEMPLATES / template).read_bytes()).hexdigest()[:8]


def break_sum(text: str, indent: int) -> str:
    """A long expression, broken after + and - of a sum; further lines begin with `indent` blanks."""
    lines = [""]
    for term in re.split(r"(?<= [+-]) ", text):
        joined = f"{lines[-1]} {term}".lstrip()
        if len(joined) <= 107:
            lines[-1] = joined
        else:
            lines.append(term)
    return ("\n" + " " * indent).join(lines)


def render(template: str, command: str, **data: Any) -> str:
    """Text of a template; `command` is stated in its banner.

    Raises:
        TemplateError: naming template, line and what is undefined or wrong.
    """
    try:
        loaded = environment().get_template(template)
        return loaded.render(command=command, template=template, digest=_digest(template), **data)
    except jinja2.TemplateError as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        raise TemplateError(f"template {template}, line {line}: {error}") from error


def render_profile(profile: Profile, tuning: Tuning = NOT_TUNED, sample: bool = False) -> dict[PurePosixPath, str]:
    """All files of a profile and of the variants that sweeps chose: path relative to the output folder -> text.

    `sample`: of kernels of GPUs a sample alone (`plan.sample_of`), for builds where none can run.
    """
    command = f"python -m generator generate --profile {profile.name}"
    files = render_files([*profile.kernels, *tuning.all_variants], command)
    for target in TARGETS.values():
        variants = tuning.variants.get(target.name, ())
        chosen = chosen_for_large(tuning, variants)
        listed = [spec for spec in (*profile.kernels, *variants) if exists_on(spec, target)]
        units: dict[str, list[KernelSpec]] = defaultdict(list)
        for spec in listed:
            units[unit_of(spec, target)].append(spec)
        if sample and target.threads:
            units = sample_of(units)
            listed = [spec for rows in units.values() for spec in rows]
        for unit, rows in units.items():
            files[PurePosixPath(f"{target.name}/{unit}.{target.suffix}")] = render_group(rows, target, command, chosen)
        data = registry_data(listed, target)
        files[PurePosixPath(f"{target.name}/registry.cpp")] = render("registry.cpp.j2", command, **data)
    files[PurePosixPath("tables.cpp")] = render("tables.cpp.j2", command, **tables(profile.kernels))
    files[PurePosixPath("actions.cpp")] = render("actions.cpp.j2", command, **_actions())
    devices = [
        {
            "name": name,
            "slug": slug(name),
            "architecture": tuning.architectures.get(name, ""),
            "rows": rows,
            "policies": tuning.policies.get(name, ()),
        }
        for name, rows in tuning.devices.items()
    ]
    files[PurePosixPath("tuned.cpp")] = render("tuned.cpp.j2", command, devices=devices)
    return files


def render_files(specs: Iterable[KernelSpec], command: str) -> dict[PurePosixPath, str]:
    """Renders the files that translation units include: link storages, bases and bodies."""
    files: dict[PurePosixPath, str] = {}
    specs = list(specs)
    for storage in storages_of(specs):
        template = "links.hpp.j2" if storage.colours == 3 else "storage.hpp.j2"
        text = render(template, command, name=storage.name.upper(), **storage_text(storage))
        files[PurePosixPath(f"links/{storage.name}.hpp")] = text
    for basis in {s.basis.short: s.basis for s in specs if s.basis}.values():
        text = render("basis.hpp.j2", command, name=f"Frame_{basis.short}", **frame_text(basis))
        files[PurePosixPath(f"bases/{basis.short}.hpp")] = text
    for spec in specs:
        path = body_path(spec)
        if path is not None and path not in files:
            files[path] = render_body(spec, command)
    return files


def render_calls(specs: Iterable[KernelSpec], command: str) -> dict[PurePosixPath, str]:
    """Typed calls of expressions, for programs of others."""
    calls = {spec.operator.name: spec.operator.call() for spec in specs}
    return {
        PurePosixPath(f"expressions/{name}.hpp"): render("call.hpp.j2", command, **call)
        for name, call in calls.items()
        if call
    }


_bodies: dict[tuple[Operator, str], str] = {}
_COMMAND = "COMMAND"


def render_body(spec: KernelSpec, command: str) -> str:
    """Body of a kernel: the text that does not depend on precision, storage, epilogue or tile; made once."""
    key = spec.operator, spec.body
    if key not in _bodies:
        _bodies[key] = render(spec.operator.template, _COMMAND, name=spec.body, **spec.operator.body(spec))
    return _bodies[key].replace(_COMMAND, command, 1)


def render_group(
    specs: Sequence[KernelSpec], target: Target, command: str, chosen: Mapping[str, KernelSpec] = NO_VARIANTS
) -> str:
    """One translation unit; `chosen` as for halo_arguments: variants, of which the rows alone are repeated here."""
    rows = [_row(s, target, chosen) for s in specs]
    here = {s.name for s in specs}
    others = [v for s in specs if halo_arguments(s, chosen) and (v := chosen.get(s.name)) and v.name not in here]
    rows = [{**_row(v, target, chosen), "launch": None} for v in others] + rows
    specs = [*others, *specs]
    headers = [target.include(h) for h in target.headers]
    if any(_around(s, target) == target.sums != "" for s in specs):
        headers.append(target.include("sums"))
    needed = {h for s in specs for h in s.operator.headers}
    headers += [f"runtime/kernels/{h}.hpp" for h in _HEADERS if h in needed]
    headers += [f"generated/links/{s.name}.hpp" for s in storages_of(specs)]
    headers += sorted({f"generated/bases/{spec.basis.short}.hpp" for spec in specs if spec.basis})
    headers += sorted({f"generated/{path}" for spec in specs if (path := body_path(spec))})
    return render(
        "kernels.cpp.j2",
        command,
        target_header=target.include("kernel"),
        headers=headers,
        rows=rows,
    )


def _around(spec: KernelSpec, target: Target) -> str:
    """C++ template around a body that adds something up; empty if it needs none."""
    return spec.operator.own_sums or (target.sums if spec.operator.sums else "")


def _row(spec: KernelSpec, target: Target, chosen: Mapping[str, KernelSpec]) -> dict[str, str | None]:
    operator = spec.operator
    cost = operator.cost(spec)
    instance = f"{operator.cpp_body(spec)}<{', '.join(operator.arguments(spec))}>"
    if around := _around(spec, target):
        instance = f"{around}<{instance}>"
    return {
        "name": spec.name,
        "instance": filled(instance, 105, " " * 10),
        "launch": _launch(spec, target),
        "halo": halo_arguments(spec, chosen) if target.threads else None,
        "cost": f"{cost.reported} flop, {literal(cost.bytes)} bytes a site and right-hand side; "
        f"{cost.reals} reals without reuse",
    }


def _launch(spec: KernelSpec, target: Target) -> str:
    """Template arguments of `apply` after the row."""
    if target.threads is None:
        return "".join(f", {name.capitalize()}" for name in spec.shape)
    numbers = f", {spec.block}, {spec.min_blocks}"
    if not spec.variant:
        return numbers + (f", {order_of(spec)}, Rhs::alone" if side_by_side(spec) else "")
    form = next((s for s in ("pairs", "quads") if s in spec.shape), "batch" if "kept" in spec.shape else "alone")
    return f"{numbers}, {order_of(spec)}, Rhs::{form}"
