"""What is built of a profile: kernels by target and translation unit, what their text needs. Knows no text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from .algebra.su3 import STORAGES, Storage, full_storage
from .spec import KernelSpec
from .targets import Target


@dataclass(frozen=True)
class Tuning:
    """Choices of sweeps: rows of templates/tuned.cpp.j2 by device, variants by target, policies, architectures."""

    devices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    variants: Mapping[str, Sequence[KernelSpec]] = field(default_factory=dict)
    policies: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    architectures: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_variants(self) -> list[KernelSpec]:
        """Variants of all targets, each once."""
        return sorted({v for variants in self.variants.values() for v in variants})


NOT_TUNED = Tuning()


def chosen_for_large(tuning: Tuning, variants: Sequence[KernelSpec]) -> dict[str, KernelSpec]:
    """The variant that was fastest for large launches of a kernel, on the first device that has one."""
    by_name = {v.name: v for v in variants}
    chosen: dict[str, KernelSpec] = {}
    for rows in tuning.devices.values():
        for row in rows:
            if row.size == "large" and row.variant in by_name:
                chosen.setdefault(row.kernel, by_name[row.variant])
    return chosen


def unit_of(spec: KernelSpec, target: Target) -> str:
    """Name of the translation unit that holds a kernel.

    Conjugates have one of their own: hopping terms with all their variants are what a build waits for, and two halves
    compile side by side. So do other numbers of colours, and on GPUs, which have many, variants that sweeps chose.
    """
    parts = [spec.operator.group, "dagger" if spec.dagger else "", spec.precision]
    parts.append(f"c{spec.colours}" if spec.colours != 3 else "")
    if spec.variant and target.threads:
        parts += ["tuned", spec.links or "", spec.basis.short if spec.basis else ""]
    return "_".join(filter(None, parts))


OF_A_UNIT = 2
"""Most kernels of a sample in a unit."""


def sample_of(units: Mapping[str, list[KernelSpec]]) -> dict[str, list[KernelSpec]]:
    """Some kernels of one unit of each operator, in turn of a precision and its conjugate: to see that they compile."""
    alike: dict[str, list[str]] = defaultdict(list)
    for unit, rows in units.items():
        alike[unit.replace("_dagger", "").replace(f"_{rows[0].precision}", "")].append(unit)
    kept = [names[place % len(names)] for place, names in enumerate(alike.values())]
    return {name: units[name][:: -(-len(units[name]) // OF_A_UNIT)] for name in kept}


def exists_on(spec: KernelSpec, target: Target) -> bool:
    """Whether a kernel is built for a target."""
    if spec.operator.family == "hopping" and spec.tile > target.widest_tile:
        return False
    return target.batches or spec.tile <= spec.operator.most_tile(spec)


def works_at_boundaries(spec: KernelSpec) -> bool:
    """Whether GPUs have a kernel for the boundaries of parts: several bodies long, for the rows that ask for it."""
    return not spec.variant and spec.ranks and spec.operator.family == "hopping"


def works_on_ranks(spec: KernelSpec, target: Target) -> bool:
    """Kernels of the CPU look for ghosts where hops leave their lanes anyway."""
    return works_at_boundaries(spec) if target.threads else spec.operator.family == "hopping"


def storages_of(specs: Iterable[KernelSpec]) -> list[Storage]:
    """Link storages that kernels name: all of three colours, of others those in use."""
    specs = list(specs)
    used = {name for s in specs for name in (full_storage(s.colours).name, s.links, *s.operator.more_storages(s))}
    return [s for s in STORAGES.values() if s.colours == 3 or s.name in used]


def body_path(spec: KernelSpec) -> PurePosixPath | None:
    """File of the body that a kernel instantiates, None if it is part of runtime/."""
    return PurePosixPath(f"bodies/{spec.body}.hpp") if spec.operator.template else None


def slug(device: str) -> str:
    """`Some GPU` -> `some_gpu`."""
    return re.sub(r"\W+", "_", device.lower()).strip("_")
