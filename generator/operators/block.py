"""Inner products and combinations of all right-hand sides of a block; their bodies are runtime/kernels/block.hpp."""

from __future__ import annotations

from dataclasses import replace

from ..cost import Cost
from ..spec import KernelSpec
from .convert import SiteKernel

TILE = 4
"""Right-hand sides that a thread takes together; blocks are padded to multiples of it."""


class BlockKernel(SiteKernel):
    """A kernel of block methods, in which each right-hand side of one tile meets each of the other."""

    def cost(self, spec: KernelSpec) -> Cost:
        """Four right-hand sides of either field."""
        flops = 4 * TILE * TILE * 2 * spec.colour_vectors * spec.colours
        return replace(super().cost(spec), flops=flops, reported=flops)


def _kernel(name: str, formula: str, body: str, fields: int, *more: str, sums: int = 0) -> BlockKernel:
    return BlockKernel(
        *(name, formula, ("precision", "spins"), body),
        arguments=lambda spec: [spec.spinor_codec, str(spec.colour_vectors), *more],
        moved=lambda spec: fields * TILE * spec.format.spinor_bytes(spec.colour_vectors, spec.colours),
        sums=sums,
        family="block",
        group="block",
    )


BLOCK_KERNELS = (
    _kernel("block_dot", "<x_i, y_j>", "BlockDot", 2, sums=2 * TILE * TILE),
    _kernel("block_product", "y_j = sum_i x_i m_ij", "BlockCombination", 2, "false"),
    _kernel("block_update", "y_j = z_j + sum_i x_i m_ij", "BlockCombination", 3, "true"),
)
"""Kernels of block methods."""
