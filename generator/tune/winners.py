"""Choice of the candidate for each kind of launch, and the samples on which that decision rests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shapes import MOST_GROUPS, SHAPES, groups
from ..spec import KernelSpec
from ..targets import Size, Target

FEW = "few"
"""Class of the batches of fewer tiles than groups of threads; what is best there follows from larger batches."""


def is_default(row: dict[str, Any], spec: KernelSpec) -> bool:
    """Whether a candidate is the kernel itself: its own launch numbers in no other shape."""
    plain = row["shape"] in ([], ["kept"])  # what the kernel itself does with one and with several right-hand sides
    return plain and (row["block"], row["min_blocks"]) in ((spec.block, spec.min_blocks), (0, 0))


def winners(spec: KernelSpec, classes: dict[str, list[dict[str, Any]]], target: Target) -> dict[str, KernelSpec]:
    """The kernel to use in each class: `spec` itself, one variant for all classes, or one for each.

    The first of these that loses less than a variant must gain. Rows of shapes that no longer exist are passed over.
    """
    times: dict[str, dict[KernelSpec, float]] = {}
    for size, rows in classes.items():
        good = [r for r in rows if usable(r)]
        if good and size in target.sizes:
            times[size] = {kernel_of(spec, r): r["microseconds"] for r in good}
    alone = {size: t for size, t in times.items() if target.sizes[size].rhs == 1}
    batches = {size: t for size, t in times.items() if size not in alone}
    found = _compromise(spec, alone, target.sizes)
    for size, each in batches.items():
        found |= _of_batches(spec, size, each, target.sizes)
    return found


def _of_batches(
    spec: KernelSpec, size: str, times: dict[KernelSpec, float], sizes: Mapping[str, Size]
) -> dict[str, KernelSpec]:
    """The kernel for batches, and where it has four groups of threads, that for batches in which two would idle.

    Four groups must gain over fewer what a variant must gain.
    """
    fewer = {k: t for k, t in times.items() if groups(k.shape) < MOST_GROUPS}
    found = _compromise(spec, {size: times}, sizes)
    if not fewer:
        return found
    few = _compromise(spec, {size: fewer}, sizes)
    gains = min(times.values()) * (1 + sizes[size].gain) <= min(fewer.values())
    return found | {FEW: few[size]} if gains else few


def _compromise(
    spec: KernelSpec, times: dict[str, dict[KernelSpec, float]], sizes: Mapping[str, Size]
) -> dict[str, KernelSpec]:
    """Few kernels of which one is nearly the fastest in each class: first `spec`, then what serves most classes."""
    limit = {size: (1 + sizes[size].gain) * min(t.values()) for size, t in times.items()}
    found: dict[str, KernelSpec] = {}
    left = list(times)
    while left:
        served = {k: [s for s in left if times[s].get(k, 1e30) <= limit[s]] for s in left for k in times[s]}
        loss = {k: max((times[s][k] / limit[s] for s in some), default=1e30) for k, some in served.items()}
        best = spec if served.get(spec) else min(served, key=lambda k: (-len(served[k]), loss[k], k.name))
        found |= dict.fromkeys(served[best], best)
        left = [s for s in left if s not in found]
    return found


def kernel_of(spec: KernelSpec, row: dict[str, Any]) -> KernelSpec:
    """The kernel that a candidate is."""
    if is_default(row, spec):
        return spec
    return spec.as_variant(tuple(row["shape"]), row["block"], row["min_blocks"])


def deciding(
    spec: KernelSpec, classes: Mapping[str, list[dict[str, Any]]], target: Target
) -> dict[str, list[dict[str, Any]]]:
    """The candidates of each class from which `winners` follows as from all: defaults, the fastest, those chosen.

    What is left out is slower than the fastest and serves no more classes than what was chosen from all, so that it
    would not be chosen from these either.
    """
    chosen = set(winners(spec, dict(classes), target).values())
    found = {}
    for size, rows in classes.items():
        good = [r for r in rows if usable(r)]
        by_kernel = {kernel_of(spec, r): r for r in good}
        fewer = [k for k in by_kernel if groups(k.shape) < MOST_GROUPS]
        kept = {k for k in by_kernel if k in chosen or k == spec}
        kept |= {min(of, key=lambda k: by_kernel[k]["microseconds"]) for of in (by_kernel, fewer) if of}
        found[size] = [r for r in good if kernel_of(spec, r) in kept]
    return found


def usable(row: Mapping[str, Any]) -> bool:
    """Whether a candidate computed the right thing, and its shapes still exist."""
    return row["status"] == "ok" and all(name in SHAPES for name in row["shape"])
