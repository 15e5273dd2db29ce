"""Which kernels a sweep works on, and the candidates for each: shapes times launch numbers."""

from __future__ import annotations

from collections.abc import Sequence

from ..emit.render import exists_on
from ..errors import SpecError
from ..launch import side_by_side
from ..profile import Profile
from ..spec import KernelSpec
from ..targets import Target

BLOCKS = (64, 128, 256)
CAPS = {1: (56, 64, 72, 80, 96, 128), 2: (96, 128, 168, 255)}
"""Registers a thread that launch bounds leave, by 4-byte words of the arithmetic type."""
COMBINATIONS = (("box",), ("stream",), ("tfirst",), ("box", "stream"), ("stream", "tfirst"))
"""Shapes besides the plain one; `box` with `tfirst` gained at most 2 % on an H200 and is left out."""
BATCH_COMBINATIONS = (("kept",), ("box", "kept"))
"""Shapes for several right-hand sides."""

COLOURS = 3
"""Of the links that candidates are compared and timed on; other numbers take the declared defaults."""


def tunable(profile: Profile, only: Sequence[str], target: Target) -> list[KernelSpec]:
    """Kernels that a sweep works on: those of a dagger take the result of their partner, whose code is alike."""
    chosen = [
        s
        for s in profile.kernels
        if s.operator.family in ("hopping", "update", "slices", "expression")
        and not s.dagger
        and s.colours == COLOURS
        and exists_on(s, target)
        and (not only or any(o in s.name for o in only))
    ]
    if not chosen:
        raise SpecError(f"no kernel of profile {profile.name} that can be tuned has {' or '.join(only)} in its name")
    return chosen


def candidates(spec: KernelSpec, target: Target, *, quick: bool) -> list[KernelSpec]:
    """Variants of a kernel: shapes times launch numbers, without repetition."""
    family = spec.operator.family
    hopping = family == "hopping"
    limits = target.threads
    if limits is None:
        names = target.shapes if hopping else ()
        return [spec.as_variant(shape, 0, 0) for shape in ((), *((n,) for n in names))]
    if family == "slices":  # larger blocks would not have the memory for as many slices
        return [spec.as_variant((), spec.block, least) for least in ((1,) if quick else (1, 8, 12, 16))]
    width = spec.format.element_bytes // 4
    caps = (*CAPS[2], 255) if spec.tile > 1 else CAPS[width]
    shapes: list[tuple[str, ...]] = [()]
    if hopping and not quick:
        shapes += list(COMBINATIONS)
    if family == "expression" and not quick:
        shapes.append(("box",))  # loops of links reach sites that rows of x load far apart
    found: dict[tuple[int, int, tuple[str, ...]], KernelSpec] = {}
    found[spec.block, spec.min_blocks, ()] = spec.as_variant((), spec.block, spec.min_blocks)
    if hopping and not side_by_side(spec) and kept_bytes(spec) * limits.step <= limits.shared:
        shapes += list(BATCH_COMBINATIONS[:1] if quick else BATCH_COMBINATIONS)
        found[spec.block, spec.min_blocks, ("kept",)] = spec.as_variant(("kept",), spec.block, spec.min_blocks)
    for shape in shapes:
        some = hopping and bool(shape)  # of a shape that was compared with others in all launches, those that won
        for block in (128,) if quick else BLOCKS if not some else (128, 256) if "box" in shape else (64, 128):
            for cap in caps if not some else caps[2:] if "kept" in shape else caps[2:-1]:
                if "kept" in shape and kept_bytes(spec) * block > limits.shared:
                    continue
                least = max(min(limits.registers // (cap * block), limits.most // block, 32), 1)
                found.setdefault((block, least, shape), spec.as_variant(shape, block, least))
    return list(found.values())


def kept_bytes(spec: KernelSpec) -> float:
    """Shared memory of a thread that keeps the links of its hops."""
    operator = spec.operator
    return spec.format.links.link_bytes(sum(operator.storage(spec, hop).reals for hop in operator.hops(spec)))
