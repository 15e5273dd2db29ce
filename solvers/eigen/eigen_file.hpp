/// \file
/// Eigenvectors in files that are sealed like propagators (docs/files.md).
#pragma once

#include <filesystem>

#include "runtime/io/propagator.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/eigen/local_coherence.hpp"

namespace quarksmith {

/// Writes pairs; columns are vectors on all sites, zero where they are not. Collective.
/// \param basis of the vectors; that of files is degrand_rossi.
/// \param coherence what it has made of the vectors is written in place of them, if not null.
/// \param header what the file states of the calculation; eigenvalues and residuals are added.
void write_eigenpairs(const std::filesystem::path& path, const Eigenpairs& pairs, const BasisInfo& basis,
                      PropagatorHeader header, bool overwrite, Communicator& communicator,
                      const LocalCoherence* coherence = nullptr);

/// The eigenvalues that a file states. \throws Error it is damaged.
std::vector<double> eigenvalues_of(const PropagatorReader& file, const std::filesystem::path& path);
/// The vectors of a file as columns of a field of `full`, in double, with memory for multiples of four (BlockBlas).
/// Collective.
/// \param full M on all sites, in double. \throws Error a vector does not match its checksum, or is of another kind.
SpinorField read_eigenvectors(const PropagatorReader& file, const std::filesystem::path& path,
                              const LinearOperator& like, const LinearOperator& full, const BasisInfo& basis);

}  // namespace quarksmith
