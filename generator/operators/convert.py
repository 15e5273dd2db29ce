"""Changes of storage: spinors to and from double, links to and from 18 doubles; bodies in runtime/convert.hpp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generator.cost import Cost
from generator.operators.blas import REALS
from generator.precision import PRECISIONS
from generator.spec import KernelSpec

_DOUBLE = PRECISIONS["double"]


@dataclass(frozen=True)
class SpinorConversion:
    """`import`: double -> precision of the record; `export`: back.

    Attributes:
        name: import or export.
        importing: direction.
    """

    name: str
    importing: bool

    family = "convert"
    group = "convert"
    template = ""
    formula = "out = in in another precision"
    cpp_body = "ConvertSpinor"
    axes = ("precision",)

    def arguments(self, spec: KernelSpec) -> list[str]:
        """To, from."""
        pair = [spec.format.spinor_codec, _DOUBLE.spinor_codec]
        return pair if self.importing else pair[::-1]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Nothing is rendered."""
        return {}

    def cost(self, spec: KernelSpec) -> Cost:
        """One read, one write."""
        size = spec.format.bytes(REALS, site_field=True) + _DOUBLE.bytes(REALS, site_field=True)
        return Cost(0, 0, size, 2 * REALS)


@dataclass(frozen=True)
class LinkConversion:
    """`encode_links`: 18 doubles -> precision and storage of the record; `decode_links`: back.

    Attributes:
        name: encode_links or decode_links.
        encoding: direction.
    """

    name: str
    encoding: bool

    family = "convert"
    group = "convert"
    template = ""
    formula = "out = links in another precision and storage"
    cpp_body = "ConvertLinks"
    axes = ("precision", "links")

    def arguments(self, spec: KernelSpec) -> list[str]:
        """To codec and storage, from codec and storage."""
        pair = [(spec.format.link_codec, spec.links.upper()), (_DOUBLE.link_codec, "R18")]
        return [text for part in (pair if self.encoding else pair[::-1]) for text in part]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Nothing is rendered."""
        return {}

    def cost(self, spec: KernelSpec) -> Cost:
        """Four links read, four written."""
        reals = 4 * (18 + spec.storage.reals)
        size = 4 * (spec.format.bytes(spec.storage.reals, site_field=False) + _DOUBLE.bytes(18, site_field=False))
        return Cost(0, 0, size, reals)


CONVERSIONS = (
    SpinorConversion("import", importing=True),
    SpinorConversion("export", importing=False),
    LinkConversion("encode_links", encoding=True),
    LinkConversion("decode_links", encoding=False),
)
"""All conversions."""
