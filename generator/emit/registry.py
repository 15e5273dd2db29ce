"""Rows of the registry: what the runtime knows of each kernel (runtime/registry.hpp)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ..language.printed import literal
from ..launch import side_by_side
from ..plan import works_at_boundaries, works_on_ranks
from ..spec import KernelSpec
from ..targets import Target

NO_VARIANTS: Mapping[str, KernelSpec] = {}


def registry_data(specs: Sequence[KernelSpec], target: Target) -> dict[str, Any]:
    """Data of templates/registry.cpp.j2: operators once, then their kernels (runtime/registry.hpp: Kernel)."""
    operators = {spec.operator.name: spec.operator for spec in specs}
    return {
        "operators": [
            {
                "name": name,
                "family": operator.family,
                "formula": _literal_lines(operator.formula),
                "slots": _literal_lines(" ".join(operator.slots)),
                "scalar_program": _literal_lines(operator.scalar_program),
                "complex_scalars": str(operator.complex_scalars).lower(),
                "sums": str(operator.sums),
                "parities": str(operator.parities),
                "signature": _literal_lines(operator.signature),
            }
            for name, operator in operators.items()
        ],
        "rows": [registry_row(spec, target) for spec in specs],
    }


def registry_row(spec: KernelSpec, target: Target) -> dict[str, str]:
    """The row of one kernel in the registry, with fields in the order of the C++ struct, less those of its operator."""
    operator = spec.operator
    cost = operator.cost(spec)
    return {
        "name": spec.name,
        "operator": operator.name,
        "dagger": str(spec.dagger).lower(),
        "epilogue": spec.epilogue,
        "precision": spec.precision,
        "links": spec.links,
        "basis": spec.basis.name if spec.basis else "",
        "complex": str(spec.coefficient == "complex").lower(),
        "tile": str(max(spec.tile, 1)),
        "spins": str(spec.colour_vectors),
        "colours": str(spec.colours),
        "half_spins": str(max((hop.factors.rank for hop in operator.hops(spec)), default=0)),
        "reach": str(operator.reach),
        "terms": str(operator.stored_terms(spec)),
        "flops": str(cost.reported),
        "bytes": literal(cost.bytes),
        "ranks": str(works_on_ranks(spec, target)).lower(),
    }


def _literal_lines(text: str) -> str:
    """Text for the inside of a C++ string literal, split into several literals where it is long."""
    return ' "\n     "'.join(textwrap.wrap(text, 96))


def halo_arguments(spec: KernelSpec, chosen: Mapping[str, KernelSpec] = NO_VARIANTS) -> str | None:
    """Template arguments of `apply_halo` on GPUs; None if the kernel does no work at the boundary of local lattices.

    Its shape is that which was fastest for large launches (`chosen`, by the name of the kernel).
    """
    if not works_at_boundaries(spec):
        return None
    best = chosen.get(spec.name, spec)
    form = ", Rhs::alone" if side_by_side(spec) else ""
    return f"{best.name}_row, {best.block}, {best.min_blocks}, {order_of(best)}{form}"


def order_of(spec: KernelSpec) -> str:
    """C++ type of the order in which a kernel for GPUs takes sites."""
    return "Boxes" if "box" in spec.shape else "InOrder"
