/// \file
/// Operators as matrices of all their elements.
#pragma once

#include "solvers/krylov/dense.hpp"
#include "tests/dense.hpp"

namespace dense {

/// Elements of an operator, by its images of unit vectors, in the basis of files; `turned` by gamma_5.
Dense matrix_of(const LinearOperator& a, const BasisInfo& basis, bool turned = false);
Dense product(const Dense& a, const Dense& b);

}  // namespace dense
