"""The frozen record of one kernel, and what the generator asks of its operator.

A record carries its own operator: no stage looks it up or tells kinds apart. The name of a record is the same in files,
registry, tests and tuning data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .algebra.gamma import Basis
from .algebra.su3 import MOST_COLOURS, STORAGES, Storage
from .cost import Cost
from .epilogue import EPILOGUES, Epilogue
from .errors import SpecError
from .lower.hopping import HoppingForm
from .lower.hops import Hop
from .precision import PRECISIONS, Precision
from .shapes import SHAPES
from .site_term import SiteTerm

COEFFICIENTS = ("real", "complex")
"""Kind of the hop coefficients: real serves periodic and antiperiodic boundaries and anisotropy."""

TILES = (0, 1, 2, 4, 8)
"""Right-hand sides that share one load of the links; 0 for kernels that have no such axis."""


class Operator:
    """Base of all kinds: each states what it is, and what differs from the defaults here.

    Operators are the same only if they are one object.
    """

    if TYPE_CHECKING:  # fields, properties or members of the kinds

        @property
        def name(self) -> str: ...
        @property
        def family(self) -> str: ...  # hopping, slices, update, expression, links, ...: its tests and host code
        @property
        def group(self) -> str: ...  # kernels of one group and precision share a translation unit
        @property
        def formula(self) -> str: ...  # what it computes, in one line
        @property
        def template(self) -> str: ...  # file that renders the body; empty if the body is in runtime/
        @property
        def axes(self) -> tuple[str, ...]: ...  # axes of the record that apply
        @property
        def shared_body(self) -> str: ...  # name of a body that is also that of others; empty for its own
        @property
        def headers(self) -> Sequence[str]: ...  # of runtime/kernels, which its body needs besides the usual ones
        @property
        def spins(self) -> int: ...  # colour vectors of a site; 0 if records choose, or there are none
        @property
        def is_dirac(self) -> bool: ...  # whether methods solve with it
        @property
        def sums(self) -> int: ...  # real numbers that it adds up
        @property
        def own_sums(self) -> str: ...  # C++ template around the body, if sums are not left to the target
        @property
        def slots(self) -> Sequence[str]: ...  # scalars on the device that it reads or writes
        @property
        def scalar_program(self) -> str: ...  # its scalar program
        @property
        def complex_scalars(self) -> bool: ...
        @property
        def signature(self) -> str: ...  # fields and numbers of a call
        @property
        def fields(self) -> int: ...  # of an element-wise kernel; else 0
        @property
        def parities(self) -> int: ...  # whose sites a launch works on
        @property
        def min_blocks(self) -> int: ...  # blocks of threads that registers are to suffice for; 0 for one
        @property
        def terms(self) -> int: ...  # stored site terms that it applies
        @property
        def of_three_colours(self) -> str: ...  # what of it knows no other number of colours; empty if it does
        @property
        def names_colours(self) -> bool: ...  # whether the text of its body depends on their number
        @property
        def form(self) -> HoppingForm: ...  # of hopping terms alone, as what follows
        @property
        def site_term(self) -> SiteTerm: ...
        @property
        def reach(self) -> int: ...  # sites of the longest hop
        @property
        def hops_of(self) -> Operator | None: ...  # the operator whose hops these are; None for its own
        def storage(self, spec: KernelSpec, hop: Hop) -> Storage: ...  # of the link of a hop
        def arguments(self, spec: KernelSpec) -> list[str]: ...  # C++ template arguments of a row
        def cost(self, spec: KernelSpec) -> Cost: ...
    else:
        shared_body = scalar_program = signature = own_sums = of_three_colours = ""
        names_colours = False
        headers = slots = ()
        spins = sums = fields = min_blocks = terms = reach = 0
        is_dirac = complex_scalars = False
        hops_of = None
        parities = 1

    @property
    def all_axes(self) -> tuple[str, ...]:
        """Axes of the record, with the number of colours for operators without links."""
        return self.axes if "links" in self.axes else (*self.axes, "colours")

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template; nothing where the body is in runtime/."""
        return {}

    def cpp_body(self, spec: KernelSpec) -> str:
        """C++ template that the kernel of a record instantiates."""
        return f"{spec.body}_body"

    def most_tile(self, spec: KernelSpec) -> int:
        """Right-hand sides of a tile on GPUs at most: there batches share links whatever the tile."""
        return 1

    def hops(self, spec: KernelSpec) -> Sequence[Hop]:
        """The neighbours of a hopping term, in the order of emission."""
        return ()

    def stored_terms(self, spec: KernelSpec) -> int:
        """Stored site terms that the kernel of a record reads."""
        return self.terms

    def more_storages(self, spec: KernelSpec) -> Sequence[str]:
        """Link storages that its body names beside that of the record and of all elements."""
        return ()

    def call(self) -> dict[str, Any]:
        """Data of a typed C++ call (templates/call.hpp.j2), empty if there is none."""
        return {}


@dataclass(frozen=True)
class KernelSpec:
    """One kernel.

    Attributes:
        operator: what it applies.
        precision: storage format of its fields.
        links: link storage (`r18`, `r12`, `r8`), empty for kernels without links.
        basis: gamma basis, None for kernels without spin structure.
        dagger: True for the Hermitian conjugate.
        epilogue: one of EPILOGUES.
        coefficient: one of COEFFICIENTS.
        tile: right-hand sides that one thread works on together, one of TILES.
        spins: colour vectors per site, for kernels that serve several kinds of site fields; 0 if there is no choice.
        colours: numbers of a colour vector; the storage of links implies it.
        shape: names of generator.shapes, sorted; empty for the plain shape.
        variant: True for one of several kernels that compute the same: shape and launch numbers are part of its name.
        ranks: True if a kernel for the boundaries of parts is built on GPUs too (halo.hpp of their target).
        block: threads of a block of a GPU, a multiple of 32 up to 1024; 0 for a variant of the CPU alone.
        min_blocks: blocks that the compiler must leave registers for on one multiprocessor.
    """

    operator: Operator
    precision: str
    links: str = ""
    basis: Basis | None = None
    dagger: bool = False
    epilogue: str = "none"
    coefficient: str = "real"
    tile: int = 0
    spins: int = 0
    colours: int = 3
    shape: tuple[str, ...] = ()
    variant: bool = False
    ranks: bool = False
    block: int = 128
    min_blocks: int = 1

    def __post_init__(self) -> None:
        _check("precision", self.precision, PRECISIONS)
        if self.links:
            _check("links", self.links, STORAGES)
            object.__setattr__(self, "colours", self.storage.colours)
            if self.storage.group.startswith("su(") and self.operator.family != "convert":
                raise SpecError(f"links = {self.links!r} holds momenta, not links; use all reals or fewer of SU(N)")
        _check("spins", self.spins, (0, 1, 2, 4))
        _check("colours", self.colours, range(1, MOST_COLOURS + 1))
        if self.colours != 3 and self.of_three_colours:
            raise SpecError(f"{self.operator.name}: {self.of_three_colours} have three colours, not {self.colours}")
        _check("epilogue", self.epilogue, EPILOGUES)
        _check("coefficient", self.coefficient, COEFFICIENTS)
        _check("tile", self.tile, TILES)
        for name in self.shape:
            _check("shape", name, SHAPES)
        if self.block == 0 and self.variant:
            return
        if self.block % 32 or not 32 <= self.block <= 1024:
            raise SpecError(f"block = {self.block} is no multiple of 32 between 32 and 1024")
        if not 1 <= self.min_blocks * self.block <= 2048:
            raise SpecError(
                f"min_blocks = {self.min_blocks} of {self.block} threads exceed the 2048 of a multiprocessor"
            )

    @property
    def of_three_colours(self) -> str:
        """The part of this kernel that is written for three colours only; empty if there is none."""
        if self.format.packed:
            return f"fields in {self.precision}, where six reals share an exponent,"
        return self.operator.of_three_colours or ("stored site terms" if self.operator.stored_terms(self) else "")

    @property
    def body(self) -> str:
        """Name of the rendered text that this kernel instantiates: operators with the same hops share it."""
        parts = [self.operator.shared_body or self.operator.name]
        if self.dagger:
            parts.append("dagger")
        if self.basis is not None:
            parts.append(self.basis.short)
        if self.colours != 3 and self.operator.names_colours:
            parts.append(f"c{self.colours}")
        return "_".join(parts + [s for s in self.shape if SHAPES[s].body])

    @cached_property
    def name(self) -> str:
        """operator[_dagger][_epilogue]_precision[_links][_basis][_sSPINS][_cCOLOURS][_nTILE][__shape]."""
        parts = [self.operator.name]
        if self.dagger:
            parts.append("dagger")
        if self.epilogue != "none":
            parts.append(self.epilogue)
        parts.append(self.precision)
        if self.links:
            parts.append(self.links)
        if self.basis is not None:
            parts.append(self.basis.short)
        if self.spins:
            parts.append(f"s{self.spins}")
        if self.colours != 3 and not self.links:
            parts.append(f"c{self.colours}")
        if self.tile:
            parts.append(f"n{self.tile}")
        last = ["complex"] if self.coefficient == "complex" else []
        if self.variant:
            last += self.shape
            if self.block:
                last.append(f"b{self.block}m{self.min_blocks}")
            elif not self.shape:
                last.append("plain")
        return "_".join(parts) + ("__" + "_".join(last) if last else "")

    @property
    def colour_vectors(self) -> int:
        """Colour vectors of a site of its fields."""
        return self.operator.spins or self.spins or 4

    @property
    def ends(self) -> Epilogue:
        """The record of the epilogue."""
        return EPILOGUES[self.epilogue]

    @property
    def has_term(self) -> bool:
        """True if the epilogue reads a site term."""
        return self.ends.has_term

    @property
    def applies_inverse(self) -> bool:
        """True if that term is the inverse of T."""
        return self.ends.applies_inverse

    def term_type(self, term: SiteTerm, *, inverse: bool) -> str:
        """C++ type of a site term T or of T^-1 in this kernel.

        Raises:
            SpecError: the tile cuts a multiplet of flavours.
        """
        if max(self.tile, 1) % term.flavours:
            raise SpecError(
                f"tile = {self.tile} cuts the {term.flavours} flavours of {self.operator.name}; use tile = [2]"
            )
        assert self.basis is not None
        frame = f"Frame_{self.basis.short}"
        return term.types[inverse].format(codec=self.format.links.link_codec, frame=frame)

    @property
    def format(self) -> Precision:
        """The record of the storage format."""
        return PRECISIONS[self.precision]

    def in_colours(self, codec: str) -> str:
        """C++ type of a format of fields with the colours of this kernel."""
        return codec if self.colours == 3 else f"OfColours<{codec}, {self.colours}>"

    @property
    def spinor_codec(self) -> str:
        """C++ codec of the site fields."""
        return self.in_colours(self.format.spinor_codec)

    @property
    def link_codec(self) -> str:
        """C++ codec of the links, with the way they are loaded."""
        codec = self.format.links.link_codec
        return self.in_colours(f"Streamed<{codec}>" if "stream" in self.shape else codec)

    @property
    def storage(self) -> Storage:
        """The record of the link storage."""
        return STORAGES[self.links]

    def reals_of(self, kind: str) -> int:
        """Reals of a field of a kind (generator/language/symbols.py), for one site and direction."""
        if kind in ("spinor", "fermion"):
            return 2 * self.colours * self.colour_vectors
        if kind in ("propagator", "staggered_propagator"):  # of an element in spin
            return 2 * self.colours**2
        of_matrices = {"links": self.storage.reals if self.links else 0}
        of_matrices |= {"matrices": 2 * self.colours**2, "algebra": self.colours**2 - 1}
        return of_matrices.get(kind, 2)

    def __lt__(self, other: KernelSpec) -> bool:
        return self.name < other.name

    def with_launch(self, block: int, min_blocks: int) -> KernelSpec:
        """The kernel with other launch numbers."""
        return replace(self, block=block, min_blocks=min_blocks)

    def as_variant(self, shape: tuple[str, ...], block: int, min_blocks: int) -> KernelSpec:
        """A kernel that computes the same in another way."""
        return replace(self, shape=shape, block=block, min_blocks=min_blocks, variant=True, ranks=False)


def _check(axis: str, value: object, allowed: object) -> None:
    if value not in allowed:  # type: ignore[operator]
        raise SpecError(f"{axis} = {value!r} is unknown; use one of {', '.join(map(str, allowed))}")  # type: ignore
