"""Hopping operators D psi(x) = sum_hops Gamma_hop U_hop psi(x + hop), from their spin matrices alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from generator.algebra.gamma import Basis, Matrix
from generator.algebra.projector import Factors, factorise
from generator.algebra.su3 import STORAGES, Storage
from generator.cost import COLOUR_REALS, Cost, hopping_flops
from generator.operators.site_term import CLOVER, SiteTerm
from generator.shapes import link_codec, reordered
from generator.spec import KernelSpec

DIRECTION_NAMES = "xyzt"
FAT_STORAGE = STORAGES["r18"]
"""Links of hops over one site beside longer ones: sums of products of links."""


@dataclass(frozen=True)
class Hop:
    """One of the neighbours: direction mu, sign +1 (forward) or -1, and the factors of its spin matrix.

    `phase` lists the coordinates whose sum's parity gives the hop a sign (staggered phases). Hops of `length` 1 take
    `links` and `hops` of runtime/arguments.hpp, those of length 3 `long_links` and `long_hops`.
    """

    mu: int
    sign: int
    matrix: Matrix
    factors: Factors
    phase: tuple[int, ...] = ()
    length: int = 1

    @property
    def step(self) -> int:
        """Sites by which the coordinate along mu changes."""
        return self.sign * self.length


@dataclass(frozen=True)
class HoppingOperator:
    """An operator of this family.

    Attributes:
        name: as in kernel names.
        formula: D psi(x) in one line, with its source.
        spins: colour vectors per site.
        directions: in which it hops.
        spin_matrix: (basis, mu, sign) -> matrix that multiplies the hop; sign +1 is forward.
        term_of: for each hop the comment that states it, e.g. `(1 - gamma_x)`.
        has_basis: see above.
        reported_flops: flops per site that the field quotes; 0 for the derived count.
        phase: (mu) -> coordinates whose sum's parity gives hops along mu a sign.
        site_term: what epilogues with a site term apply.
        hops_of: the operator whose hops these are and whose body they share; empty for its own.
        lengths: sites of its hops, 1 or 3. The axis `links` of the record is the storage of the links of the longest
            ones; with several lengths those of one site are general matrices in 18 reals (`fat_storage`).
    """

    name: str
    formula: str
    spins: int
    directions: tuple[int, ...]
    spin_matrix: Callable[[Basis | None, int, int], Matrix]
    term_of: Callable[[int, int], str]
    has_basis: bool = True
    reported_flops: int = 0
    phase: Callable[[int], tuple[int, ...]] = lambda mu: ()
    site_term: SiteTerm = CLOVER
    hops_of: str = ""
    lengths: tuple[int, ...] = (1,)

    family = "hopping"
    template = "hopping.hpp.j2"

    @property
    def group(self) -> str:
        """Kernels of one group and precision share a translation unit."""
        return self.name

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of the record that apply."""
        always = ("dagger", "epilogue", "precision", "links", "coefficient", "tile", "ranks")
        return (*always, "basis") if self.has_basis else always

    def hops(self, spec: KernelSpec) -> list[Hop]:
        """All hops in the order of emission: x forward, x backward, y forward, ..."""
        return _hops(self, spec.basis, spec.dagger)

    @property
    def reach(self) -> int:
        """Sites of the longest hop."""
        return max(self.lengths)

    def storage(self, spec: KernelSpec, hop: Hop) -> Storage:
        """How the link of a hop is stored."""
        return spec.storage if hop.length == self.reach else FAT_STORAGE

    def crossing(self, spec: KernelSpec) -> int:
        """Colour vectors that cross a link with a hop: what neighbouring parts of a lattice send each other."""
        return max(hop.factors.rank for hop in self.hops(spec))

    def term(self, spec: KernelSpec, hop: Hop) -> str:
        """The spin matrix of a hop in words."""
        return self.term_of(hop.mu, -hop.sign if spec.dagger else hop.sign)

    def cost(self, spec: KernelSpec) -> Cost:
        """Cost with the epilogue of `spec`: a x + b D psi adds 3 flops a real and one more field to read.

        The field reports 2 flops a real for a x + b D psi (1368 for Wilson), as if b were 1.
        """
        hops = self.hops(spec)
        reals = self.spins * COLOUR_REALS
        spinor = spec.format.spinor_bytes(self.spins)
        read = [self.storage(spec, hop).reals for hop in hops if not (spec.storage.temporal and hop.mu == 3)]
        flops = _flops(self, spec.basis, spec.dagger)
        reads_x = spec.epilogue in ("axpby", "taxpby", "axpby_tinv")
        term, inverse, more, reported, stored = self.site_term, spec.applies_inverse, 0, 0, 0
        if spec.has_term:
            more, reported = term.flops(spec.basis, inverse=inverse), term.reported(spec.basis, inverse=inverse)
            stored = term.reals(inverse=inverse)
        return Cost(
            flops=flops + 3 * reals * reads_x + more,
            reported=(self.reported_flops or flops) + 2 * reals * reads_x + reported,
            bytes=spec.format.links.link_bytes(sum(read)) / max(spec.tile, 1)
            + (2 + reads_x) * spinor
            + spec.format.links.link_bytes(stored) / term.flavours,
            reals=sum(read) + (len(hops) + 1 + reads_x) * reals + stored,
        )

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments that turn the body into the kernel of `spec`."""
        epilogue = {"none": "Plain", "axpby": "Axpby", "taxpby": "Taxpby", "tinv": "Tinv", "axpby_tinv": "AxpbyTinv"}
        term = f"<{self.site_term.cpp(spec, inverse=spec.applies_inverse)}>" if spec.has_term else ""
        return [
            spec.format.spinor_codec,
            link_codec(spec),
            spec.links.upper(),
            epilogue[spec.epilogue] + term,
            "true" if spec.coefficient == "complex" else "false",
            str(spec.tile),
        ]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template that do not depend on precision, storage, epilogue or tile."""
        return {
            "hops": reordered(spec.shape, self.hops(spec)),
            "spins": self.spins,
            "formula": self.formula,
            "dagger": spec.dagger,
            "reach": self.reach,
            "long_hops": str(self.reach > 1).lower(),
            "links": "HopLinks<LinkCodec, R18, Storage, W>"
            if len(self.lengths) > 1
            else "LinkView<LinkCodec, Storage, W>",
        }


@cache
def _hops(operator: HoppingOperator, basis: Basis | None, dagger: bool) -> list[Hop]:
    """Hops of an operator or its conjugate.

    The Hermitian conjugate of Gamma_+ U delta(x+mu) is Gamma_+^+ U^+ delta(x-mu): conjugate, opposite sign.
    """
    result = []
    for mu in operator.directions:
        for length in operator.lengths:
            for sign in (1, -1):
                matrix = operator.spin_matrix(basis, mu, -sign if dagger else sign)
                matrix = np.asarray(matrix.conj().T if dagger else matrix, dtype=complex)
                result.append(Hop(mu, sign, matrix, factorise(matrix), operator.phase(mu), length))
    return result


@cache
def _flops(operator: HoppingOperator, basis: Basis | None, dagger: bool) -> int:
    return hopping_flops([hop.factors for hop in _hops(operator, basis, dagger)])
