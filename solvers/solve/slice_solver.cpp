#include "solvers/solve/slice_solver.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/solve/set_solver.hpp"

namespace quarksmith {
namespace {

constexpr double of_corrections = 1e-10;  ///< their tolerance at least: they need not be as good as the first solve

/// Adds the effort of a correction to the report of its solve.
void add(SolveReport& to, const SolveReport& from) {
  const double seconds = to.seconds + from.seconds;
  if (seconds > 0) to.gflops = (to.gflops * to.seconds + from.gflops * from.seconds) / seconds;
  to.seconds = seconds;
  to.iterations += from.iterations;
  to.replacements += from.replacements;
  to.bytes_sent += from.bytes_sent;
  to.events.insert(to.events.end(), from.events.begin(), from.events.end());
}

}  // namespace

std::vector<double> slice_norms(const HostSpinor& psi, Communicator& communicator) {
  const Lattice& lattice = psi.lattice;
  std::vector<double> norms(lattice.global_extent(3));
  for (long long i = 0; i < lattice.sites(); ++i) {
    double& norm = norms[lattice.origin(3) + lattice.coordinates(i)[3]];
    for (const Complex64& z : psi.site[i]) norm += std::norm(z);
  }
  communicator.sum(norms);
  return norms;
}

struct SliceSolver::Defect {
  double norm = 0;   ///< |b - M x|
  double worst = 0;  ///< largest |r| / |x| of a time slice
};

/// |.|^2 of one vector on each time slice, over its slices of a fifth dimension.
std::vector<double> SliceSolver::norms(const SpinorField& vector, HostSpinor& host) const {
  const SpinorField fields = vector.by_slice();
  std::vector<double> all(host.lattice.global_extent(3));
  for (int s = 0; s < fields.rhs(); ++s) {
    download(fields, host, solver_->levels().links().basis(), s);
    const std::vector<double> some = slice_norms(host, vector.domain().communicator());
    for (std::size_t t = 0; t < all.size(); ++t) all[t] += some[t];
  }
  return all;
}

/// r = P (b - M x), zero on the time slices that are known well enough.
SliceSolver::Defect SliceSolver::defect(SpinorField& r, const SpinorField& x, const SpinorField& b,
                                        HostSpinor& host) const {
  OperatorLevels& levels = solver_->levels();
  levels.exact().matrix().apply(r, x, Dagger::no);
  Defect found{std::sqrt(levels.blas().residual(b, r))};
  const std::vector<double> of_x = norms(x, host), of_r = norms(r, host);
  std::vector<bool> known;
  for (std::size_t t = 0; t < of_x.size(); ++t) {
    const double ratio = of_r[t] > 0 ? std::sqrt(of_r[t] / of_x[t]) : 0;
    known.push_back(ratio <= solver_->settings().slice_tolerance);
    found.worst = std::max(found.worst, ratio);
  }
  const BasisInfo& basis = levels.links().basis();
  SpinorField fields = r.by_slice();
  for (int s = 0; s < fields.rhs(); ++s) {
    download(fields, host, basis, s);
    for (long long i = 0; i < host.lattice.sites(); ++i)
      if (known[host.lattice.origin(3) + host.lattice.coordinates(i)[3]]) std::ranges::fill(host.site[i], Complex64(0));
    upload(host, fields, basis, s);
  }
  return found;
}

std::vector<SolveReport> SliceSolver::correct(SpinorField& e, const SpinorField& r) {
  double& tolerance = solver_->settings().options.tolerance;
  const double given = tolerance;
  tolerance = std::max(tolerance, of_corrections);
  e.fill(0);  // the first guess, where settings ask for one
  try {
    std::vector<SolveReport> reports = method_->solve(e, r);
    tolerance = given;
    return reports;
  } catch (...) {
    tolerance = given;
    throw;
  }
}

std::vector<SolveReport> SliceSolver::solve(SpinorField& x, const SpinorField& b) {
  std::vector<SolveReport> reports = method_->solve(x, b);
  const double wanted = solver_->settings().slice_tolerance;
  if (wanted == 0) return reports;
  OperatorLevels& levels = solver_->levels();
  const Blas& blas = levels.blas();
  HostSpinor host(b.domain().lattice(), b.colours());
  std::vector<double> before(reports.size(), INFINITY);
  std::vector<int> open;
  for (int n = 0; n < b.rhs(); ++n)
    if (reports[n].converged) open.push_back(n);
  while (!open.empty()) {
    SpinorField all = levels.exact().matrix().field(static_cast<int>(open.size()));
    std::vector<int> next;
    std::vector<double> units;
    for (const int n : open) {
      SolveReport& report = reports[n];
      SpinorField r = all.columns(static_cast<int>(next.size()), 1);
      const Defect found = defect(r, x.columns(n, 1), b.columns(n, 1), host);
      report.residual = report.measured = found.norm / std::sqrt(blas.norm2(b.columns(n, 1)));
      report.slice_residual = found.worst;
      if (found.worst <= wanted) continue;
      const double norm = std::sqrt(blas.norm2(r));
      report.converged = std::isnormal(norm) && norm <= before[n] / 2;  // else no correction makes it smaller
      if (!report.converged) continue;
      before[n] = norm;
      units.push_back(std::exp2(std::ilogb(norm)));  // so that no precision of iterations is too small for it
      blas.scale(1 / units.back(), r, r);
      next.push_back(n);
    }
    open = next;
    if (open.empty()) break;
    const SpinorField r = all.columns(0, static_cast<int>(open.size()));
    SpinorField e = r.like();
    const std::vector<SolveReport> corrections = correct(e, r);
    for (std::size_t i = 0; i < open.size(); ++i) {
      SpinorField to = x.columns(open[i], 1);
      blas.axpby(units[i], e.columns(static_cast<int>(i), 1), 1, to);
      add(reports[open[i]], corrections[i]);
    }
  }
  return reports;
}

}  // namespace quarksmith
