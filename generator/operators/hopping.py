"""Nearest-neighbour operators D psi(x) = sum_hops Gamma_hop U_hop psi(x + hop), from their spin matrices alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.algebra.projector import Factors, factorise
from generator.cost import COLOUR_REALS, Cost, hopping_flops
from generator.spec import KernelSpec

DIRECTION_NAMES = "xyzt"


@dataclass(frozen=True)
class Hop:
    """One of the neighbours: direction mu, sign +1 (forward) or -1, and the factors of its spin matrix."""

    mu: int
    sign: int
    matrix: Matrix
    factors: Factors


@dataclass(frozen=True)
class HoppingOperator:
    """An operator of this family.

    Attributes:
        name: as in kernel names.
        formula: D psi(x) in one line, with its source.
        spins: colour vectors per site.
        directions: in which it hops.
        spin_matrix: (basis, mu, sign) -> matrix that multiplies the hop; sign +1 is forward.
        has_basis: False if the matrices do not depend on the gamma basis.
        reported_flops: flops per site that the field quotes; 0 for the derived count.
        term_of: for each hop the comment that states it, e.g. `(1 - gamma_x)`.
    """

    name: str
    formula: str
    spins: int
    directions: tuple[int, ...]
    spin_matrix: Callable[[Basis | None, int, int], Matrix]
    term_of: Callable[[int, int], str]
    has_basis: bool = True
    reported_flops: int = 0

    family = "hopping"
    template = "hopping.hpp.j2"

    @property
    def group(self) -> str:
        """Kernels of one group and precision share a translation unit."""
        return self.name

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of the record that apply."""
        always = ("dagger", "epilogue", "precision", "links", "coefficient", "tile")
        return (*always, "basis") if self.has_basis else always

    def hops(self, spec: KernelSpec) -> list[Hop]:
        """All hops in the order of emission: x forward, x backward, y forward, ...

        The Hermitian conjugate of Gamma_+ U delta(x+mu) is Gamma_+^+ U^+ delta(x-mu): conjugate, opposite sign.
        """
        result = []
        for mu in self.directions:
            for sign in (1, -1):
                matrix = self.spin_matrix(spec.basis, mu, -sign if spec.dagger else sign)
                if spec.dagger:
                    matrix = matrix.conj().T
                result.append(Hop(mu, sign, matrix, factorise(np.asarray(matrix, dtype=complex))))
        return result

    def term(self, spec: KernelSpec, hop: Hop) -> str:
        """The spin matrix of a hop in words."""
        return self.term_of(hop.mu, -hop.sign if spec.dagger else hop.sign)

    def cost(self, spec: KernelSpec) -> Cost:
        """Cost with the epilogue of `spec`: a x + b D psi adds 3 flops a real and one more field to read.

        The field reports 2 flops a real for a x + b D psi (1368 for Wilson), as if b were 1.
        """
        hops = self.hops(spec)
        reals = self.spins * COLOUR_REALS
        spinor = spec.format.bytes(reals, site_field=True)
        link = spec.format.bytes(spec.storage.reals, site_field=False)
        flops = hopping_flops([h.factors for h in hops])
        extra, fields = (1, 3) if spec.epilogue == "axpby" else (0, 2)
        return Cost(
            flops=flops + 3 * reals * extra,
            reported=(self.reported_flops or flops) + 2 * reals * extra,
            bytes=len(hops) * link / max(spec.tile, 1) + fields * spinor,
            reals=len(hops) * (spec.storage.reals + reals) + reals * (fields - 1),
        )

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments that turn the body into the kernel of `spec`."""
        return [
            spec.format.spinor_codec,
            spec.format.link_codec,
            spec.links.upper(),
            {"none": "Plain", "axpby": "Axpby"}[spec.epilogue],
            "true" if spec.coefficient == "complex" else "false",
            str(spec.tile),
        ]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template that do not depend on precision, storage, epilogue or tile."""
        return {"hops": self.hops(spec), "spins": self.spins, "formula": self.formula, "dagger": spec.dagger}
