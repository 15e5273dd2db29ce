/// \file
/// Fields of actions in HDF5 files.
#pragma once

#include <string>

#include "runtime/fields/given_field.hpp"

namespace quarksmith {

/// A dataset of a file: double (re, im) pairs as {r, i}, or of scalars doubles, with extents T, Z, Y, X and those of
/// extents_of(kind). \param lattice of this rank's part.
/// \throws Error it cannot be read, or is another; the message says which. UsageError as of given_field.
GivenField read_field(const std::string& path, const std::string& dataset, std::string_view kind,
                      const Lattice& lattice);

}  // namespace quarksmith
