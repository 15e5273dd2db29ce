"""Storage precisions: how reals of spinors and links are written to memory and in which type kernels compute."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Precision:
    """A storage format of numbers.

    Attributes:
        name: as in profiles, options and kernel names.
        element: C++ type in which kernels compute.
        bits: bits stored per real.
        spinor_codec: C++ type (runtime/codec.hpp) for site fields.
        link_codec: C++ type for links, whose elements have modulus at most 1.
        norm: True when each site carries one float scale beside its reals.
    """

    name: str
    element: str
    bits: int
    spinor_codec: str
    link_codec: str
    norm: bool = False

    @property
    def element_bytes(self) -> int:
        """Size of the arithmetic type."""
        return {"double": 8, "float": 4}[self.element]

    def bytes(self, reals: int, *, site_field: bool) -> int:
        """Bytes that `reals` numbers of one site occupy; site fields include the scale."""
        return reals * self.bits // 8 + (4 if self.norm and site_field else 0)


PRECISIONS = {
    p.name: p
    for p in (
        Precision("double", "double", 64, "Ieee<double>", "Ieee<double>"),
        Precision("single", "float", 32, "Ieee<float>", "Ieee<float>"),
        Precision("half", "float", 16, "Fixed<short, true>", "Fixed<short, false>", norm=True),
        Precision("quarter", "float", 8, "Fixed<signed char, true>", "Fixed<signed char, false>", norm=True),
    )
}
"""All precisions by name."""
