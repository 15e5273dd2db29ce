"""Says what a record means and what a profile costs before anything compiles."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .algebra.gamma import TOLERANCE, Matrix
from .emit.render import render_profile
from .lower.hopping import DIRECTION_NAMES, clifford_text
from .lower.numbers import Product, printed_sum
from .lower.record import Lowered
from .operators.programs import kernel_name
from .plan import NOT_TUNED, Tuning, body_path, exists_on, unit_of
from .profile import Profile, row_for
from .schema import explain_action
from .spec import KernelSpec
from .targets import HOST, TARGETS, Target

FLAVOURS = {
    "": np.eye(2),
    " tau_1": np.array([[0, 1], [1, 0]]),
    " tau_2": np.array([[0, -1j], [1j, 0]]),
    " tau_3": np.diag([1, -1]),
}
"""Names of the matrices of two flavours."""


def explain_kernel(spec: KernelSpec) -> str:
    """The record in words, where it is emitted, and the row that asks for it."""
    operator = spec.operator
    cost = operator.cost(spec)
    lines = [spec.name, ""]
    lines.append(
        f"  operator    {operator.name}{' (Hermitian conjugate)' if spec.dagger else ''}, family {operator.family}"
    )
    lines.append(f"  formula     {operator.formula}")
    lines.append(f"  precision   {spec.precision}: {spec.format.bits} bits a real, computes in {spec.format.element}")
    if spec.links:
        lines.append(f"  links       {spec.storage.reals} reals: {spec.storage.formula}")
    if spec.basis:
        lines.append(f"  basis       {spec.basis.name}")
    if spec.tile:
        lines.append(f"  tile        {spec.tile} right-hand side(s) a thread; {spec.coefficient} hop coefficients")
    if spec.epilogue != "none":
        lines.append(f"  epilogue    {spec.epilogue}: out = {spec.ends.formula}, d = D psi")
    lines.append(f"  launch      {spec.block} threads a block, registers for {spec.min_blocks} block(s) (GPUs)")
    lines.append(f"  cost        {cost.reported} flop, {cost.bytes:g} bytes a site and right-hand side")
    body = body_path(spec)
    lines.append(f"  body        {'generated/' + str(body) if body else 'runtime/kernels/convert.hpp'}")
    lines += [f"  {t.name:<11} {_on_target(spec, t)}" for t in TARGETS.values() if exists_on(spec, t)]
    return "\n".join([*lines, "", "profile row:", row_for(spec)])


def _on_target(spec: KernelSpec, target: Target) -> str:
    """Source of a kernel for a target, and its cost there."""
    costs = [f"{target.kernel_seconds:.2g} s to compile"]
    if target.threads:
        costs.insert(0, f"{target.threads.left(spec.block * spec.min_blocks)} registers a thread")
    return f"generated/{target.name}/{unit_of(spec, target)}.{target.suffix}: {', '.join(costs)}"


def explain_record(record: Lowered) -> str:
    """Explains an action: its options, and the record that everything else is derived from."""
    head = explain_action(record.action) if record.action.has_matrix else f"{record.name}\n\n  {record.action.text}\n"
    return "\n".join([head, "", "lowered:", *(f"  {line}" for line in _lowered(record))])


def _lowered(record: Lowered) -> list[str]:
    origins = {f.name: f.origin for f in record.action.fields}
    lines = [
        f"field       {name}: {kind}, {origins.get(name, 'made')}{_group(record, name)}"
        for name, kind in record.fields.items()
        if name in origins or name in record.read or any(name == slot[0] for _, slot in record.stored)
    ]
    for p in record.action.parameters:
        kind = "complex" if p.complex else "real"
        lines.append(f"parameter   {p.name}: {kind}{'' if p.default is None else f', default {p.default:g}'}")
    if record.form is None:
        lines += [f"body        M and M^+ as they stand: {record.why}"] if record.matrix is not None else []
        lines += [f"number      {name} = {node!s}" for name, node in (record.numbers or {}).items()]
    else:
        lines += _hops(record) + _site(record)
    if record.negated is not None:
        numbers = [("-" * (p.name in record.negated), p.name, "^*" * p.complex) for p in record.action.parameters]
        changed = ", ".join("".join(n) for n in numbers if n[0] or n[2])
        lines.append(f"adjoint     M^+ = gamma_5 M{f'({changed})' if changed else ''} gamma_5")
    for n, stage in enumerate(record.stages, start=1):
        kernels = Counter(map(kernel_name, stage.launches))
        text = ", ".join(f"{count} {name}" if count > 1 else name for name, count in kernels.items())
        lines.append(f"links       stage {n} makes {', '.join(stage.fields)}, reach {_numbers(stage.reach)}: {text}")
    return [line for long in lines for line in textwrap.wrap(long, 110, subsequent_indent=" " * 12)]


def _group(record: Lowered, name: str) -> str:
    return f", {record.group(name)}" if record.fields[name] in ("links", "matrices") else ""


def _numbers(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def _hops(record: Lowered) -> list[str]:
    form = record.form
    assert form is not None and record.links is not None
    lines = [f"hops        h = {form.factor.real:g}; {form.formula.partition('   (')[0]}"]
    lines += [f"hop links   over {n} site{'s' if n > 1 else ''}: {field}" for n, field in record.links.items()]
    for mu in form.directions:
        ways = [printed_sum(form.weight(mu, sign)) for sign in (1, -1)]
        lines += [f"hop weight  {DIRECTION_NAMES[mu]}: {' and back '.join(dict.fromkeys(ways))}"] * (set(ways) != {"1"})
    if form.has_slices:
        lines += [f"slices      {name} = {printed_sum(rows)}" for name, rows in record.slice_numbers.items()]
    return lines


def _site(record: Lowered) -> list[str]:
    site = record.site
    assert site is not None
    size = 4 * site.flavours
    lines = [f"site term   {_matrix(numbers, m[:size, :size])}" for numbers, m in site.constant]
    if site.exponential is not None:
        lines.append(f"site term   {printed_sum([site.exponential])} exp(the sum of the blocks)")
    for block, (name, mu) in record.stored:
        lines.append(f"block       {_matrix(block.number, block.spin)} {name}[{DIRECTION_NAMES[mu]}]")
    return lines


def _matrix(number: Product, matrix: Matrix) -> str:
    """A number times a matrix: as a sum of products of gammas, times those of flavours."""
    printed = printed_sum([number])
    if len(matrix) == len(DIRECTION_NAMES):
        return f"({printed}) {clifford_text(matrix)}"
    blocks = matrix.reshape(2, 4, 2, 4)
    parts = {name: np.einsum("ij,jsit->st", tau, blocks) / 2 for name, tau in FLAVOURS.items()}
    words = [f"{clifford_text(part)}{name}" for name, part in parts.items() if np.abs(part).max() > TOLERANCE]
    return f"({printed}) {' + '.join(words)}"


def explain_profile(profile: Profile, tuning: Tuning = NOT_TUNED) -> str:
    """Kernels, lines and estimated build time; how many kernels each value of each axis accounts for."""
    texts = render_profile(profile, tuning)
    count = len(profile.kernels)
    seconds = {n: t.kernel_seconds * (count + len(tuning.variants.get(n, ()))) for n, t in TARGETS.items()}
    lines = [
        f"profile {profile.name} ({profile.path.name})",
        f"  {count} kernels of a budget of {profile.budget.get('kernels', 'any number')}; "
        f"{len(tuning.all_variants)} variants tuned for {', '.join(tuning.devices) or 'no device'}",
        f"  {sum(t.count(chr(10)) for t in texts.values())} lines in {len(texts)} files",
        "  estimated compile time on one core: " + ", ".join(f"{t} {s:.0f} s" for t, s in seconds.items()),
        *_explain_include(profile, tuning),
        "",
        "  axis         value              kernels",
    ]
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for spec in profile.kernels:
        axes = ("operator", *spec.operator.axes)
        for axis in axes:
            value = vars(spec)[axis]
            values[axis][value.name if axis in ("operator", "basis") else str(value)] += 1
    for axis, counter in values.items():
        for value, n in sorted(counter.items()):
            lines.append(f"  {axis:<12} {value:<18} {n}")
    return "\n".join(lines)


def _explain_include(profile: Profile, tuning: Tuning) -> list[str]:
    """Explains how many kernels each set of `include` adds to the rows of a profile, and their cost."""
    if not any(profile.added.values()):
        return []
    more = {s.name for group in profile.added.values() for s in group}
    have = [s for s in profile.kernels if s.name not in more]
    before = _lines(profile, have, tuning)
    title = "  include      kernels   lines  seconds on one core (cpu)"
    rows = ["", title, _cost_row("(the rows)", len(have), before)]
    for name, group in profile.added.items():
        have = sorted([*have, *group])
        after = _lines(profile, have, tuning)
        rows.append(_cost_row(name, len(group), after - before))
        before = after
    return rows


def _cost_row(name: str, kernels: int, lines: int) -> str:
    return f"  {name:<12} {kernels:>7} {lines:>7}  {HOST.kernel_seconds * kernels:.0f}"


def _lines(profile: Profile, kernels: list[KernelSpec], tuning: Tuning) -> int:
    texts = render_profile(replace(profile, kernels=tuple(kernels), added={}), tuning)
    return sum(text.count("\n") for text in texts.values())
