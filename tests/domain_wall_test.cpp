// Domain-wall and Moebius fermions beyond what operator_test shows of all actions: walls, midpoints, free fields, other
// statements of a fifth dimension.
#include "runtime/error.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::Vectors;
using Value = ActionValues::Value;

Action walls(double mass, double m5, int slices, double b5 = 1, double c5 = 0,
             const BoundaryPhases& phases = {1, 1, 1, -1}) {
  ActionValues::Given given = {{"mass", {mass}}, {"m5", {m5}}};
  if (c5 != 0) given["b5"] = {b5}, given["c5"] = {c5};
  return Action({find_action(c5 != 0 ? "moebius" : "domain_wall"), given, slices}, {.boundary = phases});
}

/// Shamir, Moebius, and coefficients of each slice.
std::vector<Action> all_walls() {
  ActionValues::Given z = {{"mass", {0.07}}, {"m5", {1.7}}};
  for (int s = 0; s < 5; ++s) {
    z["b5"].emplace_back(1.2 + 0.1 * s, 0.05 * s);
    z["c5"].emplace_back(0.2 + 0.1 * s, 0.05 * s);
  }
  return {walls(0.1, 1.8, 6), walls(0.1, 1.6, 4, 1.5, 0.5), Action({find_action("moebius"), z, 5})};
}

class DomainWall : public support::OnDevice {
 protected:
  std::unique_ptr<DiracOperator> make(const Action& action) const {
    return dense::dirac(action, gauge_, domain_, "r12");
  }
  /// The quark field, or that in the middle, of a vector.
  HostSpinor quark(const DiracOperator& dirac, const SpinorField& x, bool middle = false) const {
    SpinorField four(x.domain_pointer(), x.precision(), Subset::full);
    if (middle)
      dirac.midpoint(four, x);
    else
      dirac.project(four, x);
    return dense::get_one(four);
  }
  SpinorField embedded(const DiracOperator& dirac, const HostSpinor& source) const {
    SpinorField b = dirac.matrix().field(), four(b.domain_pointer(), b.precision(), Subset::full);
    upload(source, four, find_basis("non_relativistic"));
    dirac.embed(b, four);
    return b;
  }
  SolveSettings settings(double tolerance) const {
    SolveSettings s;
    s.method = Method::cg;
    s.options.tolerance = tolerance;
    return s;
  }

  const Lattice lattice_{{4, 4, 4, 8}};
  const HostGauge gauge_ = hot_gauge(lattice_, 5);
  const DomainPointer domain_ = std::make_shared<Domain>(lattice_, GetParam());
};

TEST_P(DomainWall, MoebiusWithoutItsSecondTermIsShamirs) {
  // Far below rounding, so that the general operator is used.
  const Vectors psi = dense::random(lattice_, 6, 3);
  const Vectors expected = dense::apply(make(walls(0.1, 1.8, 6))->matrix(), psi);
  EXPECT_LT(dense::deviation(dense::apply(make(walls(0.1, 1.8, 6, 1, 1e-40))->matrix(), psi), expected), 1e-14);
}

TEST_P(DomainWall, ShamirsIsHermitianUpToGamma5AndReflection) {
  const auto reflected = [](const Vectors& psi) { return dense::gamma5(Vectors(psi.rbegin(), psi.rend())); };
  const auto dirac = make(walls(0.1, 1.8, 6));
  const Vectors psi = dense::random(lattice_, 6, 3);
  const Vectors there = reflected(dense::apply(dirac->matrix(), reflected(psi)));
  EXPECT_LT(dense::deviation(there, dense::apply(dirac->matrix(), psi, Dagger::yes)), 1e-14);
}

TEST_P(DomainWall, NumbersAreThoseOfTheStatement) {
  // Another statement: a = 0.3 + 0.1i more at a site, R times 0.2i more. The operator must not know Moebius' form.
  const ActionValues::Given values = {
      {"mass", {0.1}}, {"m5", {1.6}}, {"b5", {1.5}}, {"c5", {0.5, 0.4, 0.3, Value(0.2, 0.1)}}};
  const ActionInfo& moebius = find_action("moebius");
  ActionInfo more_alpha = moebius, more_beta = moebius;
  more_alpha.alpha =
      +[](const Value* p) -> Value { return find_action("moebius").alpha(nullptr, p) + Value(0.3, 0.1); };
  more_beta.beta = +[](const Value* p) -> Value { return find_action("moebius").beta(nullptr, p) + Value(0, 0.2); };
  const auto made = [&](const ActionInfo& info) { return make(Action({info, values, 4})); };
  const Vectors psi = dense::random(lattice_, 4, 3), plain = dense::apply(made(moebius)->matrix(), psi);
  EXPECT_LT(dense::deviation(dense::apply(made(more_alpha)->matrix(), psi), dense::combine(1, plain, {0.3, 0.1}, psi)),
            1e-14);
  Vectors expected = plain;
  for (int s = 0; s < 4; ++s) {
    const HostSpinor ahead = reference::multiply(reference::chiral_projector(-1), psi[(s + 1) % 4]);
    const HostSpinor behind = reference::multiply(reference::chiral_projector(+1), psi[(s + 3) % 4]);
    const HostSpinor around = reference::combine(s == 3 ? -0.1 : 1, ahead, s == 0 ? -0.1 : 1, behind);
    expected[s] = reference::combine(1, plain[s], {0, 0.2}, around);
  }
  EXPECT_LT(dense::deviation(dense::apply(made(more_beta)->matrix(), psi), expected), 1e-14);
  for (const ActionInfo& info : {more_alpha, more_beta})
    for (const EvenOddForm form : {EvenOddForm::symmetric, EvenOddForm::asymmetric})
      EXPECT_LT(dense::even_odd_deviation(*made(info), form, psi), 1e-14);
  // What stands before -R multiplies a source on the walls.
  const HostSpinor usual = dense::get(embedded(*made(moebius), psi[0]))[0],
                   other = dense::get(embedded(*made(more_beta), psi[0]))[0];
  const HostSpinor wall = reference::multiply(reference::chiral_projector(+1), psi[0]);
  EXPECT_LT(support::compare(other, reference::combine(1, usual, {0, -0.2}, wall)).norm, 1e-14);
}

TEST_P(DomainWall, SourceAndQuarkFieldStandOnTheWalls) {
  for (const Action& action : all_walls()) {
    const auto dirac = make(action);
    const reference::Moebius p = dense::DenseAction(action, gauge_).walls();
    const HostSpinor source = reference::random_spinor(lattice_, 8);
    const Vectors ours = dense::get(embedded(*dirac, source));
    const int last = p.slices() - 1;
    for (int s = 0; s <= last; ++s) {
      HostSpinor wall(lattice_);
      if (s == 0) wall = reference::multiply(reference::chiral_projector(+1), source);
      if (s == last) wall = reference::multiply(reference::chiral_projector(-1), source);
      const HostSpinor expected = reference::combine(1, wall, -p.c[s], reference::wall_wilson(gauge_, wall, p, false));
      EXPECT_LT(reference::norm(reference::combine(1, ours[s], -1, expected)), 1e-12) << s;
    }
    const Vectors psi = dense::random(lattice_, p.slices(), 3);
    SpinorField x = dirac->matrix().field();
    dense::put(psi, x);
    const auto at = [&](int minus, int plus) {
      return reference::combine(1, reference::multiply(reference::chiral_projector(-1), psi[minus]), 1,
                                reference::multiply(reference::chiral_projector(+1), psi[plus]));
    };
    EXPECT_LT(support::compare(quark(*dirac, x), at(0, last)).norm, 1e-15);
    EXPECT_LT(support::compare(quark(*dirac, x, true), at(p.slices() / 2, p.slices() / 2 - 1)).norm, 1e-15);
  }
}

TEST_P(DomainWall, FreeQuarkAtRestHasItsMassAndTheResidualOne) {
  // On a constant field D_W is -M5, and both walls see each other through tau^Ls, tau = (1 - b M5) / (1 + c M5): the
  // quark propagates with 1 / (m + tau^Ls), and |midpoint|^2 / |quark|^2 = tau^Ls.
  constexpr double mass = 0.05, m5 = 1.3;
  for (const auto& [b5, c5] : {std::pair{1.0, 0.0}, {1.5, 0.5}}) {
    const Solver solver(walls(mass, m5, 8, b5, c5, {1, 1, 1, 1}), unit_gauge(lattice_), domain_, settings(1e-13));
    HostSpinor constant(lattice_);
    for (HostSite& site : constant.site)
      for (int k = 0; k < 12; ++k) site[k] = {1.0 + k, 0.5 * k};
    SpinorField x = solver.field();
    EXPECT_TRUE(solver.solve(x, embedded(solver.dirac(), constant)).converged);
    const HostSpinor q = quark(solver.dirac(), x), middle = quark(solver.dirac(), x, true);
    const double tau = std::pow((1 - b5 * m5) / (1 + c5 * m5), 8);
    EXPECT_LT(support::compare(q, reference::combine(1 / (mass + tau), constant, 0, constant)).norm, 1e-11);
    EXPECT_NEAR(std::pow(reference::norm(middle) / reference::norm(q), 2) / tau, 1, 1e-6);
  }
}

TEST_P(DomainWall, MidpointMakesUpForTheAxialWardIdentity) {
  // m sum_x |S(x, 0)|^2 + sum_x |S_mid(x, 0)|^2 = Re tr S(0, 0): the sum of the identity over all sites (V. Furman and
  // Y. Shamir, Nucl. Phys. B 439 (1995) 54).
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 4}), 0.4, 9);
  constexpr double mass = 0.08;
  const Solver solver(walls(mass, 1.8, 6), gauge, std::make_shared<Domain>(gauge.lattice, GetParam()), settings(1e-12));
  double pion = 0, middle = 0, trace = 0;
  SpinorField x = solver.field();
  for (int n = 0; n < 12; ++n) {
    HostSpinor source(gauge.lattice);
    source.site[0][n] = 1;
    EXPECT_TRUE(solver.solve(x, embedded(solver.dirac(), source)).converged);
    const HostSpinor q = quark(solver.dirac(), x), mid = quark(solver.dirac(), x, true);
    trace += q.site[0][n].real();
    pion += reference::dot(q, q).real();
    middle += reference::dot(mid, mid).real();
  }
  EXPECT_GT(middle, 1e-3 * trace);
  EXPECT_NEAR((mass * pion + middle) / trace, 1, 1e-9);
}

TEST_P(DomainWall, ImpossibleParametersAreRefused) {
  EXPECT_THROW(walls(0.1, 1.8, 0), UsageError);
  EXPECT_THROW(make(walls(0.1, 1.8, most_slices + 1)), UsageError);
  // b (4 - M5) + 1 = 0: no even-odd form exists.
  EXPECT_THROW(make(walls(0.1, 5, 4)), UsageError);
}

ON_EACH_DEVICE(DomainWall);

}  // namespace
