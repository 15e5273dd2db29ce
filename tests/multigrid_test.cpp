// Multigrid: identities of each level, actions that its stencil serves and one that it does not, iterations of solves.
#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/multigrid/coarse_operator.hpp"
#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/noise.hpp"
#include "solvers/krylov/solve.hpp"
#include "tests/dense.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

void fill(SpinorField& f, unsigned long long counter) { draw(f, find_basis("degrand_rossi"), counter); }
double distance(const SpinorField& x, const SpinorField& y) {
  SpinorField d = y.like();
  d.copy_from(y);
  const Blas blas(x);
  return std::sqrt(blas.residual(x, d) / blas.norm2(x));
}

struct Limits {
  const char* precision;
  bool packed;
  double rounding, product;  ///< of P^+ P = 1, and of the coarse operator
};

class Multigrid : public testing::TestWithParam<Limits> {};

/// P^+ P = 1, (1 - P P^+) v = 0, and that P commutes with gamma_5.
void expect_projector(const Transfer& t, const SpinorField& v, const BasisInfo& basis, double limit) {
  SpinorField coarse = t.coarse_field(5), again = coarse.like(), fine = t.fine_field(5), kept = t.fine_field(v.rhs());
  fill(coarse, 2);
  t.prolong(fine, coarse);
  t.restrict_to(again, fine);
  EXPECT_LE(distance(coarse, again), limit);
  SpinorField projections = t.coarse_field(v.rhs());
  t.restrict_to(projections, v);
  t.prolong(kept, projections);
  EXPECT_LE(distance(v, kept), limit);
  const BasisInfo& chiral = find_basis("degrand_rossi");
  dense::put(dense::gamma5(dense::get(coarse, chiral)), again, chiral);
  const dense::Vectors turned = dense::gamma5(dense::get(fine, basis));
  t.prolong(fine, again);
  EXPECT_LE(dense::deviation(dense::get(fine, basis), turned), limit);
}

/// The coarse operator is P^+ M P, C(a, b)^+ = gamma_5 C(b, a) gamma_5, and its even-odd form has the same solutions.
void expect_product(const Transfer& t, const LinearOperator& fine, const CoarseOperator& coarse, double limit) {
  SpinorField x = t.coarse_field(3), y = x.like(), z = x.like(), in = t.fine_field(3), out = in.like();
  fill(x, 4);
  t.prolong(in, x);
  fine.apply(out, in, Dagger::no);
  t.restrict_to(y, out);
  coarse.apply(z, x, Dagger::no);
  EXPECT_LE(distance(y, z), limit);

  const BasisInfo& chiral = find_basis("degrand_rossi");
  const auto product = [&](const dense::Vectors& psi) { return dense::apply(coarse, psi, Dagger::no, chiral); };
  const dense::Vectors u = dense::random(coarse.domain()->lattice(), coarse.slices(), 3),
                       w = dense::random(coarse.domain()->lattice(), coarse.slices(), 30), mu = product(u);
  EXPECT_LE(std::abs(dense::dot(w, mu) - std::conj(dense::dot(dense::gamma5(u), product(dense::gamma5(w))))),
            limit * dense::norm(w) * dense::norm(mu));

  SpinorField even = coarse.reduced().field(3), unknown = even.like(), prepared = even.like();
  unknown.copy_half(Parity::even, x);
  coarse.reduced().apply(even, unknown, Dagger::no);
  coarse.prepare(prepared, z);
  EXPECT_LE(distance(prepared, even), 10 * limit);
  coarse.reconstruct(y, unknown, z);
  EXPECT_LE(distance(x, y), 10 * limit);

  DirectSolve inverse(coarse.reduced());  // by blocks: as good as elimination with all pivots
  coarse.reduced().apply(even, unknown, Dagger::no);
  inverse.apply(prepared, even, 3);
  EXPECT_LE(distance(unknown, prepared), coarse.precision().word_bytes == 8 ? 1e-10 : 1e-4);
}

TEST_P(Multigrid, CoarseLevelsAreProjectionsOfTheFiner) {
  const auto& [precision, packed, rounding, product] = GetParam();
  for (const auto& device : support::devices()) {
    const Lattice lattice({8, 4, 4, 8});
    const HostGauge gauge = weak_gauge(lattice, 0.3, 5);
    const auto domain = std::make_shared<Domain>(lattice, device);
    const LinkStore links(gauge, domain, "r12", "non_relativistic");
    const auto dirac = dense::wilson(-0.2).make(links, find_precision(precision));
    Transfer transfer(dirac->matrix(), find_basis("non_relativistic"), {2, 2, 2, 2}, 12, packed);
    SpinorField v = transfer.fine_field(12);
    fill(v, 1);
    transfer.keep(v);
    expect_projector(transfer, v, find_basis("non_relativistic"), rounding);
    const CoarseOperator coarse(transfer, dirac->matrix(), 12, packed);
    Transfer second(coarse, find_basis("degrand_rossi"), {2, 1, 1, 2}, 18, packed);
    SpinorField w = second.fine_field(18);
    fill(w, 3);
    second.keep(w);
    expect_projector(second, w, find_basis("degrand_rossi"), rounding);
    expect_product(transfer, dirac->matrix(), coarse, product);
    expect_product(second, coarse, CoarseOperator(second, coarse, 12, packed), product);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Multigrid,
                         testing::Values(Limits{"double", false, 1e-12, 1e-12}, Limits{"single", false, 2e-6, 1e-5},
                                         Limits{"single", true, 2e-4, 2e-3}),
                         [](const auto& info) {
                           return std::string(info.param.precision) + (info.param.packed ? "Packed" : "");
                         });

/// An operator that hops to where no neighbouring block is.
class FarHops final : public LinearOperator {
 public:
  explicit FarHops(const LinearOperator& a) : a_(&a), between_(a.field(12)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    SpinorField between = between_.columns(0, in.rhs());
    a_->apply(between, in, dagger);
    a_->apply(out, between, dagger);
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  double flops() const override { return 2 * a_->flops(); }

 private:
  const LinearOperator* a_;
  mutable SpinorField between_;
};

TEST(MultigridStencil, RefusesBlocksThatAreCoupledWithoutTouching) {
  const auto domain = std::make_shared<Domain>(Lattice({8, 4, 4, 8}), Device::cpu());
  const auto dirac = dense::dirac(dense::wilson(0), hot_gauge(domain->lattice(), 5), domain);
  const FarHops far(dirac->matrix());  // corners of blocks, too
  Transfer transfer(far, find_basis("non_relativistic"), {2, 2, 2, 2}, 6);
  SpinorField v = transfer.fine_field(6);
  fill(v, 1);
  transfer.keep(v);
  EXPECT_THROW(CoarseOperator(transfer, far, 1), UsageError);
  EXPECT_THROW(Transfer(far, find_basis("non_relativistic"), {2, 2, 2, 3}, 6), UsageError);
  EXPECT_THROW(Transfer(far, find_basis("non_relativistic"), {2, 2, 2, 2}, 8), UsageError);
}

/// The same blocks as in its log, 24 near-null vectors instead of 28.
TEST(MultigridSolve, NeedsNoMoreIterationsThanDdalphaamg) {
  if (data::folder().empty()) GTEST_SKIP() << "no reference data";
  const HostGauge gauge = data::load("ddalphaamg/8x8x8x8b6.0000id3n1", {8, 8, 8, 8});
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  SolveSettings settings;
  settings.method = Method::multigrid;
  MultigridLevel level;
  level.block = {2, 2, 2, 2};
  settings.multigrid = MultigridParameters{.levels = {level}, .coarsest_steps = 20, .most_rounds = 1};
  const Solver solver(dense::wilson(-0.5, 1), gauge, domain, settings);
  SpinorField b = solver.field(2), x = b.like();
  fill(b, 1);
  for (const SolveReport& r : solver.solve_all(x, b)) {
    EXPECT_TRUE(r.converged);
    EXPECT_LE(r.residual, 1e-10);
    EXPECT_LE(r.iterations, 13);  // 11 in ddalphaamg/reference_two_level.json
  }
}

/// Three levels, several right-hand sides, low precision outside; what was chosen is told.
TEST(MultigridSolve, ConvergesWithAnyLevelsAndPrecision) {
  for (const auto& device : support::devices()) {
    if (device->asynchronous()) continue;  // recorded programs wait for nothing
    const auto domain = std::make_shared<Domain>(Lattice({8, 4, 4, 8}), device);
    const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
    for (const char* precision : {"double", "double-single", "double-half"}) {
      SolveSettings settings;
      settings.method = Method::multigrid;
      settings.precision = precision;
      std::string told;
      settings.tell = [&](const std::string& line) { told += line; };
      MultigridLevel level;
      level.vectors = 12;
      settings.multigrid = MultigridParameters{.levels = {level, level}, .relaxations = 10, .most_rounds = 1};
      settings.multigrid->levels[0].block = {2, 2, 2, 2};
      settings.multigrid->levels[1].block = {2, 1, 1, 2};
      const Solver solver(dense::wilson(-0.4), gauge, domain, settings);
      SpinorField b = solver.field(5), x = b.like();
      fill(b, 1);
      for (const SolveReport& r : solver.solve_all(x, b)) {
        EXPECT_LE(r.residual, 1e-10) << precision;
        EXPECT_LE(r.iterations, 25) << precision;
      }
      EXPECT_NE(told.find("2x2x2x2"), std::string::npos) << told;
      EXPECT_NE(told.find("set up in"), std::string::npos) << told;
    }
  }
}

}  // namespace
