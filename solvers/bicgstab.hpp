/// \file
/// Stabilised bi-conjugate gradients.
#pragma once

#include "solvers/linear_operator.hpp"

namespace quarksmith {

/// Solves A x = b; x is the first guess.
///
/// H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. The shadow residual is the first residual. On a
/// breakdown, or when the recomputed residual is larger than that of the recurrence, the iteration restarts from x.
/// Memory: five fields beside x and b; an iteration applies A twice and reads or writes 18 fields besides.
/// \throws Error the residual is not finite after a restart.
SolverResult bicgstab(const LinearOperator& a, SpinorField& x, const SpinorField& b, const SolverOptions& options);

}  // namespace quarksmith
