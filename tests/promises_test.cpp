// What every Krylov method promises, in the same words for all: true residuals, counts, a history that falls where the
// method says so, zero right-hand sides, first guesses, limits of iterations, columns that retire.
#include <fmt/format.h>

#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/method.hpp"
#include "solvers/krylov/multishift.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double light_mass = -0.2;

/// Counts right-hand sides to which A or A^+ is applied. Only on the CPU: a recorded program calls nothing.
class Counted final : public LinearOperator {
 public:
  explicit Counted(const LinearOperator& a) : a_(&a) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    a_->apply(out, in, dagger);
    widths.push_back(in.rhs());
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  double flops() const override { return a_->flops(); }
  int columns() const { return std::accumulate(widths.begin(), widths.end(), 0); }

  mutable std::vector<int> widths;  ///< of each call

 private:
  const LinearOperator* a_;
};

using Results = std::vector<SolverResult>;
/// One call: A in two precisions, solutions, right-hand sides, tolerances; shifts if the method takes them.
struct Call {
  const LinearOperator &outer, &inner;
  SpinorField& x;
  const SpinorField& b;
  const SolverOptions& options;
  const std::vector<double>&tolerances, &shifts;
};

/// What falls in every iteration: the method makes it minimal in a space that grows, or along a line.
enum class Falls { nothing, residual, error };

/// A method, and what it says of itself.
struct Promise {
  std::string name;
  std::function<Results(const Call&)> solve;
  Falls falls = Falls::nothing;
  bool shifted = false;     ///< solves (A^+ A + sigma) x = b, of whose operator it counts applications
  bool one_source = false;  ///< columns are shifts of one right-hand side; x is overwritten
  bool one_by_one = false;  ///< columns follow each other, in single or double
};

void PrintTo(const Promise& promise, std::ostream* out) { *out << promise.name; }

Results krylov(const Call& c, Method method) {
  return KrylovBatch(c.outer, c.inner, method, c.b.rhs()).solve(c.x, c.b, c.options, c.tolerances, c.shifts);
}

/// A method that works before a recurrence, and each column by itself for what it leaves, as Solver does.
Results improved(const Call& c, Method method) {
  const auto outer_solver = method->outer_solver({c.outer, c.inner, false, c.b.rhs(), 0}, {.search = 20, .keep = 4});
  Results results = outer_solver->improve(c.x, c.b, c.options, c.tolerances);
  std::vector<int> limits;
  for (const SolverResult& r : results) limits.push_back(c.options.max_iterations - r.iterations);
  const Results more =
      KrylovBatch(c.outer, c.inner, Method::cg, c.b.rhs()).solve(c.x, c.b, c.options, c.tolerances, {}, limits);
  for (std::size_t n = 0; n < results.size(); ++n) results[n].append(more[n]);
  return results;
}

Results hermitian(const Call& c) {
  const NormalOperator outer(c.outer, c.b.rhs()), inner(c.inner, c.b.rhs());
  return krylov({outer, inner, c.x, c.b, c.options, c.tolerances, c.shifts}, Method::hermitian_cg);
}

Results multishift(const Call& c) {
  const std::vector<ShiftResult> all =
      MultishiftSolver(c.outer, c.inner, c.x.rhs()).solve(c.x, c.b.columns(0, 1), c.shifts, c.tolerances, c.options);
  return {all.begin(), all.end()};
}

std::vector<Promise> promises() {
  const auto by = [](Method method) { return [method](const Call& c) { return krylov(c, method); }; };
  const auto first_by = [](const char* name) {
    return [method = method_of(name)](const Call& c) { return improved(c, method); };
  };
  return {{"cg", by(Method::cg), Falls::residual},
          {"cgne", by(Method::cgne), Falls::error},
          {"mr", by(Method::mr), Falls::residual},
          {"gcr", by(Method::gcr), Falls::residual},
          {"bicgstab", by(Method::bicgstab)},
          {"bicgstab_l", by(Method::bicgstab_l)},
          {"block_cg", first_by("block-cg"), Falls::residual},
          {"eigcg", first_by("eigcg"), Falls::residual, false, false, true},
          {"gmres_dr", first_by("gmres-dr"), Falls::residual, false, false, true},
          {"hermitian_cg", hermitian, Falls::error, true},
          {"multishift", multishift, Falls::nothing, true, true}};
}

/// Right-hand sides of known solutions, and a method that is to find them.
class Promised : public testing::TestWithParam<Promise> {
 protected:
  void set(const std::shared_ptr<Device>& device, int columns, const char* inner = "double") {
    domain = std::make_shared<Domain>(lattice, device);
    high = dense::dirac(dense::wilson(light_mass), gauge, domain, "r12");
    low = dense::dirac(dense::wilson(light_mass), gauge, domain, "r12", inner);
    outer = std::make_unique<Counted>(high->matrix());
    inner_ = std::make_unique<Counted>(low->matrix());
    tolerances.assign(columns, 1e-10);
    shifts.clear();
    exact.clear();
    sources.clear();
    for (int n = 0; n < columns; ++n) {
      if (GetParam().shifted) shifts.push_back(0.5 / (1 << n));
      exact.push_back(reference::random_spinor(lattice, 3 + unsigned(n)));
      sources.push_back(GetParam().one_source && n > 0 ? sources[0] : image(exact[n], n));
    }
  }
  /// What multiplies column n, densely.
  HostSpinor image(const HostSpinor& x, int n) const {
    const HostSpinor ax = reference::wilson(gauge, x, light_mass);
    return GetParam().shifted ? reference::combine(1, reference::wilson(gauge, ax, light_mass, true), shifts.at(n), x)
                              : ax;
  }
  SpinorField field(const std::vector<HostSpinor>& columns) const {
    SpinorField f = outer->field(int(columns.size()));
    for (int n = 0; n < f.rhs(); ++n) upload(columns[n], f, basis, n);
    return f;
  }
  SpinorField zero() const {
    SpinorField x = outer->field(int(sources.size()));
    x.fill(0);
    return x;
  }
  Results solve(SpinorField& x, const SpinorField& b) const {
    return GetParam().solve({*outer, *inner_, x, b, options, tolerances, shifts});
  }
  HostSpinor host(const SpinorField& x, int n) const { return dense::get_one(x, basis, n); }
  double residual(const SpinorField& x, int n) const { return reference::residual(sources[n], image(host(x, n), n)); }
  /// Of A or A^+ in one application that the method counts.
  int factors() const { return GetParam().shifted ? 2 : 1; }

  const Lattice lattice{{4, 4, 4, 4}};
  const HostGauge gauge = weak_gauge(lattice, 0.3, 5);
  const BasisInfo& basis = find_basis("non_relativistic");
  DomainPointer domain;
  std::unique_ptr<DiracOperator> high, low;
  std::unique_ptr<Counted> outer, inner_;
  std::vector<double> tolerances, shifts;
  std::vector<HostSpinor> exact, sources;
  SolverOptions options;
};

TEST_P(Promised, TrueResidualIsBelowTheTolerance) {
  for (const auto& device : support::devices())
    for (const char* inner : {"double", "single", "half"}) {
      if (GetParam().one_by_one && inner == std::string("half")) continue;
      set(device, 3, inner);
      tolerances[1] = 1e-5;
      SpinorField x = zero();
      const Results results = solve(x, field(sources));
      for (int n = 0; n < 3; ++n) {
        EXPECT_TRUE(results[n].converged) << inner << " " << n;
        EXPECT_LE(results[n].measured, tolerances[n]) << inner << " " << n;
        EXPECT_NEAR(residual(x, n), results[n].residual, 1e-12) << inner << " " << n;
        EXPECT_GT(results[n].iterations, 5) << inner << " " << n;
        EXPECT_TRUE(results[n].trouble.empty()) << results[n].trouble;
      }
    }
}

TEST_P(Promised, IterationsAndApplicationsAreCounted) {
  for (const char* inner : {"double", "single"}) {
    set(Device::cpu(), 1, inner);
    std::vector<int> seen;
    std::vector<double> residuals;
    options.rhs_observer = [&](int, int iteration, double r) { seen.push_back(iteration), residuals.push_back(r); };
    SpinorField x = zero();
    const SolverResult result = solve(x, field(sources)).front();
    ASSERT_EQ(int(seen.size()), result.iterations);
    for (int k = 0; k < result.iterations; ++k) EXPECT_EQ(seen[k], k + 1);
    EXPECT_LT(residuals.back(), 2 * tolerances[0]);  // that of cg is of A^+ r
    EXPECT_EQ(inner_->columns(), factors() * result.applications);
    EXPECT_EQ(outer->columns(), factors() * result.exact_applications);
    EXPECT_GT(result.exact_applications, 0);
  }
}

TEST_P(Promised, WhatItMakesMinimalFalls) {
  if (GetParam().falls == Falls::nothing) return;
  for (const auto& device : support::devices()) {
    set(device, 2);
    std::vector<double> last(2, INFINITY), first = last;
    for (const int limit : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {  // GCR begins anew after ten
      options.max_iterations = limit;
      SpinorField x = zero();
      solve(x, field(sources));
      for (int n = 0; n < 2; ++n) {
        const double now =
            GetParam().falls == Falls::residual ? residual(x, n) : reference::residual(exact[n], host(x, n));
        EXPECT_LT(now, last[n]) << device->name() << " column " << n << " iteration " << limit;
        last[n] = now;
        if (limit == 1) first[n] = now;
      }
    }
    for (int n = 0; n < 2; ++n) EXPECT_LT(last[n], 0.5 * first[n]);
  }
}

TEST_P(Promised, LimitOfIterationsIsKeptToAndReported) {
  for (const auto& device : support::devices())
    for (const char* inner : {"double", "half"}) {
      if (GetParam().one_by_one && inner == std::string("half")) continue;
      set(device, 3, inner);
      options.max_iterations = 4;
      SpinorField x = zero();
      const Results results = solve(x, field(sources));
      for (int n = 0; n < 3; ++n) {
        EXPECT_FALSE(results[n].converged);
        EXPECT_EQ(results[n].iterations, GetParam().one_source ? 8 : 4);  // in the common space, and of each shift
        EXPECT_NEAR(residual(x, n), results[n].residual, 1e-12) << inner << " " << n;
        EXPECT_GT(results[n].measured, tolerances[n]);
        EXPECT_TRUE(std::isfinite(results[n].residual));
      }
    }
}

TEST_P(Promised, ZeroHasZeroAsItsSolution) {
  for (const auto& device : support::devices()) {
    set(device, 3);
    SpinorField x = zero(), b = field(sources), alone = zero();
    const int others = solve(alone, b)[2].iterations;
    const int first = GetParam().one_source ? 0 : 1;  // all shifts have the same right-hand side
    for (int n = first; n <= 1; ++n) {
      b.columns(n, 1).fill(0);
      x.columns(n, 1).fill(255);
    }
    const Results results = solve(x, b);
    const int zeros = GetParam().one_source ? 3 : 2;
    for (int n = first; n < zeros; ++n) {
      EXPECT_TRUE(results[n].converged);
      EXPECT_EQ(results[n].iterations, 0);
      EXPECT_EQ(host(x, n).site, HostSpinor(lattice).site);
    }
    if (GetParam().one_source) continue;
    EXPECT_TRUE(results[2].converged);
    EXPECT_LE(residual(x, 2), tolerances[2]);
    EXPECT_NEAR(results[2].iterations, others, 3);  // a block is narrower without the column
  }
}

TEST_P(Promised, GoodGuessesAreKept) {
  for (const auto& device : support::devices()) {
    set(device, 2);
    const SpinorField b = field(sources);
    SpinorField x = field(exact), fresh = zero(), near = zero();
    const Results results = solve(x, b), from_zero = solve(fresh, b);
    if (GetParam().one_source) {  // it says that x is overwritten
      for (int n = 0; n < 2; ++n) EXPECT_EQ(host(x, n).site, host(fresh, n).site);
      continue;
    }
    for (int n = 0; n < 2; ++n) {
      EXPECT_TRUE(results[n].converged);
      EXPECT_EQ(results[n].iterations, 0);
      EXPECT_EQ(host(x, n).site, host(field(exact), n).site);
      upload(reference::combine(1, exact[n], 1e-6, sources[n]), near, basis, n);
    }
    const Results from_near = solve(near, b);
    for (int n = 0; n < 2; ++n) {
      EXPECT_TRUE(from_near[n].converged);
      EXPECT_LT(from_near[n].iterations, 0.7 * from_zero[n].iterations) << n;
    }
  }
}

/// Columns of a looser tolerance leave early, and A is not applied to them any more; the others do not notice.
TEST_P(Promised, ColumnsRetire) {
  if (GetParam().one_by_one) return;
  constexpr int columns = 8;
  set(Device::cpu(), columns, "single");
  for (int n = 0; n < columns; n += 2) tolerances[n] = 1e-2;
  SpinorField x = zero();
  const Results results = solve(x, field(sources));
  for (int n = 0; n < columns; ++n) {
    EXPECT_TRUE(results[n].converged) << n;
    EXPECT_LE(residual(x, n), tolerances[n]) << n;
  }
  for (int n = 0; n < columns; n += 2) EXPECT_LT(results[n].iterations, results[columns - 1].iterations) << n;
  const std::vector<int>& widths = inner_->widths;
  if (GetParam().one_source) {  // one Krylov space: what retires are updates, and refinements of those that need none
    EXPECT_EQ(widths.front(), 1);
    EXPECT_EQ(*std::max_element(widths.begin(), widths.end()), MultishiftSolver::most_refined / 2);
    return;
  }
  EXPECT_EQ(widths.front(), columns);
  EXPECT_GT(std::count(widths.begin(), widths.end(), columns / 2), 0);
  EXPECT_LE(widths.back(), columns / 2);
  EXPECT_TRUE(std::is_sorted(widths.rbegin(), widths.rend()));
}

INSTANTIATE_TEST_SUITE_P(Methods, Promised, testing::ValuesIn(promises()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
