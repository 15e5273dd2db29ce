// Method::automatic, from BiCGstab to multigrid.
#include "solvers/solve/automatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/solve/set_solver.hpp"

namespace quarksmith {
namespace {

/// Thrown by an observer: BiCGstab is left.
struct MultigridPays {
  int iterations;
};

constexpr double light_rounds = 2,
                 light_steps = 30;  ///< of adaptation, and of GCR, that light quarks take (docs/performance.md)

}  // namespace

MultigridCost cost_of(const MultigridParameters& p, const Lattice& lattice, double flops, bool asynchronous,
                      bool corners) {
  const MultigridLevel& fine = p.levels.front();
  const double block = double(fine.block[0]) * fine.block[1] * fine.block[2] * fine.block[3];
  const long long sites = static_cast<long long>(double(lattice.global_sites()) / block);
  // An application of the coarse operator: nine complex matrices a site, or 3^4.
  const double numbers = 2.0 * fine.vectors, matrices = corners ? 81 : 9,
               coarse = matrices * 8 * numbers * numbers * double(sites) / flops;
  const bool further = p.levels.size() > 1;
  const double coarse_cycle = further ? p.levels[1].smoother_steps + 2.0 : 0;
  const double on_coarse = further ? fine.coarse_steps * coarse_cycle : std::max(1, coarsest_steps_for(p, sites));
  const double cycle = fine.smoother_steps + 2.0, adapted = std::min<double>(light_rounds, p.most_rounds),
               n = fine.vectors;
  const double probes = (corners ? block_colours : 1 + directions) * 2 * n,
               build = probes + (further ? coarse * n * (0.2 * p.relaxations + 10 + coarse_cycle) : 0);
  // What was measured over what these applications take (docs/performance.md).
  const double of_setup = asynchronous ? 3.6 : 1.6, of_solve = asynchronous ? 1.2 : 0.9;
  return {of_setup * (n * p.relaxations + build + adapted * (n * (cycle + coarse * on_coarse) + build)),
          of_solve * light_steps * (cycle + 1 + coarse * on_coarse)};
}

double Weighing::estimate(int iteration, double residual, double tolerance) {
  if (!(residual < 1)) return INFINITY;
  return iteration * std::max(1.0, std::log(tolerance) / std::log(residual));
}

bool Weighing::pays(int iteration, double residual, double tolerance, int width) const {
  if (iteration < first_estimate || iteration % every != 0 || !(residual > tolerance)) return false;
  // What has not begun to converge may be about to: no more than so many times what it took so far.
  const double most = 32.0 * iteration, all = std::min(estimate(iteration, residual, tolerance), most);
  const double krylov = 2 * (width * (all - iteration) + std::max(left - width, 0) * all);
  return margin * (cost.setup + std::max(left, width) * cost.solve) < krylov;
}

/// Whether multigrid could take the place of the method: it is for the operator and the lattice.
AutomaticSolver::AutomaticSolver(SetSolver& solver, bool gauge_is_given) : solver_(&solver) {
  const auto& [settings, falls_back] = solver.course();
  OperatorLevels& levels = solver.levels();
  const Action& action = levels.action();
  const bool suits = falls_back && settings.method == Method::bicgstab && settings.sources > 1 && !settings.deflation &&
                     !settings.parameters.preconditioner && gauge_is_given && action.spins() == 4 &&
                     action.info().chain.empty() && levels.in_double() &&
                     settings.options.criterion == Criterion::residual;
  if (!suits) return;
  const Lattice& lattice = levels.domain()->lattice();
  const auto& matrix = levels.exact().matrix();
  try {
    const MultigridParameters chosen = settings.multigrid.value_or(multigrid_for(lattice, matrix.slices()));
    const MultigridCost cost =
        cost_of(chosen, lattice, matrix.flops(), levels.domain()->device().asynchronous(), matrix.turns_corners());
    weighing_.emplace(Weighing{cost, settings.sources, settings.method, falls_back});
  } catch (const UsageError&) {  // the lattice has no blocks
  }
}

void AutomaticSolver::take_multigrid(int iterations) {
  SolveSettings& settings = solver_->settings();
  if (settings.tell)
    settings.tell(
        fmt::format("auto: takes multigrid for the {} right-hand sides that are left, since {} iterations of "
                    "{} were not enough for one",
                    weighing_->left, iterations, name_of(settings.method)));
  solver_->use(Method::multigrid, false);
}

void AutomaticSolver::leave_multigrid(const std::string& why) {
  SolveSettings& settings = solver_->settings();
  if (settings.tell) settings.tell(fmt::format("auto: goes on with {}: {}", name_of(weighing_->method), why));
  solver_->use(weighing_->method, weighing_->falls_back);
  solver_->system().drop_multigrid();
  weighing_.reset();
}

std::vector<SolveReport> AutomaticSolver::solve(SpinorField& x, const SpinorField& b) {
  if (!weighing_) return solver_->solve(x, b);
  std::vector<SolveReport> reports =
      solver_->settings().method->cycle_fields > 0 ? solve_by_multigrid(x, b) : solve_weighed(x, b);
  if (weighing_) weighing_->left -= b.rhs();
  return reports;
}

/// Solves by BiCGstab, which is left as soon as multigrid pays.
std::vector<SolveReport> AutomaticSolver::solve_weighed(SpinorField& x, const SpinorField& b) {
  SolveSettings& settings = solver_->settings();
  const auto observer = settings.options.observer;
  const double tolerance = settings.options.tolerance;
  settings.options.observer = [this, observer, tolerance, width = b.rhs()](int iteration, double residual) {
    if (observer) observer(iteration, residual);
    if (weighing_->pays(iteration, residual, tolerance, width)) throw MultigridPays{iteration};
  };
  try {
    std::vector<SolveReport> reports = solver_->solve(x, b);
    settings.options.observer = observer;
    return reports;
  } catch (const MultigridPays& reached) {
    settings.options.observer = observer;
    take_multigrid(reached.iterations);
  } catch (...) {
    settings.options.observer = observer;
    throw;
  }
  return solve_by_multigrid(x, b);
}

/// Solves a few right-hand sides at a time. Where it fails, the former method continues.
std::vector<SolveReport> AutomaticSolver::solve_by_multigrid(SpinorField& x, const SpinorField& b) {
  SolveSettings& settings = solver_->settings();
  std::vector<SolveReport> reports;
  const SolverOptions options = settings.options;
  bool ended = false;  // by the caller, in the observer
  if (options.observer)
    settings.options.observer = [&ended, outer = options.observer](int iteration, double residual) {
      ended = true;
      outer(iteration, residual);
      ended = false;
    };
  for (int first = 0; first < b.rhs();) {
    const int count = weighing_ ? std::min(settings.method->together, b.rhs() - first) : b.rhs() - first;
    SpinorField part = x.columns(first, count);
    const SpinorField from = b.columns(first, count);
    settings.options.max_iterations =
        weighing_ ? std::min(options.max_iterations, Weighing::most_iterations) : options.max_iterations;
    try {
      std::vector<SolveReport> some = solver_->solve(part, from);
      const bool all = std::all_of(some.begin(), some.end(), [](const SolveReport& r) { return r.converged; });
      if (weighing_ && !all) {
        leave_multigrid("multigrid does not converge here");
        continue;
      }
      std::move(some.begin(), some.end(), std::back_inserter(reports));
      first += count;
    } catch (const Error& e) {
      if (!weighing_ || ended) {
        settings.options = options;
        throw;
      }
      leave_multigrid(e.what());
    } catch (...) {
      settings.options = options;
      throw;
    }
  }
  settings.options = options;
  return reports;
}

}  // namespace quarksmith
