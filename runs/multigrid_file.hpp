/// \file
/// Files of --mg: what of multigrid is to be other than chosen.
#pragma once

#include <string>

#include "solvers/multigrid/parameters.hpp"

namespace quarksmith::runs {

/// Everything that can be said of such a file before the lattice is known.
/// \throws UsageError a key is unknown or a value out of its range: the message names file, line and remedy.
void check_multigrid(const std::string& path);

/// What a file says of multigrid on a lattice; what it does not name is as chosen for that.
/// \throws UsageError likewise; blocks that do not cut the lattice.
MultigridParameters read_multigrid(const std::string& path, const Lattice& lattice, int slices);

/// A file that says all of it, a line each.
std::string toml_of(const MultigridParameters& parameters);

}  // namespace quarksmith::runs
