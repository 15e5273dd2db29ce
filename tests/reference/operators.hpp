/// \file
/// Hopping terms and gamma bases as docs/conventions.md states them, typed once more: shares no line with the
/// generator.
#pragma once

#include <optional>
#include <string_view>

#include "tests/reference/reference.hpp"

namespace reference {

/// D of a nearest-neighbour operator in the DeGrand-Rossi basis; hops of all its lengths have these matrices and signs.
struct Hops {
  HopMatrices matrix{};
  PhaseMasks masks{};
  unsigned directed = 0;  ///< bits of the directions in which backward hops have a weight of their own
};
/// The same of D^+.
Hops conjugate(const Hops& hops);
/// D by the name of its operator; none for an operator that is not of this project.
std::optional<Hops> hops_of(std::string_view name);

/// gamma_x ... gamma_t and the rotation V with gamma = V gamma_DR V^+.
struct GammaBasis {
  std::array<SpinMatrix, 4> gamma;
  SpinMatrix rotation;
};
/// By its long name; none for a basis that is not of this project.
std::optional<GammaBasis> basis_of(std::string_view name);

}  // namespace reference
