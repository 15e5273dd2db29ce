"""Site terms that are made of fields, T = diagonal + sum_k c_k S_k F_k, and derivatives by T taken back to the F_k.

S_k are constant Hermitian matrices in spin that commute with gamma_5, F_k Hermitian matrices in colour, which the links
of a program hold (operators/programs.py): for the clover term the sigma_munu and i times the field strengths. Half the
derivative by T is a stored term X, dS = 2 sum Re tr(dT X), and that by F_k the trace over the spins of c_k S_k X.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..algebra.gamma import Matrix, snap
from ..cost import Cost, combination_flops
from ..cpp.expressions import combination
from ..lower.record import Lowered, Slot, lower
from ..site_term import TERM_REALS
from ..spec import KernelSpec, Operator

FIELDS = ("x", "y", "z", "w", *(f"more[{n}]" for n in range(4)))
"""Members of the arguments of a kernel that hold the fields of the F_k: MOST_BLOCK_FIELDS of lower/record.py."""
_MATRIX_REALS = 18
_ELEMENTS = {"upper": (0, 0), "lower": (1, 1), "across": (1, 0)}


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The structure of the blocks of a site term that a kernel depends on: everything but numbers and fields.

    Attributes:
        spins: S_k.
        slots: number of the field and direction of F_k.
        fields: how many fields there are.
    """

    spins: tuple[Matrix, ...]
    slots: tuple[tuple[int, int], ...]
    fields: int

    @cached_property
    def text(self) -> str:
        """Text that identifies the pattern."""
        return "; ".join(
            f"{slot} {np.round(np.asarray(s, complex), 12).tolist()}"
            for s, slot in zip(self.spins, self.slots, strict=True)
        )

    @cached_property
    def name(self) -> str:
        """The part of kernel names: `clover`, or a digest."""
        return "clover" if self.text == _clover() else hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @cached_property
    def rows(self) -> list[dict[str, np.ndarray]]:
        """Elements of the 2x2 spin block for each eigenvalue of gamma_5: rows over the S_k."""
        return [
            {
                name: np.array([snap(s)[first + row, first + column] for s in self.spins])
                for name, (row, column) in _ELEMENTS.items()
            }
            for first in (0, 2)
        ]


@cache
def _clover() -> str:
    """The pattern of sum sigma_munu F_munu."""
    from ..actions.clover import Clover

    pattern = pattern_of(lower(Clover.action))  # type: ignore[attr-defined]
    assert pattern is not None
    return pattern.text


def fields_of_blocks(stored: Sequence[tuple[Any, Slot]]) -> list[str]:
    """The fields that hold the matrices of blocks, in the order of a call."""
    return list(dict.fromkeys(name for _, (name, _) in stored))


def pattern_of(record: Lowered) -> BlockPattern | None:
    """The pattern of an action's site term; None where no fields are in it."""
    if not record.stored:
        return None
    names = fields_of_blocks(record.stored)
    slots = tuple((names.index(name), mu) for _, (name, mu) in record.stored)
    return BlockPattern(tuple(b.spin for b, _ in record.stored), slots, len(names))


def _number(k: int) -> str:
    return f"a.numbers[{k // 2}].{('re', 'im')[k % 2]}"


@dataclass(frozen=True, eq=False)
class _OfBlocks(Operator):
    """Base of the two kernels for site terms made of blocks."""

    pattern: BlockPattern

    family = "term"
    of_three_colours = "stored site terms"
    group = "blocks"
    parities = 2
    axes = ("precision",)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row."""
        return [spec.format.link_codec]

    def _sums(self) -> int:
        return sum(3 * combination_flops(row, first=True) for block in self.pattern.rows for row in block.values())

    def cost(self, spec: KernelSpec) -> Cost:
        """The matrices and the term, each read or written once."""
        blocks = len(self.pattern.spins)
        count = self._sums() + blocks * _MATRIX_REALS
        reals = blocks * _MATRIX_REALS + TERM_REALS
        return Cost(count, count, spec.format.link_bytes(reals), reals)


class TermOfBlocks(_OfBlocks):
    """T = diagonal + sum_k c_k S_k F_k."""

    template = "term.hpp.j2"
    formula = "out = c + sum_k numbers_k S_k F_k, F_k in fields x, y, z, w, ..."

    @property
    def name(self) -> str:
        """Name of the operator, from which those of its kernels are made."""
        return f"term_{self.pattern.name}"

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Places of the matrices, and expressions of the blocks in them."""
        names = [f"f{k}" for k in range(len(self.pattern.spins))]
        loads = [
            {"name": name, "field": FIELDS[field], "direction": mu, "number": _number(k)}
            for k, (name, (field, mu)) in enumerate(zip(names, self.pattern.slots, strict=True))
        ]
        rows = [{key: combination(row, names) for key, row in block.items()} for block in self.pattern.rows]
        return {"formula": self.formula, "loads": loads, "blocks": rows}


class SourceOfBlocks(_OfBlocks):
    """G_k = tr_spin(c_k S_k X) for all k: half the derivatives by F_k."""

    template = "source.hpp.j2"
    formula = "for each F_k out = sum of numbers_k tr_spin(S_k X) in its place in x, y, z, w, ...; X is a.term"
    terms = 1

    @property
    def name(self) -> str:
        """Name of the operator, from which those of its kernels are made."""
        return f"source_{self.pattern.name}"

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """For each matrix the sum over the blocks to which it belongs."""
        found: dict[tuple[int, int], list[str]] = {}
        for k, slot in enumerate(self.pattern.slots):
            found.setdefault(slot, []).append(f"(R{{}} + scalar<R>({_number(k)})) * {self._trace(k)}")
        stores = [
            {"field": FIELDS[field], "direction": mu, "value": " + ".join(terms)}
            for (field, mu), terms in found.items()
        ]
        return {"formula": self.formula, "stores": stores}

    def _trace(self, k: int) -> str:
        """The colour matrix tr_spin(S_k X), from the three parts of each block."""
        rows = self.pattern.rows
        diagonal = np.array([rows[b][part][k] for b in range(2) for part in ("upper", "lower")])
        across = np.array([np.conj(rows[b]["across"][k]) for b in range(2)])
        terms = [combination(diagonal, ["upper0", "lower0", "upper1", "lower1"])]
        if below := combination(across, ["across0", "across1"]):
            terms.append(f"with_adjoint({below})")
        return f"({' + '.join(t for t in terms if t)})"


def block_operators(records: Sequence[Lowered]) -> list[Operator]:
    """The kernels of all site terms that are made of fields, each once."""
    found: dict[str, Operator] = {}
    for record in records:
        pattern = pattern_of(record)
        if pattern is not None and f"term_{pattern.name}" not in found:
            for operator in (TermOfBlocks(pattern), SourceOfBlocks(pattern)):
                found[operator.name] = operator
    return list(found.values())
