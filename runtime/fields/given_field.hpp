/// \file
/// Fields that callers give to actions by their names.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A field on the host; each rank has its part.
struct GivenField {
  std::string kind;  ///< of ActionField: links, matrices, scalars, phases; spinor, fermion
  HostGauge links;   ///< links and matrices; numbers are stored in the first element of each, one number per site in
                     ///< that of direction x
  std::optional<HostSpinor> spinor = {};
};
using GivenFields = std::map<std::string, std::shared_ptr<const GivenField>, std::less<>>;

/// Extents of a site of an array of this kind: numbers of directions, rows and columns, or spins and colours.
std::vector<int> extents_of(std::string_view kind);
/// A field from its numbers, site by site, x fastest, in the order of extents_of: double (re, im). Spinors are in the
/// DeGrand-Rossi basis.
/// \throws UsageError the kind is unknown, or phases deviate from modulus 1 by more than 1e-6.
GivenField given_field(std::string_view kind, const Lattice& lattice, std::span<const Complex64> numbers);

}  // namespace quarksmith
