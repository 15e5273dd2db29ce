/// \file
/// Conjugate gradients.
#pragma once

#include "solvers/linear_operator.hpp"

namespace quarksmith {

/// Solves A x = b through the normal equations A^+ A x = A^+ b; x is the first guess.
///
/// Hestenes and Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409, in the form CGNR (Saad, Iterative Methods for Sparse
/// Linear Systems, 2nd ed., algorithm 8.4). The recurrence knows |A^+ r|; |r| itself is recomputed when that has fallen
/// enough, and the target lowered until |r| meets the tolerance.
/// Memory: five fields beside x and b; an iteration applies A and A^+ once and reads or writes nine fields besides.
/// \throws Error the residual is not finite.
SolverResult cg_normal(const LinearOperator& a, SpinorField& x, const SpinorField& b, const SolverOptions& options);

}  // namespace quarksmith
