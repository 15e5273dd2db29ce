#include "solvers/solve/mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/solve/checked_norms.hpp"
#include "solvers/solve/few_sites.hpp"

namespace quarksmith {

struct MassSolver::Parts {
  /// The operators t^2 - h^2 D^2 of the smallest mass on the sites of one parity.
  struct Half {
    Half(const DiracOperator& high, const DiracOperator& low, int masses, Parity parity)
        : outer(high.square(parity, masses)),
          inner(low.square(parity, masses)),
          solver(*outer, *inner, masses, MultishiftSolver::Form::hermitian) {}
    std::unique_ptr<EvenOddOperator> outer, inner;
    MultishiftSolver solver;
  };

  Parts(const Action& action, std::vector<double> m, const GaugeLinks& gauge, const DomainPointer& domain,
        const SolveSettings& s)
      : masses(std::move(m)), settings(s) {
    check(s.options);
    if (masses.empty()) throw UsageError("no masses to solve for");
    const ActionNumber& t = action.info().diagonal;
    for (const double mass : masses) diagonals.push_back(action.values().with("mass", mass)(t));
    const auto smallest = std::min_element(diagonals.begin(), diagonals.end(),
                                           [](double a, double b) { return std::abs(a) < std::abs(b); });
    diagonal = *smallest;
    const double least = masses[std::size_t(smallest - diagonals.begin())];
    const auto [outer, inner, lowest] = precisions_of(s.precision, 2);
    if (outer->name != "double")
      throw UsageError(
          fmt::format("precision '{}': several masses are solved for in double or double-...", s.precision));
    const LinkStore links(gauge, domain, s.links, s.basis);
    deviation = action.deviation(links);
    // As with shifts of a Wilson operator, all of a solve in double is done with the links as they were given.
    const auto make = [&](const LinkStore& l, const PrecisionInfo& p) {
      const auto dirac = action.make(l, p);
      return dirac->with(dirac->values().with("mass", least));
    };
    high = deviation.negligible() ? make(links, *outer) : make_exact(links, deviation, make);
    if (inner != outer) low = make(links, *inner);
    if (!deviation.negligible())
      links_used = links_text(links.exact().storage(), low ? s.links : links.exact().storage());
  }

  /// Requests all kernels that the solver and its solves need, on few sites.
  static void rehearse(const Action& action, const std::vector<double>& masses, const Domain& domain, int colours,
                       const SolveSettings& settings) {
    const DomainPointer few = few_sites(domain);
    Parts trial(action.on(few->lattice()), masses, unit_gauge(few->lattice(), colours), few, settings);
    trial.half(Parity::even);
    const LinearOperator& matrix = trial.high->matrix();
    const Blas blas(matrix);
    convert_both_ways(matrix, {precisions_of(settings.precision, 2).inner});
  }

  Half& half(Parity parity) {
    auto& made = halves[int(parity)];
    if (!made) made = std::make_unique<Half>(*high, low ? *low : *high, int(masses.size()), parity);
    return *made;
  }

  std::vector<double> masses;
  SolveSettings settings;
  double diagonal = 0;            ///< the t of the smallest mass
  std::vector<double> diagonals;  ///< t of each mass
  LinkDeviation deviation;
  std::string links_used = settings.links;
  std::unique_ptr<DiracOperator> high, low;
  std::array<std::unique_ptr<Half>, 2> halves;  ///< made when a source needs them
};

MassSolver::MassSolver(const Action& action, std::vector<double> masses, const GaugeLinks& gauge,
                       const DomainPointer& domain, const SolveSettings& given) {
  const auto rehearse = [&](const SolveSettings& s) { Parts::rehearse(action, masses, *domain, gauge.colours(), s); };
  const SolveSettings settings = with_chosen_precision(given, rehearse);
  const KernelRehearsal scope([&] { rehearse(settings); });
  parts_ = std::make_unique<Parts>(action, masses, gauge, domain, settings);
}

MassSolver::~MassSolver() = default;

const LinkDeviation& MassSolver::link_deviation() const { return parts_->deviation; }

std::vector<SolveReport> MassSolver::solve(SpinorField& x, const SpinorField& b) const {
  Parts& p = *parts_;
  const int count = static_cast<int>(p.masses.size());
  if (x.rhs() != count || b.rhs() != 1)
    throw UsageError(fmt::format("{} masses, {} solutions and {} sources", count, x.rhs(), b.rhs()));
  const double start = now();
  const Blas blas(b);
  const double b_norm = checked_norms(b).front();
  const DomainPointer& domain = p.high->matrix().domain();
  SpinorField y(domain, b.precision(), Subset::full, count, p.high->matrix().components());
  y.fill(0);
  std::vector<SolveReport> reports(p.masses.size());
  double flops = 0;
  std::vector<double> shifts, tolerances(p.masses.size(), p.settings.options.tolerance);
  for (const double t : p.diagonals) shifts.push_back(t * t - p.diagonal * p.diagonal);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    SpinorField source(domain, b.precision(), parity == Parity::even ? Subset::even : Subset::odd, 1,
                       p.high->matrix().components());
    source.copy_half(parity, b);
    if (blas.norm2(source) == 0) continue;
    Parts::Half& half = p.half(parity);
    SpinorField solution(domain, b.precision(), source.subset(), count, source.components());
    const auto results = half.solver.solve(solution, source, shifts, tolerances, p.settings.options);
    y.copy_half(parity, solution);
    for (int k = 0; k < count; ++k) {
      reports[k].iterations += results[k].iterations;
      reports[k].replacements += results[k].replacements;
      reports[k].events.insert(reports[k].events.end(), results[k].events.begin(), results[k].events.end());
      const int hops = results[k].applications + results[k].exact_applications;
      flops += hops * half.outer->flops();
      reports[k].bytes_sent += hops * half.outer->bytes_sent();
    }
  }
  SpinorField product = b.like();
  for (int k = 0; k < count; ++k) {
    const auto dirac = p.high->with(p.high->values().with("mass", p.masses[k]));
    const DiracMatrix& matrix = dirac->matrix();
    SpinorField one = x.columns(k, 1);
    matrix.apply(one, y.columns(k, 1), Dagger::yes);
    matrix.apply(product, one, Dagger::no);
    reports[k].residual = std::sqrt(blas.residual(b, product)) / b_norm;
    reports[k].precision = p.settings.precision;
    reports[k].links = p.links_used;
    reports[k].measured = reports[k].residual;
    reports[k].converged = reports[k].residual <= 1.01 * p.settings.options.tolerance;
  }
  const double seconds = now() - start;
  for (SolveReport& r : reports) {
    r.seconds = seconds / count;
    r.gflops = flops / seconds * 1e-9;
  }
  return reports;
}

}  // namespace quarksmith
