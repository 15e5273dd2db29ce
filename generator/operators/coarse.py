"""Kernels between a lattice and that of its blocks, and on the latter; their bodies are runtime/kernels/coarse.hpp."""

from __future__ import annotations

from collections.abc import Iterator

from ..spec import KernelSpec
from .convert import SiteKernel

NUMBERS = 24
"""Near-null vectors that costs are told of."""
STENCIL = 8
"""Matrices of a coarse site."""
COARSE_HEADERS = (
    "coarse_panels",
    "coarse_tiles",
    "coarse_transfer_tiles",
    "coarse_order",
    "coarse_transfer",
    "coarse",
    "coarse_inverse",
)
"""Headers of runtime/kernels that coarse kernels include."""
PACKED = "_packed"
"""Suffix of the names of kernels that read matrices of 16 bits."""


def _kernel(
    name: str, formula: str, body: str, *, basis: bool = False, stored: str | None = None, flops: int = 0, numbers: int
) -> SiteKernel:
    """A kernel of Dirac spinors.

    Args:
        name: of the operation.
        formula: what it does, for its comment.
        body: the class of runtime/kernels that does it.
        basis: whether its body takes the frame of the record's basis.
        stored: type of matrices, or another argument, where the body takes one.
        flops: of a site.
        numbers: real numbers that it moves.
    """

    def arguments(spec: KernelSpec) -> list[str]:
        frame = [f"Frame_{spec.basis.short}"] if basis and spec.basis else []
        return [spec.spinor_codec, *frame, *([] if stored is None else [stored or spec.format.element])]

    def moved(spec: KernelSpec) -> float:
        return numbers * (2 if stored == "short" else spec.format.bits / 8)

    return SiteKernel(
        name=name,
        formula=formula,
        axes=("precision", "basis") if basis else ("precision",),
        runtime_body=body,
        arguments=arguments,
        moved=moved,
        flops=(flops, flops),
        family="coarse",
        group="coarse",
        headers=COARSE_HEADERS,
    )


def _kernels() -> Iterator[SiteKernel]:
    """Cost is that of a fine site, where all near-null vectors are read, or of a coarse one."""
    vectors, matrices = 2 * 12 * NUMBERS, STENCIL * 2 * (2 * NUMBERS) ** 2
    yield _kernel("to_blocks", "out = in in the order of blocks", "BlockOrder", basis=True, stored="true", numbers=48)
    yield _kernel("from_blocks", "the other way", "BlockOrder", basis=True, stored="false", numbers=48)
    yield _kernel("alternate_signs", "out = +- in", "AlternateSigns", numbers=48)
    yield _kernel("keep_vectors", "V_j = in_j", "KeepVectors", numbers=2 * vectors)
    yield _kernel("factor_gram", "V^+ V to T with (V T)^+ V T = 1", "FactorGram", numbers=4 * 2 * NUMBERS**2)
    yield _kernel("inverse_matrices", "C to C^-1", "InvertMatrices", numbers=4 * (2 * NUMBERS) ** 2)
    yield _kernel("take_pivots", "A_ik, A_kk^-1 A_kj", "TakePivots", numbers=4 * (2 * NUMBERS) ** 2)
    yield _kernel("eliminate_pivots", "A_ij - A_ik A_kk^-1 A_kj", "EliminatePivots", numbers=4 * (2 * NUMBERS) ** 2)
    yield _kernel("gather_numbers", "out = in in the order of sites", "GatherNumbers", numbers=48)
    yield _kernel("set_units", "out_c = e_c", "SetUnits", numbers=24)
    yield _kernel("pack_vectors", "V in 16 bits", "PackVectors", numbers=2 * vectors)
    yield _kernel("pack_matrices", "C in 16 bits", "PackMatrices", numbers=2 * matrices)
    yield _kernel("add_columns", "columns of C += b in", "AddColumns", numbers=3 * 2 * 2 * NUMBERS)
    for suffix, stored in (("", ""), (PACKED, "short")):
        yield _kernel("spread_vectors" + suffix, "out_c = +- V_j", "SpreadVectors", stored=stored, numbers=48)
        for name, formula, body in (
            ("restrict", "out = P^+ in or P^+ (in -+ x)", "Restrict"),
            ("prolong", "out = P in", "Prolong"),
        ):
            flops = 8 * 12 * NUMBERS
            yield _kernel(name + suffix, formula, body, stored=stored, flops=flops, numbers=vectors + 24)
        yield _kernel(
            "coarse_apply" + suffix,
            "out = a x + b sum_points C in",
            "CoarseApply",
            stored=stored,
            flops=4 * matrices,
            numbers=matrices,
        )


COARSE_KERNELS = tuple(_kernels())
"""Kernels of multigrid."""
