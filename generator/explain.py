"""Says what a record means and what a profile costs before anything compiles."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from generator.emit.render import NOT_TUNED, TARGETS, Tuning, body_path, group_of, render_profile
from generator.profile import Profile, row_for
from generator.spec import KernelSpec

SECONDS_PER_KERNEL = {"cpu": 0.55, "cuda": 0.35}
"""Compile time of one kernel on one core, measured on the default profile (docs/performance.md)."""


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
    lines.append(f"  launch      {spec.block} threads a block, registers for {spec.min_blocks} block(s) (CUDA)")
    lines.append(f"  cost        {cost.reported} flop, {cost.bytes:g} bytes a site and right-hand side")
    body = body_path(spec)
    lines.append(f"  body        {'generated/' + str(body) if body else 'runtime/kernels/convert.hpp'}")
    for target, ending in TARGETS.items():
        lines.append(f"  {target:<11} generated/{target}/{group_of(spec)}.{ending}")
    return "\n".join([*lines, "", "profile row:", row_for(spec)])


def explain_profile(profile: Profile, tuning: Tuning = NOT_TUNED) -> str:
    """Kernels, lines and estimated build time; how many kernels each value of each axis accounts for."""
    texts = render_profile(profile, tuning)
    count = len(profile.kernels)
    variants = {t: sum((v.block == 0) == (t == "cpu") for v in tuning.variants) for t in SECONDS_PER_KERNEL}
    seconds = {t: s * (count + variants[t]) for t, s in SECONDS_PER_KERNEL.items()}
    lines = [
        f"profile {profile.name} ({profile.path.name})",
        f"  {count} kernels of a budget of {profile.budget.get('kernels', 'any number')}; "
        f"{len(tuning.variants)} variants tuned for {', '.join(tuning.devices) or 'no device'}",
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
    """What each set of `include` adds to the rows, and what that costs."""
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
    return f"  {name:<12} {kernels:>7} {lines:>7}  {SECONDS_PER_KERNEL['cpu'] * kernels:.0f}"


def _lines(profile: Profile, kernels: list[KernelSpec], tuning: Tuning) -> int:
    texts = render_profile(replace(profile, kernels=tuple(kernels), added={}), tuning)
    return sum(text.count("\n") for text in texts.values())
