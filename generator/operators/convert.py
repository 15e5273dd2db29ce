"""Changes of storage and of frame; their bodies are runtime/convert.hpp and runtime/term.hpp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from generator.cost import Cost
from generator.operators.hopping import TERM_FLOPS, TERM_REALS, TERM_REPORTED, frame_name
from generator.precision import PRECISIONS
from generator.spec import KernelSpec

_DOUBLE = PRECISIONS["double"]


@dataclass(frozen=True)
class SiteKernel:
    """A kernel whose body is a C++ template of the runtime.

    Attributes:
        name: as in kernel names.
        formula: what it computes.
        axes: axes of the record that apply.
        cpp_body: the C++ template.
        arguments: record -> template arguments.
        moved: record -> bytes read and written per site.
        flops: (counted, reported) per site.
        sums: numbers it adds up.
    """

    name: str
    formula: str
    axes: tuple[str, ...]
    cpp_body: str
    arguments: Callable[[KernelSpec], list[str]]
    moved: Callable[[KernelSpec], float]
    flops: tuple[int, int] = (0, 0)
    sums: int = 0
    family: str = "convert"
    group: str = "convert"

    template = ""

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Nothing is rendered."""
        return {}

    def cost(self, spec: KernelSpec) -> Cost:
        """Bytes as declared; reals are those bytes in numbers of the record's format."""
        moved = self.moved(spec)
        return Cost(*self.flops, moved, round(moved * 8 / spec.format.bits))


def _spinor_bytes(spec: KernelSpec) -> float:
    return spec.format.spinor_bytes(spec.spins) + _DOUBLE.spinor_bytes(spec.spins)


def _link_bytes(spec: KernelSpec) -> float:
    return 4 * (spec.format.link_bytes(spec.storage.reals) + _DOUBLE.link_bytes(18))


def _term_bytes(spec: KernelSpec) -> float:
    return spec.format.link_bytes(TERM_REALS) + _DOUBLE.link_bytes(TERM_REALS)


SITE_KERNELS = (
    SiteKernel(
        name="import",
        formula="out = in, from double to the precision of the record",
        axes=("precision", "spins"),
        cpp_body="ConvertSpinor",
        arguments=lambda spec: [spec.format.spinor_codec, _DOUBLE.spinor_codec, str(spec.spins)],
        moved=_spinor_bytes,
    ),
    SiteKernel(
        name="export",
        formula="out = in, from the precision of the record to double",
        axes=("precision", "spins"),
        cpp_body="ConvertSpinor",
        arguments=lambda spec: [_DOUBLE.spinor_codec, spec.format.spinor_codec, str(spec.spins)],
        moved=_spinor_bytes,
    ),
    SiteKernel(
        name="encode_links",
        formula="out = links, from 18 doubles to the precision and storage of the record",
        axes=("precision", "links"),
        cpp_body="ConvertLinks",
        arguments=lambda spec: [spec.format.link_codec, spec.links.upper(), _DOUBLE.link_codec, "R18"],
        moved=_link_bytes,
    ),
    SiteKernel(
        name="decode_links",
        formula="out = links, from the precision and storage of the record to 18 doubles",
        axes=("precision", "links"),
        cpp_body="ConvertLinks",
        arguments=lambda spec: [_DOUBLE.link_codec, "R18", spec.format.link_codec, spec.links.upper()],
        moved=_link_bytes,
    ),
    SiteKernel(
        name="project_u3",
        formula="out = V (V^+ V)^(-1/2) for the four links V of a site; adds up |out out^+ - 1|^2",
        axes=("precision", "links"),
        cpp_body="ProjectU3",
        arguments=lambda spec: [spec.format.link_codec, spec.links.upper()],
        moved=lambda spec: 8 * spec.format.link_bytes(spec.storage.reals),
        sums=1,
        family="gauge",
        group="fat",
    ),
    SiteKernel(
        name="rotate_colour",
        formula="out = g in, or g^+ in if a.direction is 1; g stands in direction 0 of the links",
        axes=("precision",),
        cpp_body="RotateColour",
        arguments=lambda spec: [spec.format.spinor_codec, spec.format.link_codec, "R18"],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + spec.format.link_bytes(18),
        flops=(4 * 66, 4 * 66),
    ),
    SiteKernel(
        name="encode_term",
        formula="out = a term, from double to the precision of the record",
        axes=("precision",),
        cpp_body="ConvertTerm",
        arguments=lambda spec: [spec.format.link_codec, _DOUBLE.link_codec],
        moved=_term_bytes,
        group="term",
    ),
    SiteKernel(
        name="decode_term",
        formula="out = a term, from the precision of the record to double",
        axes=("precision",),
        cpp_body="ConvertTerm",
        arguments=lambda spec: [_DOUBLE.link_codec, spec.format.link_codec],
        moved=_term_bytes,
        group="term",
    ),
    SiteKernel(
        name="invert_term",
        formula="out = term^-1 for both Hermitian blocks of a site; adds up log |det term|",
        axes=("precision",),
        cpp_body="InvertTerm",
        arguments=lambda spec: [spec.format.link_codec],
        moved=lambda spec: 2 * spec.format.link_bytes(TERM_REALS),
        sums=1,
        group="term",
    ),
    SiteKernel(
        name="apply_term",
        formula="out = b T x, T a site term",
        axes=("precision", "basis"),
        cpp_body="ApplyTerm",
        arguments=lambda spec: [spec.format.spinor_codec, spec.format.links.link_codec, frame_name(spec)],
        moved=lambda spec: 2 * spec.format.spinor_bytes(4) + spec.format.links.link_bytes(TERM_REALS),
        flops=(TERM_FLOPS, TERM_REPORTED),
        family="term",
        group="term",
    ),
)
"""All kernels with a body in the runtime."""
