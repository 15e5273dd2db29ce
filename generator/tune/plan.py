"""Duration of a sweep, and the kernels that it works on if its time is limited: the most important first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..epilogue import EPILOGUES
from ..spec import KernelSpec
from ..targets import Target

COMPILE_SHARE = 0.7
"""Share of a limited time that is spent on compiling; the rest is for measuring."""
_FAMILIES = ("hopping", "update", "slices", "expression")
_PRECISIONS = ("double", "single", "half")


@dataclass(frozen=True)
class Plan:
    """The candidates of a sweep by kernel, and what they take.

    Attributes:
        groups: candidates by kernel, the most important first.
        left: kernels for which the time does not suffice.
        processors: that compile side by side.
        compiling: seconds.
        measuring: seconds.
    """

    groups: Mapping[str, list[KernelSpec]]
    left: int
    processors: int
    compiling: float
    measuring: float

    @property
    def text(self) -> str:
        """One line."""
        count = sum(map(len, self.groups.values()))
        more = f"; {self.left} more for lack of time (--within, make tune BUDGET=30m)" if self.left else ""
        return (
            f"sweep: {len(self.groups)} kernels, {count} candidates, {self.processors} processor(s): "
            f"about {self.compiling:.0f} s to compile and {self.measuring:.0f} s to measure{more}"
        )


def importance(spec: KernelSpec) -> tuple[object, ...]:
    """Sort key: kernels on which solvers spend most time first, Wilson hops with two rows of the links, one column."""

    def rank(order: tuple[str, ...], value: str) -> int:
        return order.index(value) if value in order else len(order)

    usual = spec.links in ("r12", "r13") and (spec.basis is None or spec.basis.short == "nr")
    family = rank(_FAMILIES, spec.operator.family)
    return (
        family,
        not usual,
        spec.coefficient != "real",
        spec.tile > 1,
        spec.operator.name != "wilson",
        rank(tuple(EPILOGUES), spec.epilogue),
        rank(_PRECISIONS, spec.precision),
        spec.name,
    )


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def plan(
    groups: Mapping[str, list[KernelSpec]], bases: Mapping[str, KernelSpec], target: Target, classes: int, within: float
) -> Plan:
    """The groups for which `within` seconds suffice (0: all), at least one."""
    count = processors()
    kept: dict[str, list[KernelSpec]] = {}
    compiling = measuring = 0.0
    for name in sorted(groups, key=lambda n: importance(bases[n])):
        more = len(groups[name]) * target.compile_seconds / count
        longer = len(groups[name]) * target.measure_seconds * classes
        if within and kept and compiling + more + measuring + longer > within:
            break
        kept[name] = groups[name]
        compiling, measuring = compiling + more, measuring + longer
    return Plan(kept, len(groups) - len(kept), count, compiling, measuring)
