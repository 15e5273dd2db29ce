"""All operators by name. A new one is a module here (an `OPERATOR`) and a row in a profile."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Protocol

from generator.cost import Cost
from generator.operators.blas import UPDATES
from generator.operators.block import BLOCK_KERNELS
from generator.operators.convert import SITE_KERNELS
from generator.operators.gauge_paths import GAUGE_KERNELS
from generator.operators.link_paths import LINK_KERNELS
from generator.spec import KernelSpec, SpecError


class Operator(Protocol):
    """What the pipeline needs to know of an operator."""

    @property
    def name(self) -> str: ...
    @property
    def family(self) -> str: ...  # hopping, update, block, convert, gauge: which test and which host code use it
    @property
    def group(self) -> str: ...  # kernels of one group and precision share a translation unit
    @property
    def formula(self) -> str: ...  # what it computes, in one line
    @property
    def template(self) -> str: ...  # file that renders the body; empty if the body is in runtime/
    @property
    def axes(self) -> tuple[str, ...]: ...  # axes of the record that apply
    def body(self, spec: KernelSpec) -> dict[str, Any]: ...
    def cost(self, spec: KernelSpec) -> Cost: ...
    def arguments(self, spec: KernelSpec) -> list[str]: ...


def _modules() -> list[Operator]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    loaded = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [m.OPERATOR for m in loaded if hasattr(m, "OPERATOR")]


OPERATORS: dict[str, Operator] = {
    o.name: o for o in (*_modules(), *UPDATES, *BLOCK_KERNELS, *SITE_KERNELS, *GAUGE_KERNELS, *LINK_KERNELS)
}
"""All operators by name."""


def find_operator(name: str) -> Operator:
    """The operator of that name.

    Raises:
        SpecError: there is none.
    """
    if name not in OPERATORS:
        raise SpecError(f"operator '{name}' is unknown; use one of {', '.join(sorted(OPERATORS))}")
    return OPERATORS[name]
