"""Hopping operators D psi(x) = sum_hops Gamma_hop U_hop psi(x + hop), from the statements of actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..algebra.gamma import Basis
from ..algebra.projector import factorise
from ..algebra.su3 import Storage, full_storage
from ..cost import Cost, hopping_flops
from ..cpp.hops import hop_list, hop_rows
from ..lower.hopping import HoppingForm
from ..lower.hops import Hop
from ..shapes import reordered
from ..site_term import CLOVER, SiteTerm
from ..spec import TILES, KernelSpec, Operator


@dataclass(frozen=True, eq=False)
class HoppingOperator(Operator):
    """The hopping term D of an action, and the site terms that its epilogues apply.

    Attributes:
        name: as in kernel names.
        form: what follows from the statement of the action.
        site_term: what epilogues with a site term apply.
        hops_of: the operator whose hops these are and whose body they share; None for its own.
    """

    name: str
    form: HoppingForm
    site_term: SiteTerm = CLOVER
    hops_of: HoppingOperator | None = None

    family = "hopping"
    template = "hopping.hpp.j2"

    @property
    def group(self) -> str:
        """Kernels of one group and precision share a translation unit."""
        return self.name

    @property
    def formula(self) -> str:
        """D psi(x) in one line, and T where it is part of the operator."""
        return self.form.formula + (f"; {self.site_term.formula}" if self.hops_of else "")

    @property
    def shared_body(self) -> str:
        """Name of the operator whose body this is."""
        return (self.hops_of or self).name

    @property
    def headers(self) -> tuple[str, ...]:
        """Weights of directed hops."""
        return ("hop_weights",) if self.form.directed else ()

    @property
    def spins(self) -> int:
        """Colour vectors per site."""
        return self.form.spins

    @property
    def has_basis(self) -> bool:
        """Whether hops have spin matrices."""
        return self.form.has_basis

    @property
    def is_dirac(self) -> bool:
        """Whether anything is solved for: an operator without parameters, as the Laplacian, is a tool of smearing."""
        return bool(self.form.action.parameters)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Sites of its hops, 1 or 3.

        The axis `links` of the record is the storage of the links of the longest ones; with several lengths those of
        one site are general matrices (`storage`).
        """
        return self.form.lengths

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of the record that apply."""
        always = ("dagger", "epilogue", "precision", "links", "coefficient", "tile", "ranks")
        return (*always, "basis") if self.has_basis else always

    def hops(self, spec: KernelSpec) -> list[Hop]:
        """Hops in the order of emission: x forward, x backward, y forward, ..."""
        return _hops(self, spec.basis, spec.dagger)

    @property
    def reach(self) -> int:
        """Sites of the longest hop."""
        return max(self.lengths)

    def storage(self, spec: KernelSpec, hop: Hop) -> Storage:
        """How the link of a hop is stored."""
        return spec.storage if hop.length == self.reach else full_storage(spec.colours)

    def most_tile(self, spec: KernelSpec) -> int:
        """Flavours that a site term mixes are one tile; where a site is one colour vector, registers hold several."""
        return max(TILES) if self.spins == 1 else self.site_term.flavours if spec.has_term else 1

    def stored_terms(self, spec: KernelSpec) -> int:
        """Stored site terms that the epilogue reads."""
        return self.site_term.stored[spec.applies_inverse] if spec.has_term else 0

    def term(self, spec: KernelSpec, hop: Hop) -> str:
        """The spin matrix of a hop in words."""
        return self.form.term_text(hop.mu, -hop.sign if spec.dagger else hop.sign, length=hop.length)

    def cost(self, spec: KernelSpec) -> Cost:
        """Cost with the epilogue of `spec`: a x + b D psi adds 3 flops a real and one more field to read.

        The field reports 2 flops a real for a x + b D psi (1368 for Wilson), as if b were 1.
        """
        hops = self.hops(spec)
        reals = self.spins * 2 * spec.colours
        spinor = spec.format.spinor_bytes(self.spins, spec.colours)
        read = [self.storage(spec, hop).reals for hop in hops if not (spec.storage.temporal and hop.mu == 3)]
        flops = _flops(self, spec.basis, spec.dagger, spec.colours)
        reads_x = spec.ends.reads_x
        term, inverse, more, reported, stored = self.site_term, spec.applies_inverse, 0, 0, 0
        if spec.has_term:
            more, reported = term.flops(spec.basis, inverse=inverse), term.reported(spec.basis, inverse=inverse)
            stored = term.reals(inverse=inverse)
        return Cost(
            flops=flops + 3 * reals * reads_x + more,
            reported=(spec.colours == 3 and self.form.action.reported_flops or flops) + 2 * reals * reads_x + reported,
            bytes=spec.format.links.link_bytes(sum(read)) / max(spec.tile, 1)
            + (2 + reads_x) * spinor
            + spec.format.links.link_bytes(stored) / term.flavours,
            reals=sum(read) + (len(hops) + 1 + reads_x) * reals + stored,
        )

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments that turn the body into the kernel of `spec`."""
        term = f"<{spec.term_type(self.site_term, inverse=spec.applies_inverse)}>" if spec.has_term else ""
        return [
            spec.spinor_codec,
            spec.link_codec,
            spec.links.upper(),
            spec.ends.cpp + term,
            "true" if spec.coefficient == "complex" else "false",
            str(spec.tile),
        ]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template that do not depend on precision, storage, epilogue or tile."""
        if self.hops_of:
            return self.hops_of.body(spec)
        hops = reordered(spec.shape, self.hops(spec))
        return {
            "hops": hop_rows(self.form, hops, [self.term(spec, hop) for hop in hops]),
            "list": hop_list(hops),
            "basis": spec.basis.name if spec.basis else "any",
            "flops": _flops(self, spec.basis, spec.dagger, 3),
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
    for mu in operator.form.directions:
        for length in operator.lengths:
            for sign in (1, -1):
                matrix = operator.form.spin_matrix(basis, mu, -sign if dagger else sign, length)
                matrix = np.asarray(matrix.conj().T if dagger else matrix, dtype=complex)
                result.append(Hop(mu, sign, matrix, factorise(matrix), operator.form.phase(mu), length))
    return result


@cache
def _flops(operator: HoppingOperator, basis: Basis | None, dagger: bool, colours: int) -> int:
    hops = _hops(operator, basis, dagger)
    weighted = sum(h.factors.rank for h in hops if h.sign < 0 and h.mu in operator.form.directed)
    return hopping_flops([h.factors for h in hops], colours) + 2 * colours * weighted
