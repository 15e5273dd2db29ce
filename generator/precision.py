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
        spinor_codec: C++ type (runtime/kernels/codec.hpp) for site fields.
        link_codec: C++ type for links, whose elements have modulus at most 1; empty if the format holds spinors only.
        norm: True when each site carries one float scale besides its reals.
    """

    name: str
    element: str
    bits: int
    spinor_codec: str
    link_codec: str = ""
    norm: bool = False

    @property
    def element_bytes(self) -> int:
        """Size of the arithmetic type."""
        return {"double": 8, "float": 4}[self.element]

    @property
    def links(self) -> Precision:
        """The format in which links go with site fields of this one."""
        return self if self.link_codec else self.computed

    @property
    def computed(self) -> Precision:
        """The plain numbers in which kernels of this one compute."""
        return PRECISIONS[{"float": "single", "double": "double"}[self.element]]

    @property
    def packed(self) -> bool:
        """True if six reals and an exponent share 32-bit words."""
        return self.spinor_codec.startswith("SharedExponent")

    @property
    def word_bytes(self) -> int:
        """Size of a stored word: of a real, or of the words that packed formats are cut into."""
        return 4 if self.packed else self.bits // 8

    @property
    def spin_words(self) -> int:
        """Words of one vector of three colours (six reals) of a site field; those of others in proportion."""
        return -(-(6 * self.bits + EXPONENT_BITS) // 32) if self.packed else 6

    def spinor_bytes(self, spins: int, colours: int = 3) -> int:
        """Bytes of a site field of so many colour vectors, its scale included."""
        return spins * self.spin_words * colours // 3 * self.word_bytes + (4 if self.norm else 0)

    def link_bytes(self, reals: int) -> int:
        """Bytes of `reals` numbers of a link or of a site term."""
        return reals * self.bits // 8


EXPONENT_BITS = 8
"""Bits of the exponent that six reals share in packed formats."""


def shared_exponent(bits: int) -> Precision:
    """Six signed integers of `bits` bits with one exponent in whole 32-bit words; spinors only.

    Kernels compute in the smallest type that holds the integers exactly.
    """
    element = "float" if bits <= 24 else "double"
    return Precision(f"bits{bits}", element, bits, f"SharedExponent<{bits}, {element}>")


PRECISIONS = {
    p.name: p
    for p in (
        Precision("double", "double", 64, "Ieee<double>", "Ieee<double>"),
        Precision("single", "float", 32, "Ieee<float>", "Ieee<float>"),
        Precision("half", "float", 16, "Fixed<short, true>", "Fixed<short, false>", norm=True),
        Precision("quarter", "float", 8, "Fixed<signed char, true>", "Fixed<signed char, false>", norm=True),
        shared_exponent(20),
        shared_exponent(24),
        shared_exponent(30),
    )
}
"""All precisions by name."""
