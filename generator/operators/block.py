"""Inner products and combinations of all right-hand sides of a block; their bodies are runtime/kernels/block.hpp."""

from __future__ import annotations

from dataclasses import replace

from ..cost import Cost
from ..spec import KernelSpec
from .convert import SiteKernel

TILE = 4
"""Right-hand sides that a thread takes together; blocks are padded to multiples of it."""


def _bytes(fields: int, spec: KernelSpec) -> float:
    return fields * spec.format.spinor_bytes(spec.colour_vectors, spec.colours)


class BlockKernel(SiteKernel):
    """A kernel of block methods, in which each right-hand side of one tile meets each of the other."""

    def cost(self, spec: KernelSpec) -> Cost:
        """Four right-hand sides of either field."""
        flops = 4 * TILE * TILE * 2 * spec.colour_vectors * spec.colours
        return replace(super().cost(spec), flops=flops, reported=flops)


BLOCK_KERNELS = (
    BlockKernel(
        name="block_dot",
        formula="<x_i, y_j>",
        axes=("precision", "spins"),
        runtime_body="BlockDot",
        arguments=lambda spec: [spec.spinor_codec, str(spec.colour_vectors)],
        moved=lambda spec: _bytes(2 * TILE, spec),
        sums=2 * TILE * TILE,
        family="block",
        group="block",
    ),
    BlockKernel(
        name="block_product",
        formula="y_j = sum_i x_i m_ij",
        axes=("precision", "spins"),
        runtime_body="BlockCombination",
        arguments=lambda spec: [spec.spinor_codec, str(spec.colour_vectors), "false"],
        moved=lambda spec: _bytes(2 * TILE, spec),
        family="block",
        group="block",
    ),
    BlockKernel(
        name="block_update",
        formula="y_j = z_j + sum_i x_i m_ij",
        axes=("precision", "spins"),
        runtime_body="BlockCombination",
        arguments=lambda spec: [spec.spinor_codec, str(spec.colour_vectors), "true"],
        moved=lambda spec: _bytes(3 * TILE, spec),
        family="block",
        group="block",
    ),
)
"""Kernels of block methods."""
