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
  HostGauge links;   ///< links and matrices; of numbers the first element of each, of one number a site that of x
  std::optional<HostSpinor> spinor = {};
};
using GivenFields = std::map<std::string, std::shared_ptr<const GivenField>, std::less<>>;

/// Numbers for each site of an array that is one of a kind: those of its directions, rows and columns or spins.
std::vector<int> extents_of(std::string_view kind);
/// A field from its numbers, site by site, x fastest, in the order of extents_of: double (re, im). Spinors are in the
/// DeGrand-Rossi basis.
/// \throws UsageError a kind that there is not, or phases that are not of modulus 1 to 1e-6: they are stored with it.
GivenField given_field(std::string_view kind, const Lattice& lattice, std::span<const Complex64> numbers);

}  // namespace quarksmith
