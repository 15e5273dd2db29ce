#include "solvers/actions/dirac.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "solvers/actions/action_fields.hpp"

namespace quarksmith {

Complex64 phase_of(double angle) {
  if (!(std::abs(angle) <= 2))
    throw UsageError(fmt::format("boundary phase {}: phases are in units of pi; use -2 to 2", angle));
  if (angle == std::floor(angle)) return std::fmod(angle, 2) == 0 ? 1 : -1;
  return std::polar(1.0, std::numbers::pi * angle);
}

void EvenOddOperator::add_squared_force(ForceSink&, const SpinorField&, const std::vector<double>&) const {
  throw UsageError("this operator does not stand for M^+ M; its force needs y = M x beside x");
}

void EvenOddOperator::multiply_term(SpinorField&, const SpinorField&) const {
  throw UsageError("this operator is no symmetric even-odd form");
}

const ActionValues& DiracOperator::values() const { return fields().values(); }

std::unique_ptr<EvenOddOperator> DiracOperator::square(Parity, int) const {
  throw UsageError(fmt::format("action {} has no Krylov space of several masses; give one", values().info().name));
}

std::unique_ptr<DiracOperator> DiracOperator::with(const ActionValues&) const {
  throw UsageError(fmt::format("action {} has no Krylov space of several masses; give one", values().info().name));
}

std::unique_ptr<DiracOperator> DiracOperator::dirichlet() const {
  throw UsageError("this action has no operator of a rank's part alone; use a preconditioner without schwarz-");
}

void DiracOperator::embed(SpinorField& b, const SpinorField& source) const { b.copy_from(source); }

void DiracOperator::project(SpinorField& quark, const SpinorField& x) const { quark.copy_from(x); }

void DiracOperator::midpoint(SpinorField&, const SpinorField&) const {
  throw UsageError("this action has no fifth dimension, and nothing in the middle of one");
}

void FlavouredDirac::embed(SpinorField& b, const SpinorField& source) const {
  if (!embeds()) return b.copy_from(source);
  b.fill(0);
  const SpinorField flavours = b.by_slice();
  for (int n = 0; n < source.rhs(); ++n)
    flavours.columns(matrix().slices() * n + source_, 1).copy_from(source.columns(n, 1));
}

void FlavouredDirac::project(SpinorField& quark, const SpinorField& x) const {
  if (!embeds()) return quark.copy_from(x);
  const SpinorField flavours = x.by_slice();
  for (int n = 0; n < quark.rhs(); ++n)
    quark.columns(n, 1).copy_from(flavours.columns(matrix().slices() * n + sink_, 1));
}

}  // namespace quarksmith
