/// \file
/// From the values of an action of the table to what solvers take.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "solvers/actions/hopping_term.hpp"

namespace quarksmith {

/// All that a run says of its action.
struct ActionSettings {
  ActionValues values;
  BoundaryPhases boundary{1, 1, 1, -1};
  int slices = 1;  ///< of a fifth dimension
  /// Parameters that differ from slice to slice, by name; they stand in for those of `values`.
  std::map<std::string, std::vector<Complex64>> of_slices = {};
  int source = 0, sink = 0;  ///< of several flavours those of four-dimensional sources and quark fields
};

/// \throws UsageError no slices, or numbers that do not suit them.
std::shared_ptr<const Action> make_action(const ActionSettings& settings);

}  // namespace quarksmith
