// Twisted mass, twisted clover and their doublets against dense matrices: operators, even-odd forms, solves.
#include "tests/twisted.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/solve.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using twisted::Dense;
using twisted::Flavours;

struct Case {
  std::shared_ptr<Device> device;
  double csw;
  int flavours;
};

WilsonParameters parameters(const Case& c, double sign = 1) {
  WilsonParameters p;
  p.mass = -0.15;
  p.csw_r = c.csw;
  p.csw_t = 0.8 * c.csw;
  p.twist.mu = 0.35 * sign;
  p.twist.flavours = c.flavours;
  if (c.flavours == 2) p.twist.epsilon = 0.22;
  return p;
}

class Twisted : public testing::TestWithParam<Case> {
 protected:
  HostGauge gauge_ = weak_gauge(Lattice({4, 4, 4, 8}), 0.5, 8);
  DomainPointer domain_ = std::make_shared<Domain>(gauge_.lattice, GetParam().device);

  WilsonHopping hopping(double sign = 1) const {
    const auto links =
        std::make_shared<LinkField>(upload(gauge_, domain_, find_precision("double"), find_storage("r12")));
    const LinkField plain = upload(gauge_, domain_, find_precision("double"), find_storage("r18"));
    return WilsonHopping(links, find_precision("double"), find_basis("non_relativistic"), parameters(GetParam(), sign),
                         &plain);
  }
  Flavours random(unsigned seed) const { return twisted::random(gauge_.lattice, GetParam().flavours, seed); }
  Flavours apply(const LinearOperator& a, const Flavours& psi, Dagger dagger) const {
    SpinorField in = a.field(), out = a.field();
    twisted::upload_all(psi, in, find_basis("non_relativistic"));
    a.apply(out, in, dagger);
    return twisted::download_all(out, find_basis("non_relativistic"));
  }
};

class TwistedDoublet : public Twisted {};

using support::rounding;

TEST_P(Twisted, MatrixIsWhatItsDefinitionSays) {
  const WilsonHopping h = hopping();
  const Dense dense(gauge_, parameters(GetParam()));
  const Flavours psi = random(1);
  for (const bool dagger : {false, true})
    EXPECT_LT(
        twisted::deviation(apply(WilsonMatrix(h), psi, dagger ? Dagger::yes : Dagger::no), dense.matrix(psi, dagger)),
        rounding);
}

TEST_P(Twisted, WrongSignsAreFarAway) {
  const Flavours psi = random(1), ours = apply(WilsonMatrix(hopping()), psi, Dagger::no);
  EXPECT_GT(twisted::deviation(ours, Dense(gauge_, parameters(GetParam(), -1)).matrix(psi)), 0.05);
  if (GetParam().flavours == 1) return;
  WilsonParameters other = parameters(GetParam());
  other.twist.epsilon *= -1;
  EXPECT_GT(twisted::deviation(ours, Dense(gauge_, other).matrix(psi)), 0.05);
}

TEST_P(Twisted, ConjugateIsGamma5TimesTheOppositeTwist) {
  // M(mu)^+ = gamma_5 M(-mu) gamma_5, for two flavours likewise: tau_1 commutes with gamma_5.
  const Flavours psi = random(3);
  const Flavours left = apply(WilsonMatrix(hopping()), psi, Dagger::yes);
  const Flavours right = twisted::gamma5(apply(WilsonMatrix(hopping(-1)), twisted::gamma5(psi), Dagger::no));
  EXPECT_LT(twisted::deviation(left, right), rounding);
}

TEST_P(Twisted, EvenOddFormsAreTheSchurComplement) {
  const WilsonHopping h = hopping();
  const Dense dense(gauge_, parameters(GetParam()));
  const Flavours even = twisted::half(random(5), Parity::even);
  for (const Reduction form : {Reduction::symmetric, Reduction::asymmetric})
    for (const bool dagger : {false, true}) {
      const Flavours ours = apply(WilsonEvenOdd(h, form), even, dagger ? Dagger::yes : Dagger::no);
      EXPECT_LT(twisted::deviation(ours, dense.even_odd(even, form, dagger)), rounding) << dagger;
    }
}

TEST_P(Twisted, SiteTermHasItsInverseAndDeterminant) {
  const WilsonHopping h = hopping();
  const Dense dense(gauge_, parameters(GetParam()));
  const Flavours psi = random(7);
  for (const bool dagger : {false, true}) {
    SpinorField in = h.field(Subset::full, 2), out = h.field(Subset::full, 2);
    in.fill(0);
    twisted::upload_all(psi, in, h.basis(), 1);
    for (const Parity parity : {Parity::even, Parity::odd})
      h.apply_inverse_term(out, 0.7, in, parity, dagger ? Dagger::yes : Dagger::no);
    const Flavours ours = twisted::download_all(out, h.basis(), 1);
    EXPECT_LT(twisted::deviation(dense.multiply(ours, dagger), twisted::combine(0.7, psi, 0, psi)), rounding);
  }
  double log_det[2] = {0, 0};
  dense.divide(psi, false, log_det);
  for (const Parity parity : {Parity::even, Parity::odd})
    EXPECT_NEAR(h.term().log_det(parity, gauge_.lattice.half_sites()) / log_det[int(parity)], 1, 1e-13);
}

struct Form {
  const char *reduction, *precision, *method;
};

TEST_P(Twisted, SolvesReachTheTrueResidual) {
  const WilsonParameters p = parameters(GetParam());
  const Dense dense(gauge_, p);
  for (const Form& form : {Form{"none", "double", "cg"},
                           {"symmetric", "double", "cg"},
                           {"asymmetric", "double", "cg"},
                           {"symmetric", "double", "bicgstab"},
                           {"symmetric", "double-half", "cg"},
                           {"asymmetric", "double-half", "cg"}}) {
    if (p.twist.flavours == 2 && std::string_view(form.precision) == "double-half" &&
        !support::has("apply_doublet_twist", "half"))
      continue;
    SolveSettings s;
    s.method = method_of(form.method);
    s.reduction = reduction_of(form.reduction);
    s.precision = form.precision;
    s.options.tolerance = 1e-11;
    const WilsonSolver solver(gauge_, domain_, p, s);
    SpinorField b = solver.field(3), x = solver.field(3);
    for (int r = 0; r < 3; ++r) twisted::upload_all(random(20 + 2 * r), b, solver.basis(), r);
    const std::vector<SolveReport> reports = solver.solve_all(x, b);
    for (int r = 0; r < 3; ++r) {
      EXPECT_TRUE(reports[r].converged) << form.reduction << " " << form.precision << " " << form.method;
      const Flavours solution = twisted::download_all(x, solver.basis(), r);
      const double residual = twisted::deviation(dense.matrix(solution), random(20 + 2 * r));
      EXPECT_LE(residual, s.options.tolerance) << form.reduction << " " << form.precision << " " << form.method;
      EXPECT_NEAR(residual, reports[r].residual, 1e-3 * s.options.tolerance);
    }
  }
}

TEST_P(TwistedDoublet, SourcesAndQuarkFieldsHaveFlavours) {
  WilsonParameters p = parameters(GetParam());
  const Dense dense(gauge_, p);
  p.twist.source = 1;
  SolveSettings s;
  s.options.tolerance = 1e-12;
  const HostSpinor source = reference::random_spinor(gauge_.lattice, 3);
  Flavours all;
  for (p.twist.sink = 0; p.twist.sink < 2; ++p.twist.sink) {
    const WilsonSolver solver(gauge_, domain_, p, s);
    SpinorField b(domain_, find_precision("double"), Subset::full), quark = b.like();
    upload(source, b, solver.basis());
    EXPECT_TRUE(solver.solve_sources(quark, b)[0].converged);
    download(quark, all.emplace_back(gauge_.lattice), solver.basis());
  }
  EXPECT_LT(twisted::deviation(dense.matrix(all), {HostSpinor(gauge_.lattice), source}), 1e-11);
}

TEST_P(TwistedDoublet, WithoutTwistFlavoursAreQuarksOfTwoMasses) {
  // epsilon tau_1 is diagonal for (psi_0 +- psi_1) / sqrt 2, whose masses are m +- epsilon.
  WilsonParameters p = parameters(GetParam());
  p.twist.mu = 0;
  const auto links =
      std::make_shared<LinkField>(upload(gauge_, domain_, find_precision("double"), find_storage("r12")));
  const LinkField plain = upload(gauge_, domain_, find_precision("double"), find_storage("r18"));
  const WilsonHopping both(links, find_precision("double"), find_basis("non_relativistic"), p, &plain);
  const Flavours psi = random(9), ours = apply(WilsonMatrix(both), psi, Dagger::no);
  for (const double sign : {1.0, -1.0}) {
    WilsonParameters one = p;
    one.mass += sign * p.twist.epsilon;
    one.twist = {};
    const WilsonHopping alone(links, find_precision("double"), find_basis("non_relativistic"), one, &plain);
    const Flavours sum = {reference::combine(1, psi[0], sign, psi[1])};
    EXPECT_LT(twisted::deviation({reference::combine(1, ours[0], sign, ours[1])},
                                 apply(WilsonMatrix(alone), sum, Dagger::no)),
              rounding);
  }
}

TEST(TwistedSettings, ImpossibleOnesAreRefused) {
  const HostGauge gauge = unit_gauge(Lattice({4, 4, 4, 4}));
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  WilsonParameters p;
  p.twist.epsilon = 0.1;
  EXPECT_THROW(WilsonSolver(gauge, domain, p, {}), UsageError);  // one flavour has no tau_1
  p.twist.flavours = 2;
  p.twist.epsilon = 4;  // (4 + m)^2 = epsilon^2
  EXPECT_THROW(WilsonSolver(gauge, domain, p, {}), UsageError);
}

std::vector<Case> cases(int least_flavours) {
  std::vector<Case> all;
  for (const auto& device : support::devices())
    for (const double csw : {0.0, 1.2})
      for (int flavours = least_flavours; flavours <= 2; ++flavours) all.push_back({device, csw, flavours});
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return support::test_name(fmt::format("{}_{}_{}", c.device->name(), c.csw == 0 ? "mass" : "clover", c.flavours));
}

INSTANTIATE_TEST_SUITE_P(Actions, Twisted, testing::ValuesIn(cases(1)), case_name);
INSTANTIATE_TEST_SUITE_P(Actions, TwistedDoublet, testing::ValuesIn(cases(2)), case_name);

}  // namespace
