"""Names of the user's in C++: what kernels and the language have already gets an underscore."""

from __future__ import annotations

import re

from ..language.graph import NAMES

_RESERVED = re.compile(r"[sv]\d+|at_.*|.*_")
_TAKEN = frozenset(
    """
    a x home rhs sums index number n R W S Codec LinkCodec Storage Spinors Links Matrices Momenta Numbers site
    directions broadcast scalar complex_scalar times times_i combine convert walk in_order in_turns mul mul_adj product
    product_adj map adj trace dot outer traceless_antihermitian exponential exponential_adjoint closest_su3
    closest_su3_adjoint conj nearest_unitary nearest_unitary_adjoint damped_adjoint relaxed_hits load_matrix matrix_at
    load_spinor load_number store_spinor unit_matrix staggered_sign make_site within_border Site Spinor Link Complex
    Lanes LinkView SpinorView NumberView Arguments std evaluate settings quarksmith real imag
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()
)
"""Words of C++ and what bodies are made of."""


def cpp_name(name: str) -> str:
    """A name of the user's as a variable of a kernel."""
    return f"{name}_" if name in _TAKEN or _RESERVED.fullmatch(name) else name


def cpp_direction(mu: int) -> str:
    """The number of a direction in C++: variables for those that come with a call."""
    return str(mu) if mu < 4 else NAMES[mu]
