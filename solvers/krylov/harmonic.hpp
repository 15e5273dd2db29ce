/// \file
/// Harmonic Ritz pairs of Krylov spaces.
#pragma once

#include <Eigen/Core>

namespace quarksmith {

/// Harmonic Ritz pairs of H, which has one row more than columns, ascending in modulus of the value: eigenpairs of H_n
/// + H_n^-+ h h^+, h^+ the last row and H_n the others (R. B. Morgan, SIAM J. Sci. Comput. 24 (2002) 20). The values
/// are the roots of the residual polynomial of GMRES.
struct Harmonic {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;

  explicit Harmonic(const Eigen::MatrixXcd& h);
};

}  // namespace quarksmith
