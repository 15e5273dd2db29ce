"""Records to text: every file of a profile, rendered through the templates."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2
import numpy as np

from generator.algebra.su3 import STORAGES
from generator.emit.action_table import action_table
from generator.emit.cpp import accumulation, combination, frame_text, literal, storage_text
from generator.emit.registry import NO_VARIANTS, halo_arguments, order_of, registry_data
from generator.emit.tables import tables
from generator.language.operator import Expression
from generator.lower.hopping import DIRECTION_NAMES
from generator.operators import find_operator
from generator.operators.hopping import Hop, HoppingOperator
from generator.profile import Profile
from generator.spec import KernelSpec

TEMPLATES = Path(__file__).parents[2] / "templates"
TARGETS = {"cpu": "cpp", "cuda": "cu"}
"""Targets and the ending of their translation units."""


@dataclass(frozen=True)
class Tuning:
    """What sweeps chose: rows of templates/tuned.cpp.j2 by device, the variants that they name, and policies."""

    devices: Mapping[str, Sequence[Any]]
    variants: Sequence[KernelSpec]
    policies: Mapping[str, Sequence[Any]] = field(default_factory=dict)


NOT_TUNED = Tuning({}, ())


class TemplateError(RuntimeError):
    """A template cannot be rendered with the data it is given."""


@cache
def environment() -> jinja2.Environment:
    """How templates are read."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        line_statement_prefix="//%",
        autoescape=False,
    )
    made.filters["wrapped"] = lambda text: textwrap.fill(text, 110, subsequent_indent=" " * 6)
    made.filters["terms"] = break_sum
    made.filters["commented"] = lambda text: textwrap.fill(text, 105).replace("\n", "\n  /// ")
    made.filters["broken"] = lambda text: textwrap.fill(text, 105, subsequent_indent=" " * 8)
    return made


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
    source = (TEMPLATES / template).read_text()
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    try:
        return environment().get_template(template).render(command=command, template=template, digest=digest, **data)
    except jinja2.TemplateError as error:
        raise TemplateError(f"template {template}, line {getattr(error, 'lineno', '?')}: {error}") from error


def render_profile(profile: Profile, tuning: Tuning = NOT_TUNED) -> dict[PurePosixPath, str]:
    """All files of a profile and of the variants that sweeps chose: path relative to the output folder -> text."""
    command = f"python -m generator generate --profile {profile.name}"
    files = render_files([*profile.kernels, *tuning.variants], command)
    groups: dict[str, list[KernelSpec]] = defaultdict(list)
    for spec in profile.kernels:
        groups[group_of(spec)].append(spec)
    for target, ending in TARGETS.items():
        variants = [v for v in tuning.variants if (v.block == 0) == (target == "cpu")]
        chosen = _chosen_for_large(tuning, variants)
        for group, specs in sorted(groups.items()):
            rows = [s for s in (*specs, *variants) if group_of(s) == group and exists_on(s, target)]
            files[PurePosixPath(f"{target}/{group}.{ending}")] = render_group(rows, target, command, chosen)
        listed = [spec for spec in (*profile.kernels, *variants) if exists_on(spec, target)]
        data = registry_data(listed, target)
        files[PurePosixPath(f"{target}/registry.cpp")] = render("registry.cpp.j2", command, **data)
    files[PurePosixPath("tables.cpp")] = render("tables.cpp.j2", command, **tables(profile.kernels))
    files[PurePosixPath("actions.cpp")] = render("actions.cpp.j2", command, **action_table())
    devices = [
        {"name": name, "slug": slug(name), "rows": rows, "policies": tuning.policies.get(name, ())}
        for name, rows in tuning.devices.items()
    ]
    files[PurePosixPath("tuned.cpp")] = render("tuned.cpp.j2", command, devices=devices)
    return files


def _chosen_for_large(tuning: Tuning, variants: Sequence[KernelSpec]) -> dict[str, KernelSpec]:
    """The variant that was fastest for large launches of a kernel, on the first device that has one."""
    by_name = {v.name: v for v in variants}
    chosen: dict[str, KernelSpec] = {}
    for rows in tuning.devices.values():
        for row in rows:
            if row.size == "large" and row.variant in by_name:
                chosen.setdefault(row.kernel, by_name[row.variant])
    return chosen


def group_of(spec: KernelSpec) -> str:
    """Name of the translation unit that holds a kernel.

    Conjugates have one of their own: hopping terms with all their variants are what a build waits for, and two halves
    compile side by side.
    """
    dagger = "_dagger" if spec.dagger else ""
    return f"{find_operator(spec.operator).group}{dagger}_{spec.precision}"


def exists_on(spec: KernelSpec, target: str) -> bool:
    """Whether a kernel is built for a target.

    On GPUs batches share links whatever the tile (kernels/batch.hpp). But flavours that a site term mixes are one tile;
    and where a site is one colour vector, registers hold several right-hand sides, for which links are decoded once.
    """
    operator = find_operator(spec.operator)
    if target == "cpu" or operator.family == "term":
        return True
    if not isinstance(operator, HoppingOperator):
        return spec.tile <= 1
    return spec.tile <= (operator.site_term.flavours if spec.has_term else 1) or operator.spins == 1


def slug(device: str) -> str:
    """`NVIDIA H200` -> `nvidia_h200`."""
    return re.sub(r"\W+", "_", device.lower()).strip("_")


def render_files(specs: Iterable[KernelSpec], command: str) -> dict[PurePosixPath, str]:
    """What translation units include: link storages, bases and bodies."""
    files: dict[PurePosixPath, str] = {}
    for storage in STORAGES.values():
        text = render("links.hpp.j2", command, name=storage.name.upper(), **storage_text(storage))
        files[PurePosixPath(f"links/{storage.name}.hpp")] = text
    for basis in {s.basis.short: s.basis for s in specs if s.basis}.values():
        text = render("basis.hpp.j2", command, name=f"Frame_{basis.short}", **frame_text(basis))
        files[PurePosixPath(f"bases/{basis.short}.hpp")] = text
    for spec in specs:
        path = body_path(spec)
        if path is not None and path not in files:
            files[path] = render_body(spec, command)
        operator = find_operator(spec.operator)
        if isinstance(operator, Expression):
            call = operator.call()
            lines = statements_text(f"{call['text']}; {operator.formula}")
            text = render(operator.header_template, command, **call, statements=lines)
            files.setdefault(PurePosixPath(f"expressions/{operator.name}.hpp"), text)
    return files


def body_path(spec: KernelSpec) -> PurePosixPath | None:
    """File of the body that a kernel instantiates, None if it is part of runtime/."""
    return PurePosixPath(f"bodies/{body_name(spec)}.hpp") if find_operator(spec.operator).template else None


def body_name(spec: KernelSpec) -> str:
    """Name of the rendered text: operators with the same hops share it, or whose text says nothing of them."""
    shared = getattr(find_operator(spec.operator), "shared_body", "")
    return shared or replace(spec, operator=getattr(find_operator(spec.operator), "hops_of", "") or spec.operator).body


def render_body(spec: KernelSpec, command: str) -> str:
    """Body of a kernel: the text that does not depend on precision, storage, epilogue or tile."""
    operator = find_operator(getattr(find_operator(spec.operator), "hops_of", "") or spec.operator)
    data = operator.body(spec)
    if isinstance(operator, HoppingOperator):
        data["hops"] = _hop_rows(operator, spec, data["hops"])
        data["basis"] = spec.basis.name if spec.basis else "any"
        data["flops"] = operator.cost(_plain(spec)).flops
    if getattr(operator, "from_language", False):
        data["statements"] = statements_text(operator.formula)
    if "complex_scalars" in data:
        kind = "complex" if data["complex_scalars"] else "real"
        data |= {"scalar_function": f"{kind}_scalar", "slot_function": f"{kind}_slot"}
    return render(operator.template, command, name=body_name(spec), **data)


def statements_text(formula: str) -> list[str]:
    """Lines of a formula of several statements."""
    return [line for s in formula.split("; ") for line in textwrap.wrap(s, 100, subsequent_indent="    ")]


def _plain(spec: KernelSpec) -> KernelSpec:
    return KernelSpec(spec.operator, "double", "r18", spec.basis, spec.dagger, tile=1)


def _hop_rows(operator: HoppingOperator, spec: KernelSpec, hops: Sequence[Hop]) -> list[dict[str, Any]]:
    """Finished text rows of each hop: the template only orders them."""
    started: set[int] = set()
    rows = []
    for hop in hops:
        forward = hop.sign > 0
        names = [f"psi[{s}]" for s in range(operator.spins)]
        products = [f"h{k}" for k in range(hop.factors.rank)]
        mask = sum(1 << nu for nu in hop.phase)
        results = [f"staggered_sign<{mask}>(x, {h})" if mask else h for h in products]
        cross = []
        for k, result in enumerate(products):
            if forward:
                crossed = f"mul(u, arrive<ComplexPhase>(a, there, h.scale, h[{k}]))"
            else:
                crossed = f"arrive<ComplexPhase>(a, there, h.scale, mul_adj(u, h[{k}]))"
            if not forward and hop.mu in operator.form.directed:
                crossed = f"weighted<{hop.mu}>(a, {crossed})"
            cross.append(f"const auto {result} = {crossed};")
        accumulate = []
        for spin, row in enumerate(hop.factors.reconstruct):
            line = accumulation(f"sum[r][{spin}]", row, results, first=spin not in started)
            if line:
                started.add(spin)
                accumulate.append(line)
        axis, link = DIRECTION_NAMES[hop.mu], _hop_title(operator, hop)
        term = operator.term(spec, hop)
        if hop.phase:
            term = f"{term}eta_{axis}(x)"
        rows.append(
            {
                "title": link if term in ("", "1") else f"{term} {link}",
                "mu": hop.mu,
                "step": f"{hop.step:+d}",
                "parts": _parts(hop.factors.project),
                "project": [f"value({combination(row, names)})" for row in hop.factors.project],
                "cross": cross,
                "accumulate": accumulate,
            }
        )
    return rows


def _hop_title(operator: HoppingOperator, hop: Hop) -> str:
    """Link and neighbour of a hop; F and L are the fat and long links of operators that have both."""
    axis, length = DIRECTION_NAMES[hop.mu], "" if hop.length == 1 else str(hop.length)
    name = operator.form.field_letter(hop.length)
    there = f"x{'+' if hop.sign > 0 else '-'}{length}e{axis}"
    return f"{name}_{axis}(x) psi({there})" if hop.sign > 0 else f"{name}_{axis}({there})^+ psi({there})"


def _parts(project: np.ndarray) -> str:
    """C++ type that says how the colour vectors which cross a link follow from the spinor (kernels/view.hpp)."""
    if all(np.count_nonzero(row) == 1 and row.max() == 1 for row in project):
        return f"Selected<{', '.join(str(int(np.argmax(np.abs(row)))) for row in project)}>"
    return f"Combined<{len(project)}>"


def render_group(
    specs: Sequence[KernelSpec], target: str, command: str, chosen: Mapping[str, KernelSpec] = NO_VARIANTS
) -> str:
    """One translation unit; `chosen` as for halo_arguments."""
    headers = ["runtime/kernels/batch.hpp", "runtime/kernels/targets/halo_cuda.hpp"] if target == "cuda" else []
    if any(getattr(find_operator(s.operator), "from_language", False) for s in specs):
        headers.append("runtime/kernels/expression_site.hpp")
    if any(_has_adjoint(s) for s in specs):
        headers.append("runtime/kernels/su3_adjoint.hpp")
    if target == "cpu" and any(map(_has_sums, specs)):
        headers.append("runtime/kernels/targets/sums_cpu.hpp")
    if any(_adds_up_sites(s) for s in specs):
        headers.append("runtime/kernels/site_values.hpp")
    if any(isinstance(o := find_operator(s.operator), HoppingOperator) and o.form.directed for s in specs):
        headers.append("runtime/kernels/hop_weights.hpp")
    headers += [f"generated/links/{s}.hpp" for s in STORAGES]
    headers += sorted({f"generated/bases/{spec.basis.short}.hpp" for spec in specs if spec.basis})
    headers += sorted({f"generated/{path}" for spec in specs if (path := body_path(spec))})
    return render(
        "kernels.cpp.j2", command, target=target, headers=headers, rows=[_row(s, target, chosen) for s in specs]
    )


def _adds_up_sites(spec: KernelSpec) -> bool:
    """Sums of expressions are added up by the host, in a way that does not depend on how a lattice is spread."""
    operator = find_operator(spec.operator)
    return isinstance(operator, Expression) and operator.sums > 0


def _has_sums(spec: KernelSpec) -> bool:
    return getattr(find_operator(spec.operator), "sums", 0) > 0 and not _adds_up_sites(spec)


def _has_adjoint(spec: KernelSpec) -> bool:
    operator = find_operator(spec.operator)
    return isinstance(operator, Expression) and "_adjoint(" in operator.formula


def _row(spec: KernelSpec, target: str, chosen: Mapping[str, KernelSpec]) -> dict[str, str | None]:
    operator = find_operator(spec.operator)
    cost = operator.cost(spec)
    instance = f"{getattr(operator, 'cpp_body', f'{body_name(spec)}_body')}<{', '.join(operator.arguments(spec))}>"
    if _adds_up_sites(spec):
        instance = f"SiteValues<{instance}>"
    elif target == "cpu" and _has_sums(spec):
        instance = f"ExactSums<{instance}>"
    return {
        "name": spec.name,
        "instance": textwrap.fill(instance, 105, subsequent_indent=" " * 10),
        "launch": _launch(spec, target),
        "halo": halo_arguments(spec, chosen) if target == "cuda" else None,
        "cost": f"{cost.reported} flop, {literal(cost.bytes)} bytes a site and right-hand side; "
        f"{cost.reals} reals without reuse",
    }


def _launch(spec: KernelSpec, target: str) -> str:
    """Template arguments of `apply` after the row."""
    order = order_of(spec)
    if target == "cpu":
        return f", {order}" if spec.shape else ""
    numbers = f", {spec.block}, {spec.min_blocks}"
    if not spec.variant:
        return numbers
    return f"{numbers}, {order}, Rhs::{'batch' if 'kept' in spec.shape else 'alone'}"
