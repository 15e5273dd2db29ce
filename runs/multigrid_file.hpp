/// \file
/// Files of --mg, which replace automatic choices of multigrid.
#pragma once

#include <string>

#include "solvers/multigrid/parameters.hpp"

namespace quarksmith::runs {

/// Checks a file as far as that is possible without the lattice.
/// \throws UsageError a key is unknown or a value out of its range: the message names file, line and remedy.
void check_multigrid(const std::string& path);

/// Parameters of a file for a lattice; those that it does not give are chosen automatically.
/// \throws UsageError as check_multigrid, or blocks do not divide the lattice.
MultigridParameters read_multigrid(const std::string& path, const Lattice& lattice, int slices);

/// The content of a file with all parameters, a line each.
std::string toml_of(const MultigridParameters& parameters);

}  // namespace quarksmith::runs
