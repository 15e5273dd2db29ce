"""Launch numbers that a kernel has until a sweep finds better ones on the device that will run it."""

from __future__ import annotations

from .spec import KernelSpec
from .targets import LIMITS

BLOCK = 128
REGISTER_TILE = 4
"""Right-hand sides that share links in registers (register_tile of runtime/tuning.hpp)."""


def side_by_side(spec: KernelSpec) -> bool:
    """Whether GPUs take more right-hand sides than the tile's beside each other, not one after the other.

    They do where a tile shares links in registers; else links are kept in shared memory for all.
    """
    return spec.operator.family == "hopping" and spec.tile >= REGISTER_TILE


def launched(spec: KernelSpec) -> KernelSpec:
    """The record with these numbers."""
    return spec.with_launch(*default_launch(spec))


def default_launch(spec: KernelSpec) -> tuple[int, int]:
    """(threads of a block, blocks the compiler leaves room for).

    Sums like large blocks, and as many as hold two fields in registers. Hopping terms, and expressions of spinors,
    hold the sum, a link and a projected spinor: about 100 values a right-hand side. One block more than that fits
    spills; fewer leaves too few loads in flight. The numbers are the best over most hopping terms on an H200.
    """
    operator, width = spec.operator, spec.format.element_bytes // 4
    if operator.sums and 0 < operator.fields <= 2:
        return 256, 2 if width == 2 else 4 if spec.format.bits <= 16 else 3
    if operator.family == "slices":  # a thread keeps all slices in shared memory: small blocks, several at a time
        return 32, 1
    sums_neighbours = operator.family == "hopping" or (
        operator.family == "expression" and spec.spins > 0 and not operator.min_blocks
    )
    if not sums_neighbours:
        return BLOCK, max(operator.min_blocks, 1)
    packed = spec.format.bits < 32 and width == 1
    one = 96 if packed else 128 if width == 1 else 168
    if operator.spins == 1:  # six reals a right-hand side
        registers = {1: one, 2: one, 4: 128 * width, 8: 128 * width}[max(spec.tile, 1)]
    else:
        registers = {1: one, 2: 168 * width}.get(max(spec.tile, 1), 255)
    registers = min(registers, 255)
    return BLOCK, max(LIMITS.registers // (registers * BLOCK), 1)
