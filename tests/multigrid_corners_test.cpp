// Multigrid of actions that hop over edges and corners: what is found of their stencils, identities of levels, solves.
#include "solvers/krylov/batch.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/far_hops.hpp"
#include "tests/multigrid_levels.hpp"
#include "tests/reference/hypercube.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using namespace multigrid_levels;

const BasisInfo& file_basis = find_basis("degrand_rossi");

/// An operator of the reference as methods see it.
class OnHost final : public LinearOperator {
 public:
  OnHost(std::shared_ptr<const reference::Hypercube> m, DomainPointer domain, const char* precision)
      : m_(std::move(m)), domain_(std::move(domain)), precision_(&find_precision(precision)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger) const override {
    for (int n = 0; n < in.rhs(); ++n) upload((*m_)(dense::get_one(in, file_basis, n)), out, file_basis, n);
  }
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return domain_; }
  const PrecisionInfo& precision() const override { return *precision_; }
  double flops() const override { return 1; }

 private:
  std::shared_ptr<const reference::Hypercube> m_;
  DomainPointer domain_;
  const PrecisionInfo* precision_;
};

std::shared_ptr<const reference::Hypercube> brillouin(const HostGauge& gauge, double mass) {
  return std::make_shared<reference::Hypercube>(gauge, reference::brillouin_hops(mass));
}

/// 1 and hops along the diagonal of a plane, both ways, with M^+ = gamma_5 M gamma_5.
std::shared_ptr<const reference::Hypercube> diagonal(const HostGauge& gauge) {
  using reference::operator*;
  using reference::operator+;
  const reference::SpinMatrix one = reference::identity(), turned = reference::gamma(0) + reference::gamma(1);
  return std::make_shared<reference::Hypercube>(
      gauge,
      std::map<Coordinates, reference::SpinMatrix>{{{0, 0, 0, 0}, Complex64(3) * one},
                                                   {{1, 1, 0, 0}, Complex64(-0.5) * one + Complex64(0.3) * turned},
                                                   {{-1, -1, 0, 0}, Complex64(-0.5) * one + Complex64(-0.3) * turned}});
}

struct CornerLimits {
  const char* precision;
  bool packed;
  double rounding, product;  ///< of P^+ P = 1, and of the coarse operator
};

class MultigridCorners : public testing::TestWithParam<CornerLimits> {
 protected:
  const HostGauge gauge_ = weak_gauge(Lattice({8, 4, 4, 4}), 0.3, 5);

  /// Such levels of an operator.
  void expect_levels(const LinearOperator& m, std::size_t neighbours, std::size_t further) const {
    const auto& [precision, packed, rounding, product] = GetParam();
    Transfer transfer(m, file_basis, {2, 2, 2, 2}, 6, packed);
    expect_projector(transfer, keep_noise(transfer, 1), file_basis, rounding);
    const CoarseOperator coarse(transfer, m, 12, packed);
    EXPECT_EQ(coarse.stencil().size(), neighbours);
    EXPECT_EQ(coarse.even_odd_operator().subset(), Subset::full);
    expect_product(transfer, m, coarse, product);
    Transfer second(coarse, file_basis, {2, 1, 1, 1}, 6, packed);
    keep_noise(second, 3);
    const CoarseOperator below(second, coarse, 12, packed);
    EXPECT_EQ(below.stencil().size(), further);
    expect_product(second, coarse, below, product);
  }
};

TEST_P(MultigridCorners, LevelsOfTheBrillouinOperatorAreProjectionsOfTheFiner) {
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge_.lattice, device);
    // The second level has blocks of one site in three directions, which have the same neighbour on both sides.
    expect_levels(OnHost(brillouin(gauge_, 0.1), domain, GetParam().precision), 80, 23);
  }
}

TEST_P(MultigridCorners, AStencilHasTheNeighboursThatAreCoupled) {
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge_.lattice, device);
    // (1,1,0,0), (1,0,0,0), (0,1,0,0) and back; then the backward ones of y are forward ones.
    expect_levels(OnHost(diagonal(gauge_), domain, GetParam().precision), 6, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, MultigridCorners,
                         testing::Values(CornerLimits{"double", false, 1e-12, 1e-12},
                                         CornerLimits{"single", false, 2e-6, 1e-5},
                                         CornerLimits{"single", true, 2e-4, 2e-3}),
                         [](const auto& info) {
                           return std::string(info.param.precision) + (info.param.packed ? "Packed" : "");
                         });

/// M M of Wilson's M: two sites are half a block.
TEST(MultigridStencil, HopsOfHalfABlockAndOverCornersAreServed) {
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(Lattice({8, 8, 8, 8}), device);
    const auto dirac = dense::dirac(dense::wilson(0), hot_gauge(domain->lattice(), 5), domain);
    const FarHops far(dirac->matrix());
    Transfer transfer(far, find_basis("non_relativistic"), {4, 4, 4, 4}, 6);
    keep_noise(transfer, 1);
    const CoarseOperator coarse(transfer, far, 12);
    EXPECT_EQ(coarse.stencil().size(), 8u + 24u);
    expect_product(transfer, far, coarse, 1e-12);
  }
}

/// An action without an even-odd form.
class OnAllSites final : public EvenOddSystem {
 public:
  explicit OnAllSites(OnHost m) : m_(std::move(m)) {}
  const LinearOperator& full() const override { return m_; }
  const LinearOperator& even_odd_operator() const override { return m_; }
  void prepare(SpinorField& reduced, const SpinorField& b) const override { reduced.copy_from(b); }
  void source(SpinorField& b, const SpinorField& reduced) const override { b.copy_from(reduced); }
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField&) const override {
    x.copy_from(reduced);
  }

 private:
  OnHost m_;
};

int iterations_of(const LinearOperator& a, Method method, Preconditioner* k) {
  MethodParameters parameters;
  parameters.given = k;
  KrylovBatch batch(a, a, method, 1, parameters);
  SpinorField b = a.field(1), x = b.like();
  fill(b, 1);
  x.fill(0);
  const SolverResult result = batch.solve(x, b, {}, {1e-10})[0];
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.residual, 1e-10);
  return result.iterations;
}

TEST(MultigridSolve, ALightBrillouinQuarkTakesAFewIterations) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.3, 5);
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const auto m = brillouin(gauge, -0.85);
  MultigridLevel level;
  level.block = {2, 2, 2, 2};
  level.vectors = 12;
  level.smoother_steps = 6;
  MultigridParameters parameters;
  parameters.levels = {level};
  parameters.relaxations = 10;
  parameters.most_rounds = 2;
  quarksmith::Multigrid multigrid(
      [&](const PrecisionInfo& p, int) {
        return std::make_unique<OnAllSites>(OnHost(m, domain, std::string(p.name).c_str()));
      },
      file_basis, parameters, find_precision("double"));
  EXPECT_EQ(multigrid.stencil().size(), 80u);
  const OnHost exact(m, domain, "double");
  const int alone = iterations_of(exact, Method::bicgstab, nullptr),
            few = iterations_of(exact, Method::multigrid, &multigrid);
  EXPECT_LT(5 * few, alone) << few << " iterations, BiCGstab " << alone;
}

}  // namespace
