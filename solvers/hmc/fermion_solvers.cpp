#include "solvers/hmc/fermion_solvers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

constexpr int most_iterations = 100000;
constexpr int most_outer_steps = 300;  ///< then CG takes over

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

FermionSolvers::FermionSolvers(const FermionSolver& solver, bool squared)
    : method_(solver.method),
      parameters_(solver.parameters),
      squared_(squared),
      keeps_(solver.keeps_vectors),
      look_(solver.look) {
  if (method_->cycle_fields > 0) moving_.emplace(solver.multigrid, solver.look);
}

void FermionSolvers::forget() {
  if (keeps_) return;
  if (moving_) moving_->forget();
  if (outer_solver_) outer_solver_->forget();
}

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

void FermionSolvers::follow(const LinearOperator& high, const LinearOperator& low, const CycleOperators& cycles) {
  if (moving_) moving_->follow(cycles);
  for (PresentOperator* present : {&high_.plain, &high_.adjoint}) present->set(high);
  for (PresentOperator* present : {&low_.plain, &low_.adjoint}) present->set(low);
  for (const auto& [system, batch] : batches_) batch->operators_changed();
  if (multishift_) multishift_->operators_changed();
  moved_ = true;
}

KrylovBatch& FermionSolvers::batch(System system, Method method, bool low) {
  auto& made = batches_[{system, method, low}];
  MethodParameters parameters;
  if (method->cycle_fields > 0) parameters.given = system == System::plain ? &moving_->plain() : &moving_->adjoint();
  if (!made)
    made = std::make_unique<KrylovBatch>(high_.of(system, squared_), (low ? low_ : high_).of(system, squared_), method,
                                         1, parameters);
  return *made;
}

/// Brings x near the solution by what earlier solves have found, and finds more.
SolverResult FermionSolvers::improve(SpinorField& x, const SpinorField& b, double tolerance) {
  if (!outer_solver_)
    outer_solver_ = method_->outer_solver(
        {high_.of(System::normal, squared_), low_.of(System::normal, squared_), true, 1, 0}, parameters_);
  else if (moved_)
    outer_solver_->operators_changed();
  moved_ = false;
  return outer_solver_->improve(x, b, options_of(tolerance), {tolerance})[0];
}

/// Runs a solve that is preconditioned by cycles, and records its iterations for them.
SolverResult FermionSolvers::cycle(KrylovBatch& krylov, SpinorField& x, const SpinorField& b, double tolerance) {
  SolverOptions options = options_of(tolerance);
  double first = 0, last = 0;
  int from = 0, to = 0;
  options.observer = [&, look = options.observer](int iteration, double residual) {
    if (look) look(iteration, residual);
    if (first == 0) first = residual, from = iteration;
    last = residual, to = iteration;
  };
  const SolverResult result = krylov.solve(x, b, options, {tolerance}, {}, {most_outer_steps})[0];
  if (!result.converged)
    moving_->failed();
  else if (to > from)
    moving_->solved(to - from, std::log10(first / last));
  return result;
}

/// Solves in low precision first; the next one continues from there.
void FermionSolvers::solve(System system, SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  struct Attempt {
    Method method;
    bool low, hand_over;
  };
  const bool automatic = method_ == Method::automatic && system != System::normal;
  const Method first = system == System::normal ? Method::hermitian_cg : automatic ? Method::bicgstab : method_;
  const bool cycles = first->cycle_fields > 0;
  if (cycles && moving_->prepare())
    for (const auto& [key, made] : batches_) made->operators_changed();
  if (cycles) work.refreshes += moving_->refreshes();
  std::vector<Attempt> attempts = {{first, mixed(), automatic || cycles}};
  if (automatic || cycles) attempts.push_back({Method::cg, mixed(), false});
  if (mixed()) attempts.push_back({attempts.back().method, false, false});
  SolverResult result;
  if (system == System::normal && method_ == Method::eigcg) result = improve(x, b, tolerance);
  int tried = 0;
  for (const Attempt& a : attempts) {
    KrylovBatch& krylov = batch(system, a.method, a.low);
    krylov.hand_over(a.hand_over);
    result.append(a.method->cycle_fields > 0 ? cycle(krylov, x, b, tolerance)
                                             : krylov.solve(x, b, options_of(tolerance), {tolerance})[0]);
    work.fallbacks += ++tried == 2;
    if (result.converged) break;
  }
  work.iterations += result.iterations;
  require_converged(result, tolerance, method_);
}

void FermionSolvers::solve_normal(SpinorField& x, SpinorField& y, const SpinorField& b, double tolerance,
                                  SolveWork& work) {
  const auto multiply = [&] { high_.plain.apply(y, x, Dagger::no); };
  if (squared_ || normal_alone()) {
    solve(System::normal, x, b, tolerance, work);
    return multiply();
  }
  if (Blas(x).norm2(x) == 0)
    y.fill(0);
  else
    multiply();
  solve(System::adjoint, y, b, tolerance, work);
  solve(System::plain, x, y, tolerance, work);
}

void FermionSolvers::solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  if (!normal_alone()) return solve(System::adjoint, x, b, tolerance, work);
  if (!between_) between_.emplace(b.like());  // (M^+)^-1 = M (M^+ M)^-1
  between_->fill(0);
  solve(System::normal, *between_, b, tolerance, work);
  high_.plain.apply(x, *between_, Dagger::no);
}

void FermionSolvers::solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                   const std::vector<double>& tolerances, SolveWork& work) {
  const int count = static_cast<int>(shifts.size());
  if (!multishift_ || multishift_->capacity() < count)
    multishift_ = std::make_unique<MultishiftSolver>(
        high_.plain, low_.plain, count, squared_ ? MultishiftSolver::Form::hermitian : MultishiftSolver::Form::normal);
  long long shared = 0;
  const auto results = multishift_->solve(x, b, shifts, tolerances, options_of(*std::ranges::min_element(tolerances)));
  for (std::size_t k = 0; k < results.size(); ++k) {
    const ShiftResult& r = results[k];
    shared = std::max<long long>(shared, r.shared_iterations);
    work.iterations += r.iterations - r.shared_iterations;
    require_converged(r, tolerances[k], Method::hermitian_cg);
  }
  work.iterations += shared;
}

}  // namespace quarksmith
