"""Links of a representation from those of the fundamental one, and forces on them taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.representation import REPRESENTATIONS, Representation
from ..algebra.su3 import algebra_storage, full_storage
from ..cost import Cost
from ..language.printed import literal
from ..spec import KernelSpec, Operator


@dataclass(frozen=True, eq=False)
class Represent(Operator):
    """R(U) of all links, or its adjoint on forces.

    Attributes:
        representation: which.
        back: True for the adjoint.
    """

    representation: Representation
    back: bool

    family = group = "represent"
    template = "represent.hpp.j2"
    names_colours = True
    headers = ("su3",)
    parities = 2

    @property
    def name(self) -> str:
        """Name of the operator, from which those of its kernels are made."""
        return f"{'back' if self.back else 'represent'}_{self.representation.name}"

    @property
    def formula(self) -> str:
        """Formula of the conversion, with its representation."""
        what = "out = out + [2 sum_ab x_ab B_a B_b^+]_TA" if self.back else "R_ab = tr(B_a^+ U B_b V)"
        return f"{what}, V = {'U^+' if self.representation.real else 'U^T'}; {self.representation.text}"

    @property
    def axes(self) -> tuple[str, ...]:
        """Forces have colours, but no storage of links."""
        return ("precision",) if self.back else ("precision", "links")

    def more_storages(self, spec: KernelSpec) -> tuple[str, ...]:
        """Storages of links in the representation, of forces on them and of momenta."""
        dimension = self.representation.dimension(spec.colours)
        if self.back:
            return algebra_storage(dimension).name, algebra_storage(spec.colours).name
        return (full_storage(dimension).name,)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row: formats of numbers, and of the links or momenta."""
        return [spec.format.link_codec, spec.links.upper() or self.more_storages(spec)[-1].upper()]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template: the elements of all B_a that are not zero."""
        basis = self.representation.basis(spec.colours)
        places = [np.argwhere(b) for b in basis]
        elements = [b[tuple(place)] for b, all_of in zip(basis, places, strict=True) for place in all_of]
        rows, columns = np.concatenate(places).T
        return {
            "formula": self.formula,
            "back": self.back,
            "real": self.representation.real,
            "colours": spec.colours,
            "dimension": len(basis),
            "stored": self.more_storages(spec)[0].upper(),
            "first": ", ".join(map(str, np.cumsum([0, *map(len, places)]))),
            "rows": ", ".join(map(str, rows)),
            "columns": ", ".join(map(str, columns)),
            "re": ", ".join(literal(z.real + 0.0) for z in elements),
            "im": ", ".join(literal(z.imag + 0.0) for z in elements),
        }

    def cost(self, spec: KernelSpec) -> Cost:
        """A product of four numbers for each pair of elements of two B; links and forces of four directions."""
        basis = self.representation.basis(spec.colours)
        flops = 4 * 20 * sum(map(np.count_nonzero, basis)) ** 2
        storage = algebra_storage if self.back else full_storage
        reals = 4 * (storage(len(basis)).reals + storage(spec.colours).reals * (1 + self.back))
        return Cost(flops, flops, spec.format.link_bytes(reals), reals)


REPRESENT = tuple(Represent(r, back) for r in REPRESENTATIONS.values() for back in (False, True))
"""Conversions of each representation, in both directions."""
