/// \file
/// Near-null vectors of multigrid in files that are sealed like propagators (docs/files.md).
#pragma once

#include <filesystem>

#include "runtime/io/propagator.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// Value of `operator` in such files.
constexpr const char* near_null_operator = "near-null";

/// Writes the right-hand sides of a field of the finest level. Collective.
/// \param basis of the vectors; that of files is degrand_rossi. \param header what the file states of M.
void write_near_null(const std::filesystem::path& path, const SpinorField& vectors, const BasisInfo& basis,
                     PropagatorHeader header, bool overwrite, Communicator& communicator);

/// The vectors of a file as right-hand sides, in single. Collective. \param like M on all sites.
/// \throws Error a vector does not match its checksum, or is of another kind.
SpinorField read_near_null(const PropagatorReader& file, const std::filesystem::path& path, const LinearOperator& like,
                           const BasisInfo& basis);

}  // namespace quarksmith
