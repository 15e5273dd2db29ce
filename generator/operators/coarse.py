"""Kernels between a lattice and that of its blocks, and on the latter; their bodies are runtime/kernels/coarse.hpp."""

from __future__ import annotations

from generator.operators.convert import SiteKernel
from generator.spec import KernelSpec

NUMBERS = 24
"""Near-null vectors that costs are told of."""
STENCIL = 8
"""Matrices of a coarse site."""


def _transfer(name: str, formula: str, body: str, flops: int) -> SiteKernel:
    """Cost is that of a fine site with Dirac spinors: all near-null vectors are read."""

    def moved(spec: KernelSpec) -> float:
        return (NUMBERS + 1) * spec.format.spinor_bytes(4)

    def arguments(spec: KernelSpec) -> list[str]:
        assert spec.basis is not None
        return [spec.spinor_codec, f"Frame_{spec.basis.short}"]

    return SiteKernel(
        name=name,
        formula=formula,
        axes=("precision", "basis"),
        runtime_body=body,
        arguments=arguments,
        moved=moved,
        flops=(flops, flops),
        family="coarse",
        group="coarse",
        headers=("coarse",),
    )


TRANSFERS = (
    _transfer("keep_vectors", "V_j = in_j, the chiral numbers of near-null vectors in panels", "KeepVectors", 0),
    _transfer("restrict", "out = P^+ in", "Restrict", 8 * 12 * NUMBERS),
    _transfer("prolong", "out = P in", "Prolong", 8 * 12 * NUMBERS),
)
"""Between fields and vectors of blocks."""
COARSE_KERNELS = (
    *TRANSFERS,
    SiteKernel(
        name="coarse_apply",
        formula="out = a x + b sum_points C in",
        axes=("precision",),
        runtime_body="CoarseApply",
        arguments=lambda spec: [spec.spinor_codec],
        moved=lambda spec: STENCIL * (2 * NUMBERS) ** 2 * 2 * spec.format.bits / 8,
        flops=(8 * STENCIL * (2 * NUMBERS) ** 2, 8 * STENCIL * (2 * NUMBERS) ** 2),
        family="coarse",
        group="coarse",
        headers=("coarse",),
    ),
)
"""Kernels of multigrid. Cost is that of NUMBERS near-null vectors, a site and a right-hand side."""
