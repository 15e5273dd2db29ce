#include "solvers/hmc/fermion_solvers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

constexpr int most_iterations = 100000;

/// \throws Error a solve missed its tolerance.
void require_converged(const SolverResult& result, double tolerance, Method method) {
  if (!result.converged)
    throw Error(
        fmt::format("a solve ended after {} iterations with residual {:.2e}, not {:.2e}{}{}; use {}a larger "
                    "tolerance or a larger mass",
                    result.iterations, result.residual, tolerance, result.trouble.empty() ? "" : ": ", result.trouble,
                    method == Method::bicgstab ? "solver cg, " : ""));
}

}  // namespace

SolverOptions FermionSolvers::options_of(double tolerance) const {
  SolverOptions options;
  options.tolerance = tolerance;
  options.max_iterations = most_iterations;
  if (look_) options.observer = [this](int, double) { look_(); };
  return options;
}

const LinearOperator& FermionSolvers::Level::of(System system, bool squared) {
  if (system != System::normal) return system == System::plain ? plain : adjoint;
  if (squared) return plain;
  if (!normal) normal = std::make_unique<NormalOperator>(plain, 1);
  return *normal;
}

void FermionSolvers::follow(const LinearOperator& high, const LinearOperator& low) {
  for (PresentOperator* present : {&high_.plain, &high_.adjoint}) present->set(high);
  for (PresentOperator* present : {&low_.plain, &low_.adjoint}) present->set(low);
  for (const auto& [system, batch] : batches_) batch->operators_changed();
  if (multishift_) multishift_->operators_changed();
}

KrylovBatch& FermionSolvers::batch(System system, Method method, bool low) {
  auto& made = batches_[{system, method, low}];
  if (!made)
    made =
        std::make_unique<KrylovBatch>(high_.of(system, squared_), (low ? low_ : high_).of(system, squared_), method, 1);
  return *made;
}

/// What the method does not solve in low precision goes on from there with the next one.
void FermionSolvers::solve(System system, SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  struct Attempt {
    Method method;
    bool low, hand_over;
  };
  const bool automatic = method_ == Method::automatic && system != System::normal;
  const Method first = system == System::normal ? Method::hermitian_cg : automatic ? Method::bicgstab : method_;
  std::vector<Attempt> attempts = {{first, mixed(), automatic}};
  if (automatic) attempts.push_back({Method::cg, mixed(), false});
  if (mixed()) attempts.push_back({attempts.back().method, false, false});
  SolverResult result;
  int tried = 0;
  for (const Attempt& a : attempts) {
    KrylovBatch& krylov = batch(system, a.method, a.low);
    krylov.hand_over(a.hand_over);
    result.append(krylov.solve(x, b, options_of(tolerance), {tolerance})[0]);
    work.fallbacks += ++tried == 2;
    if (result.converged) break;
  }
  work.iterations += result.iterations;
  require_converged(result, tolerance, method_);
}

void FermionSolvers::solve_normal(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  if (squared_ || method_ == Method::cg) return solve(System::normal, x, b, tolerance, work);
  if (!between_) between_.emplace(b.like());
  high_.plain.apply(*between_, x, Dagger::no);
  solve(System::adjoint, *between_, b, tolerance, work);
  solve(System::plain, x, *between_, tolerance, work);
}

void FermionSolvers::solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  if (method_ != Method::cg) return solve(System::adjoint, x, b, tolerance, work);
  if (!between_) between_.emplace(b.like());  // (M^+)^-1 = M (M^+ M)^-1
  between_->fill(0);
  solve(System::normal, *between_, b, tolerance, work);
  high_.plain.apply(x, *between_, Dagger::no);
}

void FermionSolvers::solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                   double tolerance, SolveWork& work) {
  const int count = static_cast<int>(shifts.size());
  if (!multishift_ || multishift_->capacity() < count)
    multishift_ = std::make_unique<MultishiftSolver>(
        high_.plain, low_.plain, count, squared_ ? MultishiftSolver::Form::hermitian : MultishiftSolver::Form::normal);
  const std::vector<double> tolerances(shifts.size(), tolerance);
  long long shared = 0;
  for (const ShiftResult& r : multishift_->solve(x, b, shifts, tolerances, options_of(tolerance))) {
    shared = std::max<long long>(shared, r.shared_iterations);
    work.iterations += r.iterations - r.shared_iterations;
    require_converged(r, tolerance, Method::hermitian_cg);
  }
  work.iterations += shared;
}

}  // namespace quarksmith
