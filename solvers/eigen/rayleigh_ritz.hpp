/// \file
/// The eigenpairs of an operator within the space of some vectors, with their residuals.
#pragma once

#include "solvers/eigen/eigenpairs.hpp"
#include "solvers/eigen/krylov_space.hpp"

namespace quarksmith {

/// Of A, Hermitian, in the space of the locked vectors: as many as are asked for.
Eigenpairs rayleigh_ritz(const LinearOperator& a, KrylovSpace& space, const EigenOptions& options);
/// Of H, root = i H, where the locked vectors are eigenvectors of H^2. Where H has both lambda
/// and -lambda one vector may mix both and another of the same kind not be there: H v is taken besides v then.
Eigenpairs rayleigh_ritz_of_root(const LinearOperator& root, KrylovSpace& space, const EigenOptions& options);

}  // namespace quarksmith
