/// \file
/// Eigenvectors in files that are sealed like propagators (docs/files.md).
#pragma once

#include <filesystem>

#include "runtime/io/propagator.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/eigen/local_coherence.hpp"

namespace quarksmith {

/// Writes eigenpairs, vectors as columns on all sites, filled up with zeros if they have only sites of one parity.
/// Collective. \param basis of the vectors; files have degrand_rossi.
/// \param coherence if not null, the vectors are written in its compressed form.
/// \param header what the file states of the calculation; eigenvalues and residuals are added.
void write_eigenpairs(const std::filesystem::path& path, const Eigenpairs& pairs, const BasisInfo& basis,
                      PropagatorHeader header, bool overwrite, Communicator& communicator,
                      const LocalCoherence* coherence = nullptr);

/// The eigenvalues in a file. \throws Error their list is damaged.
std::vector<double> eigenvalues_of(const PropagatorReader& file, const std::filesystem::path& path);
/// The vectors of a file as right-hand sides of a field of `like`, in double, with memory for multiples of four
/// (BlockBlas). Collective. \param like operator of the vectors. \param full M on all sites, in double.
/// \throws Error a vector does not match its checksum, or is of another kind.
SpinorField read_eigenvectors(const PropagatorReader& file, const std::filesystem::path& path,
                              const LinearOperator& like, const LinearOperator& full, const BasisInfo& basis);

}  // namespace quarksmith
