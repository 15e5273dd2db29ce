/// \file
/// The eigenpairs of an operator within the space of some vectors, with their residuals.
#pragma once

#include "solvers/eigen/eigenpairs.hpp"
#include "solvers/eigen/krylov_space.hpp"

namespace quarksmith {

/// Eigenpairs of the Hermitian A in the space of the locked vectors, as many as the options ask for.
Eigenpairs rayleigh_ritz(const LinearOperator& a, KrylovSpace& space, const EigenOptions& options);
/// Eigenpairs of H, root = i H, where the locked vectors are eigenvectors of H^2. If H has both lambda and -lambda, a
/// locked vector v may be a mixture without the second vector of the pair; H v is then added.
Eigenpairs rayleigh_ritz_of_root(const LinearOperator& root, KrylovSpace& space, const EigenOptions& options);

}  // namespace quarksmith
