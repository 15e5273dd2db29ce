// Actions that are their statement alone, on every device: M, M^+ and even-odd forms of naive fermions with a chemical
// potential against dense matrices.
#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/solve.hpp"
#include "solvers/actions/stated.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::operator*;
using support::rounding;

constexpr double quark_mass = 0.4, mu = 0.3;

class Stated : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  static ActionValues naive(double potential) {
    return {find_action("naive"), {{"mass", quark_mass}, {"mu", potential}}};
  }

  std::unique_ptr<DiracOperator> dirac(double potential, const std::string& storage = "r18") const {
    const LinkStore links(gauge_, domain_, storage, "non_relativistic");
    return StatedAction(naive(potential), phases_).make(links, find_precision("double"));
  }
  HostSpinor apply(const LinearOperator& a, const HostSpinor& psi, Dagger dagger) const {
    SpinorField in(domain_, find_precision("double"), a.subset(), 1), out = in.like();
    upload(psi, in, basis_);
    a.apply(out, in, dagger);
    HostSpinor result(gauge_.lattice);
    download(out, result, basis_);
    return result;
  }
  HostSpinor apply(const HostSpinor& psi, double potential, Dagger dagger = Dagger::no) const {
    return apply(dirac(potential)->matrix(), psi, dagger);
  }
  /// D psi of M = mass + D, dense.
  HostSpinor hop(const HostSpinor& psi, Dagger dagger = Dagger::no) const {
    reference::HopMatrices hops{};
    for (int nu = 0; nu < 4; ++nu)
      for (const int back : {0, 1}) {
        const double sign = back == 1 ? -1 : 1, own = dagger == Dagger::yes ? -sign : sign;
        hops[nu][back] = Complex64(0.5 * own * (nu == 3 ? std::exp(own * mu) : 1)) * reference::gamma(nu);
      }
    reference::Coefficients c;
    c.phase = phases_;
    return reference::hopping(gauge_, psi, hops, c);
  }
  HostSpinor random(int seed) const { return reference::random_spinor(gauge_.lattice, seed); }

  HostGauge gauge_ = hot_gauge(Lattice({4, 4, 4, 8}), 21);
  DomainPointer domain_ = std::make_shared<Domain>(gauge_.lattice, GetParam());
  const BasisInfo& basis_ = find_basis("non_relativistic");
  BoundaryPhases phases_{1, -1, 1, -1};
};

TEST_P(Stated, MatrixAndConjugateAreTheDenseOnes) {
  const HostSpinor psi = random(1);
  for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
    const HostSpinor expected = reference::combine(quark_mass, psi, 1, hop(psi, dagger));
    EXPECT_LT(support::compare(apply(psi, mu, dagger), expected).norm, rounding);
    EXPECT_LT(support::compare(apply(dirac(mu, "r12")->matrix(), psi, dagger), expected).norm, rounding);
  }
}

TEST_P(Stated, ConjugateIsTheAdjoint) {
  const HostSpinor phi = random(2), psi = random(3);
  const Complex64 a = reference::dot(phi, apply(psi, mu)), b = reference::dot(apply(phi, mu, Dagger::yes), psi);
  EXPECT_LT(std::abs(a - b), 1e-12 * std::abs(a));
}

TEST_P(Stated, Gamma5TurnsTheChemicalPotentialRound) {
  const HostSpinor psi = random(4);
  const HostSpinor turned =
      reference::multiply(reference::gamma5(), apply(reference::multiply(reference::gamma5(), psi), mu));
  EXPECT_LT(support::compare(turned, apply(psi, -mu, Dagger::yes)).norm, rounding);
  EXPECT_GT(support::compare(turned, apply(psi, mu, Dagger::yes)).norm, 0.1);
}

TEST_P(Stated, EvenOddFormsAreSchurComplements) {
  HostSpinor even = random(5);
  for (long long i = 0; i < gauge_.lattice.sites(); ++i)
    if (Lattice::parity(gauge_.lattice.coordinates(i)) == Parity::odd) even.site[i].fill(0);
  const auto d = dirac(mu);
  for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
    const HostSpinor twice = hop(hop(even, dagger), dagger);
    EXPECT_LT(support::compare(apply(*d->reduced(Reduction::symmetric, 1), even, dagger),
                               reference::combine(1, even, -1 / (quark_mass * quark_mass), twice), Subset::even)
                  .norm,
              rounding);
    EXPECT_LT(support::compare(apply(*d->reduced(Reduction::asymmetric, 1), even, dagger),
                               reference::combine(quark_mass, even, -1 / quark_mass, twice), Subset::even)
                  .norm,
              rounding);
  }
}

TEST_P(Stated, SolutionsDoNotDependOnTheForm) {
  const HostSpinor source = random(6);
  for (const Reduction form : {Reduction::none, Reduction::symmetric, Reduction::asymmetric}) {
    SolveSettings settings;
    settings.reduction = form;
    settings.options.tolerance = 1e-11;
    const Solver solver(std::make_shared<StatedAction>(naive(mu), phases_), gauge_, domain_, settings);
    SpinorField b = solver.field(), x = b.like();
    upload(source, b, solver.basis());
    EXPECT_TRUE(solver.solve(x, b).converged);
    HostSpinor solution(gauge_.lattice);
    download(x, solution, solver.basis());
    EXPECT_LT(support::compare(reference::combine(quark_mass, solution, 1, hop(solution)), source).norm, 2e-11);
  }
}

TEST_P(Stated, StaggeredQuarksAreReducedToAHermitianOperator) {
  const ActionValues values(find_action("staggered"), {{"mass", 0.2}});
  const LinkStore links(gauge_, domain_, "r18", "non_relativistic");
  const auto d = StatedAction(values, phases_).make(links, find_precision("double"));
  const auto reduced = d->reduced(Reduction::symmetric, 1);
  EXPECT_TRUE(reduced->hermitian());
  EXPECT_EQ(reduced->residual_scale(), 1 / 0.4);
  SpinorField b = d->matrix().field(), m = b.like(), both = b.like(), even = reduced->field(), out = even.like();
  upload(random(7), b, basis_);
  d->matrix().apply(m, b, Dagger::no);
  d->matrix().apply(both, m, Dagger::yes);  // M^+ M does not mix parities
  even.copy_half(Parity::even, b);
  reduced->apply(out, even, Dagger::no);
  HostSpinor ours(gauge_.lattice), expected(gauge_.lattice);
  download(out, ours, basis_);
  download(both, expected, basis_);
  EXPECT_LT(support::compare(ours, expected, Subset::even).norm, rounding);
}

INSTANTIATE_TEST_SUITE_P(Devices, Stated, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
