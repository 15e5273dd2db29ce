// A twist of the symmetric even-odd form: its matrix, determinant, heat bath and force.
#include <gtest/gtest.h>

#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/fermion_monomials.hpp"
#include "solvers/krylov/blas.hpp"
#include "tests/dense.hpp"
#include "tests/slope.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::DenseAction;
using dense::Vectors;
using reference::log_abs_det, reference::Square;

constexpr double twist = 0.35;

struct TwistCase {
  std::shared_ptr<Device> device;
  double csw;
};

/// The matrix of what acts on fields, between sites of one parity or all: index 12 times the site plus 3 spin + colour.
template <class Apply>
Square matrix_of(const Lattice& lattice, bool all, const Apply& apply) {
  std::vector<std::size_t> sites;
  for (long long x = 0; x < lattice.sites(); ++x)
    if (all || Lattice::parity(lattice.coordinates(x)) == Parity::even) sites.push_back(static_cast<std::size_t>(x));
  const int n = 12 * static_cast<int>(sites.size());
  Square m{n};
  for (int column = 0; column < n; ++column) {
    Vectors unit(1, HostSpinor(lattice));
    unit[0].site[sites[std::size_t(column / 12)]][std::size_t(column % 12)] = 1;
    const Vectors image = apply(unit);
    for (int row = 0; row < n; ++row)
      m(row, column) = image[0].site[sites[std::size_t(row / 12)]][std::size_t(row % 12)];
  }
  return m;
}

/// Remembers how much noise was drawn.
class CountedNoise final : public Noise {
 public:
  void momenta(LinkField& p) override { noise_.momenta(p); }
  void pseudofermion(const std::string& name, int number, SpinorField& eta, const BasisInfo& basis) override {
    noise_.pseudofermion(name, number, eta, basis);
    for (int n = 0; n < eta.rhs(); ++n) norm2 += Blas(eta.columns(n, 1)).norm2(eta.columns(n, 1));
  }
  double norm2 = 0;

 private:
  GaussianNoise noise_{11, 0};
};

class EvenTwist : public testing::TestWithParam<TwistCase> {
 protected:
  Action action() const {
    const double csw = GetParam().csw;
    std::map<std::string, double> p = {{"mass", 0.1}, {"xi0", 1.4}, {"nu", 0.9}};
    if (csw != 0) p.insert({{"csw_r", csw}, {"csw_t", 0.8 * csw}});
    return {csw != 0 ? "clover" : "wilson", p};
  }
  FermionTerm term(double with = twist) const {
    FermionTerm t{.fermion = {action(), EvenOddForm::symmetric, {}, with}, .log_det = false};
    t.tol_force = t.tol_action = 1e-14;
    t.solver = {Method::cg, "double"};
    return t;
  }
  HostGauge gauge(const Lattice& lattice) const { return weak_gauge(lattice, 0.4, 5); }
  DomainPointer domain(const Coordinates& extents) const {
    return std::make_shared<Domain>(Lattice(extents), GetParam().device);
  }

  /// What the operator of molecular dynamics gives for a field on even sites.
  class Operator {
   public:
    Operator(const FermionTerm& term, const EvolvingLinks& links) : a_(term.fermion, term.solver) { a_.follow(links); }
    Vectors operator()(const Vectors& psi, Dagger dagger = Dagger::no) const {
      return dense::apply(a_.matrix(), psi, dagger);
    }

   private:
    FermionOperator a_;
  };
};

TEST_P(EvenTwist, AddsITwistGamma5T) {
  const DomainPointer where = domain({4, 4, 4, 4});
  const HostGauge u = gauge(where->lattice());
  const EvolvingLinks links(u, where);
  const DenseAction dense(action(), u);
  const Vectors psi = dense::half(dense::random(u.lattice, 1, 3), Parity::even);
  const Operator ours(term(), links);
  for (const bool dagger : {false, true}) {
    const Vectors turned = dense::gamma5(dense.multiply(psi));
    const auto with = [&](double sign) {
      const Complex64 c(0, (dagger ? -sign : sign) * twist);
      return dense::half(dense::combine(1, dense.even_odd(psi, EvenOddForm::symmetric, dagger), c, turned),
                         Parity::even);
    };
    const Vectors found = ours(psi, dagger ? Dagger::yes : Dagger::no);
    EXPECT_LT(dense::deviation(found, with(1)), support::rounding);
    EXPECT_GT(dense::deviation(found, with(-1)), 0.1);
  }
}

/// On 2^4: the even sites of F = M + i twist gamma_5 T_ee^2, M on all sites, have Schur's complement T_ee times ours.
/// With gamma_5 it is also det(M^+ M + twist^2 T_ee^2) of the untwisted form.
TEST_P(EvenTwist, HasTheDeterminantOfDenseMatrices) {
  const DomainPointer where = domain({2, 2, 2, 2});
  const HostGauge u = gauge(where->lattice());
  const EvolvingLinks links(u, where);
  const DenseAction dense(action(), u);
  const Complex64 i(0, twist);
  const double ours = log_abs_det(matrix_of(u.lattice, false, Operator(term(), links)));
  const Square all = matrix_of(u.lattice, true, [&](const Vectors& psi) {
    const Vectors squared = dense.multiply(dense.multiply(dense::half(psi, Parity::even)));
    return dense::combine(1, dense.matrix(psi), i, dense::gamma5(squared));
  });
  const Square t = matrix_of(u.lattice, true, [&](const Vectors& psi) { return dense.multiply(psi); });
  EXPECT_NEAR(ours, log_abs_det(all) - log_abs_det(t), 1e-10);

  const Square m = matrix_of(u.lattice, false,
                             [&](const Vectors& psi) { return dense.even_odd(psi, EvenOddForm::symmetric, false); });
  const Square even = matrix_of(u.lattice, false, [&](const Vectors& psi) { return dense.multiply(psi); });
  const Square sum =
      reference::sum_of(1, reference::product(reference::adjoint(m), m), twist * twist, reference::product(even, even));
  EXPECT_NEAR(2 * ours, log_abs_det(sum), 1e-10);
}

TEST_P(EvenTwist, HeatBathHasTheActionOfItsNoise) {
  const DomainPointer where = domain({4, 4, 4, 4});
  const EvolvingLinks links(gauge(where->lattice()), where);
  TwoFlavourMonomial quarks("quarks", term());
  RatioMonomial ratio("ratio", term(), term(0.9).fermion);
  for (Monomial* monomial : {static_cast<Monomial*>(&quarks), static_cast<Monomial*>(&ratio)}) {
    CountedNoise noise;
    monomial->refresh(noise, 0, links);
    EXPECT_NEAR(monomial->action(links) / noise.norm2, 1, 1e-12) << monomial->name();
  }
}

TEST_P(EvenTwist, HasTheForceOfItsDifferences) {
  const DomainPointer where = domain({4, 4, 4, 4});
  EvolvingLinks links(gauge(where->lattice()), where);
  FermionTerm with_log_det = term(), smeared = term();
  with_log_det.log_det = true;
  smeared.fermion.smearing = {"stout", {{"rho", 0.1}}, 2};
  TwoFlavourMonomial quarks("quarks", with_log_det), on_stout_links("stout", smeared);
  RatioMonomial ratio("ratio", term(), term(0.9).fermion), other("other ratio", term(0), term().fermion);
  for (Monomial* monomial : {static_cast<Monomial*>(&quarks), static_cast<Monomial*>(&on_stout_links),
                             static_cast<Monomial*>(&ratio), static_cast<Monomial*>(&other)}) {
    SCOPED_TRACE(monomial->name());
    CountedNoise noise;
    monomial->refresh(noise, 0, links);
    for (const auto& [slope, expected, size] : support::slopes(*monomial, links, 0.005))
      EXPECT_NEAR(slope, expected, 1e-10 * size);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EvenTwist, testing::ValuesIn([] {
                           std::vector<TwistCase> cases;
                           for (const auto& device : support::devices())
                             for (const double csw : {0.0, 1.2}) cases.push_back({device, csw});
                           return cases;
                         }()),
                         [](const auto& info) {
                           return support::test_name(info.param.device->name()) + (info.param.csw > 0 ? "Clover" : "");
                         });

}  // namespace
