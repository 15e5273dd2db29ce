/// \file
/// Fields of actions in HDF5 files.
#pragma once

#include <string>

#include "runtime/fields/given_field.hpp"

namespace quarksmith {

/// Reads a dataset: double (re, im) pairs as {r, i}, or doubles for scalars, with extents T, Z, Y, X and those of
/// extents_of(kind). \param lattice the local lattice.
/// \throws Error the dataset cannot be read, or has another type or other extents. UsageError as given_field.
GivenField read_field(const std::string& path, const std::string& dataset, std::string_view kind,
                      const Lattice& lattice);

}  // namespace quarksmith
