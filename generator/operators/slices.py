"""Operators along a fifth dimension: in each part of the spin space a first-order chain from slice to slice.

Part p of slice s is h_s = project_p x_s. With coefficients that come with the call

    y_s = own_s h_s + take_s k_s,    k_{s + step} = give_s h_s + keep_s k_s,    k at the start = sum_s close_s h_s,

and out_s = sum_p reconstruct_p y_s. Matrices alpha_s + beta_s R with a shift R, which may close on itself with any
factor, their inverses, products of the two and the conjugates are all of this form: the coefficients are in
solvers/actions/slice_chain.hpp. A chain costs 8 flops a number whatever the number of slices, a dense matrix 2 for
each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..algebra.gamma import TOLERANCE, Basis, Matrix
from ..algebra.projector import Factors, factorise
from ..cost import Cost, combination_flops
from ..cpp.expressions import combination
from ..epilogue import EPILOGUES
from ..errors import SpecError
from ..spec import KernelSpec, Operator

CHAIN_FLOPS = {"real": 8, "complex": 18}
"""Flops a real number of a part: one product for `close`, two each for y and k, and the additions."""
_EPILOGUES = [e.name for e in EPILOGUES.values() if not e.has_term]


@dataclass(frozen=True)
class Part:
    """A subspace of the spins: its projector, and the direction in which its chain runs: +1 to larger s, or -1."""

    factors: Factors
    step: int
    title: str


@dataclass(frozen=True, eq=False)
class SliceOperator(Operator):
    """An operator of this family.

    Attributes:
        name: as in kernel names.
        formula: what it computes in one line.
        parts: basis -> (projector, step, what it is called); projectors of one rank that add up to 1.
    """

    name: str
    formula: str
    parts: Callable[[Basis], tuple[tuple[Matrix, int, str], ...]]

    family = "slices"
    template = "slices.hpp.j2"
    axes = ("dagger", "epilogue", "precision", "basis", "coefficient")
    spins = 4
    is_dirac = True
    of_three_colours = "chains along a fifth dimension"

    @property
    def group(self) -> str:
        """Kernels of one group and precision share a translation unit."""
        return self.name

    def parts_of(self, spec: KernelSpec) -> tuple[Part, ...]:
        """The parts; in the Hermitian conjugate chains run the other way."""
        assert spec.basis is not None
        return _parts(self, spec.basis, spec.dagger)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row.

        Raises:
            SpecError: an epilogue with a site term.
        """
        if spec.has_term:
            raise SpecError(f"operator {self.name} has no epilogue {spec.epilogue}; use {' or '.join(_EPILOGUES)}")
        is_complex = "true" if spec.coefficient == "complex" else "false"
        return [spec.format.spinor_codec, spec.ends.cpp, is_complex]

    def cost(self, spec: KernelSpec) -> Cost:
        """Cost of one slice, which is read once and written once; with a x + b (...) one more field is read."""
        reals = self.spins * 2 * spec.colours
        parts = self.parts_of(spec)
        flops = sum(combination_flops(r, first=True, colours=spec.colours) for p in parts for r in p.factors.project)
        flops += sum(combination_flops(row, first=True, colours=spec.colours) for row in _reconstruct(parts))
        flops += CHAIN_FLOPS[spec.coefficient] * reals
        reads_x = spec.ends.reads_x
        flops += 3 * reals * reads_x
        fields = 2 + reads_x
        return Cost(flops, flops, fields * spec.format.spinor_bytes(self.spins, spec.colours), fields * reals)

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template that do not depend on precision, epilogue or kind of coefficients."""
        parts = self.parts_of(spec)
        rank = parts[0].factors.rank
        psi = [f"psi[{s}]" for s in range(self.spins)]
        y = [f"y{p}[{k}]" for p in range(len(parts)) for k in range(rank)]
        chains = [
            {
                "title": part.title,
                "slice": "n" if part.step > 0 else "a.slices - 1 - n",
                "project": [combination(row, psi) for row in part.factors.project],
            }
            for part in parts
        ]
        return {
            "formula": self.formula,
            "dagger": spec.dagger,
            "basis": spec.basis.name if spec.basis else "",
            "flops": self.cost(replace(spec, epilogue="none", coefficient="real")).flops,
            "spins": self.spins,
            "rank": rank,
            "parts": chains,
            "before": chains[:-1],
            "last": chains[-1],
            "reconstruct": [combination(row, y) for row in _reconstruct(parts)],
        }


def _reconstruct(parts: tuple[Part, ...]) -> Matrix:
    """Rows over the components of all parts, one after the other."""
    return np.concatenate([part.factors.reconstruct for part in parts], axis=1)


@cache
def _parts(operator: SliceOperator, basis: Basis, dagger: bool) -> tuple[Part, ...]:
    """Factorised parts.

    Raises:
        ArithmeticError: what the operator gives are no projectors of one rank with the sum 1 (a bug in it).
    """
    given = operator.parts(basis)
    total = sum(matrix for matrix, _, _ in given)
    idempotent = all(np.abs(m @ m - m).max() < TOLERANCE for m, _, _ in given)
    parts = tuple(Part(factorise(m), -step if dagger else step, title) for m, step, title in given)
    if not idempotent or np.abs(total - np.eye(operator.spins)).max() > TOLERANCE:
        raise ArithmeticError(f"operator {operator.name}: its parts are no projectors that add up to 1")
    if len({part.factors.rank for part in parts}) != 1:
        raise ArithmeticError(f"operator {operator.name}: its parts differ in rank")
    return parts
