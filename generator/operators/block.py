"""Inner products and combinations of all right-hand sides of a block; their bodies are runtime/kernels/block.hpp."""

from __future__ import annotations

from generator.operators.convert import SiteKernel
from generator.spec import KernelSpec

TILE = 4
"""Right-hand sides that a thread takes together; blocks are padded to multiples of it."""


REALS = 24
"""Of a Dirac spinor of three colours."""


def _bytes(fields: int, spec: KernelSpec) -> float:
    return fields * spec.format.spinor_bytes(4, spec.colours)


BLOCK_KERNELS = (
    SiteKernel(
        name="block_dot",
        formula="<x_i, y_j>",
        axes=("precision",),
        runtime_body="BlockDot",
        arguments=lambda spec: [spec.spinor_codec],
        moved=lambda spec: _bytes(2 * TILE, spec),
        flops=(4 * TILE * TILE * REALS, 4 * TILE * TILE * REALS),
        sums=2 * TILE * TILE,
        family="block",
        group="block",
    ),
    SiteKernel(
        name="block_product",
        formula="y_j = sum_i x_i m_ij",
        axes=("precision",),
        runtime_body="BlockCombination",
        arguments=lambda spec: [spec.spinor_codec, "false"],
        moved=lambda spec: _bytes(2 * TILE, spec),
        flops=(4 * TILE * TILE * REALS, 4 * TILE * TILE * REALS),
        family="block",
        group="block",
    ),
    SiteKernel(
        name="block_update",
        formula="y_j = z_j + sum_i x_i m_ij",
        axes=("precision",),
        runtime_body="BlockCombination",
        arguments=lambda spec: [spec.spinor_codec, "true"],
        moved=lambda spec: _bytes(3 * TILE, spec),
        flops=(4 * TILE * TILE * REALS, 4 * TILE * TILE * REALS),
        family="block",
        group="block",
    ),
)
"""Kernels of block methods; cost is that of four right-hand sides of either field."""
