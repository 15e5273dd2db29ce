"""Changes of storage and of frame; their bodies are runtime/kernels/convert.hpp and runtime/kernels/term.hpp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generator.algebra.gamma import DEGRAND_ROSSI
from generator.cost import Cost
from generator.operator import Operator
from generator.operators.site_term import SITE_TERMS, TERM_REALS, SiteTerm
from generator.precision import PRECISIONS
from generator.spec import TILES, KernelSpec

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

    template = ""

    def cpp_body(self, spec: KernelSpec) -> str:
        """As declared."""
        return self.runtime_body

    def most_tile(self, spec: KernelSpec) -> int:
        """Site terms mix the flavours of a tile."""
        return max(TILES)

    def cost(self, spec: KernelSpec) -> Cost:
        """Bytes as declared; reals are those bytes in numbers of the record's format."""
        moved = self.moved(spec)
        return Cost(*self.flops, moved, round(moved * 8 / spec.format.bits))


def _spinor_bytes(spec: KernelSpec) -> float:
    return spec.format.spinor_bytes(spec.colour_vectors) + _DOUBLE.spinor_bytes(spec.colour_vectors)


def _link_bytes(spec: KernelSpec) -> float:
    return 4 * (spec.format.link_bytes(spec.storage.reals) + _DOUBLE.link_bytes(18))


def _term_bytes(spec: KernelSpec) -> float:
    return spec.format.link_bytes(TERM_REALS) + _DOUBLE.link_bytes(TERM_REALS)


def _apply_term(term: SiteTerm) -> SiteKernel:
    """T^-1 alone; of a stored term T, too, which has the same form."""
    reals = term.reals(inverse=True)
    return SiteKernel(
        name=f"apply_{term.name}",
        formula=f"out = b T^-1 x, {term.formula}",
        axes=("precision", "basis", "tile") if term.flavours > 1 else ("precision", "basis"),
        runtime_body="ApplyTerm",
        arguments=lambda spec: [spec.format.spinor_codec, term.cpp(spec, inverse=True)],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + spec.format.links.link_bytes(reals) / term.flavours,
        flops=(term.flops(DEGRAND_ROSSI, inverse=True), term.reported(DEGRAND_ROSSI, inverse=True)),
        terms=term.stored[True],
        family="term",
        group="term",
    )


SITE_KERNELS = (
    SiteKernel(
        name="import",
        formula="out = in, from double to the precision of the record",
        axes=("precision", "spins"),
        runtime_body="ConvertSpinor",
        arguments=lambda spec: [spec.format.spinor_codec, _DOUBLE.spinor_codec, str(spec.colour_vectors)],
        moved=_spinor_bytes,
    ),
    SiteKernel(
        name="export",
        formula="out = in, from the precision of the record to double",
        axes=("precision", "spins"),
        runtime_body="ConvertSpinor",
        arguments=lambda spec: [_DOUBLE.spinor_codec, spec.format.spinor_codec, str(spec.colour_vectors)],
        moved=_spinor_bytes,
    ),
    SiteKernel(
        name="encode_links",
        formula="out = links, from 18 doubles to the precision and storage of the record",
        axes=("precision", "links"),
        runtime_body="ConvertLinks",
        arguments=lambda spec: [spec.format.link_codec, spec.links.upper(), _DOUBLE.link_codec, "R18"],
        moved=_link_bytes,
    ),
    SiteKernel(
        name="decode_links",
        formula="out = links, from the precision and storage of the record to 18 doubles",
        axes=("precision", "links"),
        runtime_body="ConvertLinks",
        arguments=lambda spec: [_DOUBLE.link_codec, "R18", spec.format.link_codec, spec.links.upper()],
        moved=_link_bytes,
    ),
    SiteKernel(
        name="project_u3",
        formula="out = V (V^+ V)^(-1/2) for the four links V of a site; adds up |out out^+ - 1|^2",
        axes=("precision", "links"),
        runtime_body="ProjectU3",
        arguments=lambda spec: [spec.format.link_codec, spec.links.upper()],
        moved=lambda spec: 8 * spec.format.link_bytes(spec.storage.reals),
        sums=1,
        family="links",
        group="fat",
    ),
    SiteKernel(
        name="rotate_colour",
        formula="out = g in, or g^+ in if a.direction is 1; g stands in direction 0 of the links",
        axes=("precision",),
        runtime_body="RotateColour",
        arguments=lambda spec: [spec.format.spinor_codec, spec.format.link_codec, "R18"],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + spec.format.link_bytes(18),
        flops=(4 * 66, 4 * 66),
    ),
    SiteKernel(
        name="encode_term",
        formula="out = a term, from double to the precision of the record",
        axes=("precision",),
        runtime_body="ConvertTerm",
        arguments=lambda spec: [spec.format.link_codec, _DOUBLE.link_codec],
        moved=_term_bytes,
        group="term",
    ),
    SiteKernel(
        name="decode_term",
        formula="out = a term, from the precision of the record to double",
        axes=("precision",),
        runtime_body="ConvertTerm",
        arguments=lambda spec: [_DOUBLE.link_codec, spec.format.link_codec],
        moved=_term_bytes,
        group="term",
    ),
    SiteKernel(
        name="invert_term",
        formula="out = term^-1 for both Hermitian blocks of a site; adds up log |det term|",
        axes=("precision",),
        runtime_body="InvertTerm",
        arguments=lambda spec: [spec.format.link_codec],
        moved=lambda spec: 2 * spec.format.link_bytes(TERM_REALS),
        sums=1,
        group="term",
    ),
    SiteKernel(
        name="invert_twisted_term",
        formula="out = C B, y = B = (C^2 + a)^-1 for both Hermitian blocks C of a site; adds up log |det (C^2 + a)|",
        axes=("precision",),
        runtime_body="InvertTwistedTerm",
        arguments=lambda spec: [spec.format.link_codec],
        moved=lambda spec: 3 * spec.format.link_bytes(TERM_REALS),
        sums=1,
        group="term",
    ),
    *map(_apply_term, SITE_TERMS),
)
"""All kernels with a body in the runtime."""
