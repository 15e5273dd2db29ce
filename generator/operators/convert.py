"""Changes of storage and of frame; their bodies are runtime/kernels/convert.hpp and runtime/kernels/term.hpp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..algebra.gamma import DEGRAND_ROSSI, Basis
from ..algebra.su3 import full_storage
from ..cost import Cost
from ..precision import PRECISIONS
from ..site_term import SITE_TERMS, TERM_REALS, SiteTerm
from ..spec import TILES, KernelSpec, Operator

_DOUBLE = PRECISIONS["double"]


@dataclass(frozen=True, eq=False)
class SiteKernel(Operator):
    """A kernel whose body is a C++ template of the runtime.

    Attributes:
        name: as in kernel names.
        formula: what it computes.
        axes: axes of the record that apply.
        runtime_body: the C++ template.
        arguments: record -> template arguments.
        moved: record -> bytes read and written per site.
        flops: (counted, reported) per site.
        sums: numbers it adds up.
        terms: stored site terms that it applies.
        headers: of runtime/kernels, which its body needs besides the usual ones.
    """

    name: str
    formula: str
    axes: tuple[str, ...]
    runtime_body: str
    arguments: Callable[[KernelSpec], list[str]]  # type: ignore[assignment]
    moved: Callable[[KernelSpec], float]
    flops: tuple[int, int] = (0, 0)
    sums: int = 0
    terms: int = 0
    family: str = "convert"
    group: str = "convert"
    headers: tuple[str, ...] = ()

    template = ""

    @property
    def of_three_colours(self) -> str:
        """Site terms are Hermitian blocks of two spins and three colours; coarse vectors are cut like Dirac spinors."""
        return {"term": "stored site terms", "term_exp": "stored site terms", "coarse": "levels of multigrid"}.get(
            self.group, ""
        )

    def cpp_body(self, spec: KernelSpec) -> str:
        """The body in the runtime."""
        return self.runtime_body

    def most_tile(self, spec: KernelSpec) -> int:
        """Site terms mix the flavours of a tile."""
        return max(TILES)

    def cost(self, spec: KernelSpec) -> Cost:
        """Bytes as declared; reals are those bytes in numbers of the record's format."""
        moved = self.moved(spec)
        return Cost(*self.flops, moved, round(moved * 8 / spec.format.bits))


def _of_spinors(name: str, formula: str, *, to: bool) -> SiteKernel:
    def arguments(spec: KernelSpec) -> list[str]:
        codecs = [spec.spinor_codec, spec.in_colours(_DOUBLE.spinor_codec)]
        return [*(codecs if to else codecs[::-1]), str(spec.colour_vectors)]

    def moved(spec: KernelSpec) -> float:
        return sum(f.spinor_bytes(spec.colour_vectors, spec.colours) for f in (spec.format, _DOUBLE))

    return SiteKernel(name, formula, ("precision", "spins"), "ConvertSpinor", arguments, moved)


def _of_links(name: str, formula: str, *, to: bool) -> SiteKernel:
    def arguments(spec: KernelSpec) -> list[str]:
        formats = [[spec.format.link_codec, spec.links.upper()], [_DOUBLE.link_codec, _full(spec)]]
        return sum(formats if to else formats[::-1], [])

    def moved(spec: KernelSpec) -> float:
        return 4 * (spec.format.link_bytes(spec.storage.reals) + _DOUBLE.link_bytes(full_storage(spec.colours).reals))

    return SiteKernel(name, formula, ("precision", "links"), "ConvertLinks", arguments, moved)


def _full(spec: KernelSpec) -> str:
    """C++ type of the storage of any matrices."""
    return full_storage(spec.colours).name.upper()


_BLOCKS = "for both Hermitian blocks of a site"


def _of_terms(
    name: str, formula: str, body: str, terms: int = 0, group: str = "term", *, sums: int = 0, to: bool | None = None
) -> SiteKernel:
    """A kernel of stored terms, of which it moves some; or one that changes their precision, from double or to it."""

    def arguments(spec: KernelSpec) -> list[str]:
        codecs = [spec.format.link_codec, _DOUBLE.link_codec]
        return codecs[:1] if to is None else codecs if to else codecs[::-1]

    def moved(spec: KernelSpec) -> float:
        one = spec.format.link_bytes(TERM_REALS)
        return terms * one if to is None else one + _DOUBLE.link_bytes(TERM_REALS)

    headers = ("term_exp",) if group == "term_exp" else ()
    return SiteKernel(name, formula, ("precision",), body, arguments, moved, sums=sums, group=group, headers=headers)


def _apply_term(term: SiteTerm) -> SiteKernel:
    """T^-1 alone; of a stored term T, too, which has the same form."""
    reals = term.reals(inverse=True)
    return SiteKernel(
        name=f"apply_{term.name}",
        formula=f"out = b T^-1 x, {term.formula}",
        axes=("precision", "basis", "tile") if term.flavours > 1 else ("precision", "basis"),
        runtime_body="ApplyTerm",
        arguments=lambda spec: [spec.spinor_codec, spec.term_type(term, inverse=True)],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + spec.format.links.link_bytes(reals) / term.flavours,
        flops=(term.flops(DEGRAND_ROSSI, inverse=True), term.reported(DEGRAND_ROSSI, inverse=True)),
        terms=term.stored[True],
        family="term",
        group="term",
    )


def _basis(spec: KernelSpec) -> Basis:
    assert spec.basis is not None
    return spec.basis


SITE_KERNELS = (
    _of_spinors("import", "out = in, from double to the precision of the record", to=True),
    _of_spinors("export", "out = in, from the precision of the record to double", to=False),
    _of_links(
        "encode_links", "out = links, from all reals in double to the precision and storage of the record", to=True
    ),
    _of_links(
        "decode_links", "out = links, from the precision and storage of the record to all reals in double", to=False
    ),
    SiteKernel(
        name="rotate_colour",
        formula="out = g in, or g^+ in if a.direction is 1; g stands in direction 0 of the links",
        axes=("precision",),
        runtime_body="RotateColour",
        arguments=lambda spec: [spec.spinor_codec, spec.format.link_codec, _full(spec)],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4, spec.colours) + spec.format.link_bytes(2 * spec.colours**2),
        flops=(4 * 66, 4 * 66),
    ),
    _of_terms("encode_term", "out = a term, from double to the precision of the record", "ConvertTerm", to=True),
    _of_terms("decode_term", "out = a term, from the precision of the record to double", "ConvertTerm", to=False),
    _of_terms("invert_term", f"out = term^-1 {_BLOCKS}; adds up log |det term|", "InvertTerm", 2, sums=1),
    _of_terms(
        "invert_twisted_term",
        "out = C B, y = B = (C^2 + a)^-1 for both Hermitian blocks C of a site; adds up log |det (C^2 + a)|",
        "InvertTwistedTerm",
        3,
        sums=1,
    ),
    _of_terms("exp_term", f"out = a exp(term) + c {_BLOCKS}", "ExpTerm", 2, "term_exp"),
    _of_terms(
        "exp_term_adjoint",
        "out = a int_0^1 ds exp(s A) x exp((1 - s) A), A the term: derivatives by exp(A) taken back to A",
        "ExpTermAdjoint",
        3,
        "term_exp",
    ),
    _of_terms("add_term", "out = out + a term", "AddTerm", 3),
    SiteKernel(
        name="add_outer",
        formula="out = y - a times the sum over right-hand sides of the Hermitian part of in x^+, in both blocks",
        axes=("precision", "basis"),
        runtime_body="AddOuter",
        arguments=lambda spec: [spec.format.spinor_codec, spec.format.link_codec, f"Frame_{_basis(spec).short}"],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + 2 * spec.format.link_bytes(TERM_REALS),
        flops=(2 * 36 * 8, 2 * 36 * 8),
        group="term",
    ),
    *map(_apply_term, SITE_TERMS),
)
"""All kernels with a body in the runtime."""
