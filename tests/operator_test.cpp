// Every action of the build against dense matrices, on every device: M and M^+, even-odd forms, site terms, solves.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/actions/hopping_dirac.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::DenseAction;
using dense::Vectors;
using support::rounding;

/// An action and all of its parameters.
struct ActionCase {
  std::shared_ptr<Device> device;
  std::string label, name;
  ActionValues::Given values;
  int slices = 1;
};

std::vector<ActionCase> action_cases() {
  using Value = ActionValues::Value;
  const std::vector<ActionCase> all = {
      {{}, "wilson", "wilson", {{"mass", {-0.1}}, {"xi0", {1.3}}, {"nu", {0.8}}}},
      {{}, "clover", "clover", {{"mass", {-0.1}}, {"xi0", {1.3}}, {"nu", {0.8}}, {"csw_r", {1.1}}, {"csw_t", {0.9}}}},
      {{}, "twisted_mass", "twisted_mass", {{"mass", {-0.15}}, {"mu", {0.35}}}},
      {{}, "twisted_doublet", "twisted_doublet", {{"mass", {-0.15}}, {"mu", {0.35}}, {"epsilon", {0.22}}}},
      {{},
       "twisted_clover",
       "twisted_clover",
       {{"mass", {-0.15}}, {"mu", {0.35}}, {"csw_r", {1.2}}, {"csw_t", {0.96}}}},
      {{},
       "twisted_clover_doublet",
       "twisted_clover_doublet",
       {{"mass", {-0.15}}, {"mu", {0.35}}, {"epsilon", {0.22}}, {"csw_r", {1.2}}, {"csw_t", {0.96}}}},
      {{}, "naive", "naive", {{"mass", {0.4}}, {"mu", {0.3}}}},
      {{}, "staggered", "staggered", {{"mass", {0.1}}}},
      {{}, "asqtad", "asqtad", {{"mass", {0.1}}, {"u0", {0.9}}}},
      {{}, "hisq", "hisq", {{"mass", {0.1}}, {"naik_epsilon", {-0.1}}}},
      {{}, "given_links", "improved_staggered", {{"mass", {0.1}}}},
      {{}, "domain_wall", "domain_wall", {{"mass", {0.1}}, {"m5", {1.8}}}, 6},
      {{}, "moebius", "moebius", {{"mass", {0.1}}, {"m5", {1.6}}, {"b5", {1.5}}, {"c5", {0.5}}}, 4},
      {{},
       "slices",
       "moebius",
       {{"mass", {0.07}},
        {"m5", {1.7}},
        {"b5", {1.2, Value(1.3, 0.05), Value(1.4, 0.1), Value(1.5, 0.15), Value(1.6, 0.2)}},
        {"c5", {0.2, Value(0.3, 0.05), Value(0.4, 0.1), Value(0.5, 0.15), Value(0.6, 0.2)}}},
       5},
      {{}, "d234", "d234", {{"mass", {0.2}}, {"b", {0.16}}, {"c", {0.08}}}},
      {{}, "brillouin", "brillouin", {{"mass", {0.2}}}}};
  std::vector<ActionCase> cases;
  for (const auto& device : support::devices())
    for (const ActionCase& c : all)
      if (find_action(c.name).has_hops() || support::has(c.name, "double")) cases.emplace_back(c).device = device;
  return cases;
}

class Operators : public testing::TestWithParam<ActionCase> {
 protected:
  static Action action_of(const ActionCase& c, Action::Setting setting) {
    return Action({find_action(c.name), c.values, c.slices}, std::move(setting));
  }
  Action make_action() const {
    Action::Setting setting{.boundary = {1, -1, 1, -1}};
    if (GetParam().label != "given_links") return action_of(GetParam(), setting);
    const Action asqtad("asqtad", {{"mass", 0.1}, {"u0", 0.8}}, setting.boundary);
    return dense::with_links(asqtad, dense::made_links(asqtad, gauge_, domain_));
  }
  DenseAction dense_of(const Action& a) const {
    if (a.reach() == 1) return {a, gauge_};
    const dense::FatAndLong links = dense::made_links(a, gauge_, domain_);
    return {a, links.fat, links.longs};
  }
  std::unique_ptr<DiracOperator> dirac(const Action& a, const std::string& storage = "r18") const {
    return dense::dirac(a, gauge_, domain_, storage);
  }
  std::unique_ptr<DiracOperator> dirac() const { return dirac(action_); }
  Vectors random(unsigned seed) const { return dense::random(gauge_.lattice, action_.slices(), seed, action_.spins()); }
  bool is_wall() const { return !action_.info().chain.empty(); }
  bool is_dense() const { return action_.info().has_hops(); }
  bool hops_along_the_links() const { return is_dense() && action_.info().turns; }

  HostGauge gauge_ = weak_gauge(Lattice({4, 4, 4, 8}), 0.4, 8);
  DomainPointer domain_ = std::make_shared<Domain>(gauge_.lattice, GetParam().device, Communicator::self(),
                                                   std::max(find_action(GetParam().name).reach, 2));
  Action action_ = make_action();
};

TEST_P(Operators, MatrixIsWhatItsDefinitionSays) {
  if (!is_dense()) return;  // the interpreter of formulas has those
  const Vectors psi = random(1);
  const DenseAction dense = dense_of(action_);
  for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
    const Vectors expected = dense.matrix(psi, dagger == Dagger::yes);
    EXPECT_LT(dense::deviation(dense::apply(dirac()->matrix(), psi, dagger), expected), rounding);
    if (!hops_along_the_links()) continue;
    EXPECT_LT(dense::deviation(dense::apply(dirac(action_, "r12")->matrix(), psi, dagger), expected), rounding);
  }
}

TEST_P(Operators, ConjugateIsTheAdjoint) {
  const auto check = [](const LinearOperator& a, const Vectors& phi, const Vectors& psi) {
    const Complex64 one = dense::dot(phi, dense::apply(a, psi)),
                    other = dense::dot(dense::apply(a, phi, Dagger::yes), psi);
    EXPECT_LT(std::abs(one - other), 1e-14 * dense::norm(phi) * dense::norm(psi));
    EXPECT_GT(std::abs(one), 1e-4 * dense::norm(phi) * dense::norm(psi));
  };
  const auto d = dirac();
  check(d->matrix(), random(2), random(30));
  for (const EvenOddForm form : {EvenOddForm::symmetric, EvenOddForm::asymmetric})
    if (action_.has_even_odd())
      check(*d->even_odd_operator(form, 1), dense::half(random(2), Parity::even),
            dense::half(random(30), Parity::even));
}

TEST_P(Operators, EveryParameterIsFelt) {
  if (!is_dense()) return;
  const Vectors psi = random(1), ours = dense::apply(dirac()->matrix(), psi);
  for (const ActionParameter& p : action_.info().parameters) {
    const double value = action_.values()[p.name];
    const Action other(action_.values().with(p.name, -value < p.lower ? 1.3 * value : -value), action_.setting());
    EXPECT_GT(dense::deviation(ours, dense_of(other).matrix(psi)), 1e-3) << p.name;
  }
}

TEST_P(Operators, Gamma5TurnsTwistsAndChemicalPotentialsRound) {
  // M(mu)^+ = gamma_5 M(-mu) gamma_5, for two flavours likewise: tau_1 commutes with gamma_5.
  if (action_.spins() == 1 || is_wall()) return;
  const Vectors psi = random(4), left = dense::apply(dirac()->matrix(), psi, Dagger::yes);
  const auto turned = [&](const Action& a) {
    return dense::gamma5(dense::apply(dirac(a)->matrix(), dense::gamma5(psi)));
  };
  if (!action_.values().has("mu")) {
    EXPECT_LT(dense::deviation(turned(action_), left), rounding);
    return;
  }
  const Action other(action_.values().with("mu", -action_.values()["mu"]), action_.setting());
  EXPECT_LT(dense::deviation(turned(other), left), rounding);
  EXPECT_GT(dense::deviation(turned(action_), left), 0.05);
}

TEST_P(Operators, EvenOddFormsAreSchurComplements) {
  if (!action_.has_even_odd() || is_wall()) return;
  const auto d = dirac();
  const DenseAction dense = dense_of(action_);
  const Vectors even = dense::half(random(5), Parity::even);
  for (const EvenOddForm form : {EvenOddForm::symmetric, EvenOddForm::asymmetric})
    for (const bool dagger : {false, true}) {
      const auto reduced = d->even_odd_operator(form, 1);
      const Vectors ours = dense::apply(*reduced, even, dagger ? Dagger::yes : Dagger::no);
      EXPECT_EQ(reduced->hermitian(), action_.is_squared());
      if (!action_.is_squared()) {
        EXPECT_LT(dense::deviation(ours, dense.even_odd(even, form, dagger)), rounding) << dagger;
        continue;
      }
      const Vectors square = dense.matrix(dense.matrix(even), true);  // it does not mix parities
      EXPECT_LT(dense::deviation(ours, square), rounding);
      EXPECT_EQ(reduced->residual_scale(), 1 / (2 * action_.values()["mass"]));
    }
  if (!action_.is_squared()) return;
  const Vectors odd = dense::half(random(5), Parity::odd);
  EXPECT_LT(dense::deviation(dense::apply(*d->square(Parity::odd, 1), odd), dense.matrix(dense.matrix(odd), true)),
            rounding);
}

TEST_P(Operators, EvenOddFormsSolveTheSameSystem) {
  if (!action_.has_even_odd()) return;
  for (const EvenOddForm form : {EvenOddForm::symmetric, EvenOddForm::asymmetric})
    EXPECT_LT(dense::even_odd_deviation(*dirac(), form, random(3)), rounding);
}

TEST_P(Operators, SiteTermHasItsInverseAndDeterminant) {
  const auto d = dirac();
  const auto* hopping = dynamic_cast<const HoppingDirac*>(d.get());
  if (hopping == nullptr || !hopping->hopping().has_term()) return;
  const HoppingTerm& h = hopping->hopping();
  const DenseAction dense = dense_of(action_);
  const Vectors psi = random(7);
  for (const bool dagger : {false, true}) {
    SpinorField in = h.field(Subset::full, 2), out = h.field(Subset::full, 2);
    in.fill(0);
    dense::put(psi, in, h.basis(), 1);
    for (const Parity parity : {Parity::even, Parity::odd})
      h.apply_inverse_term(out, 0.7, in, parity, dagger ? Dagger::yes : Dagger::no);
    const Vectors ours = dense::get(out, h.basis(), 1);
    EXPECT_LT(dense::deviation(dense.multiply(ours, dagger), dense::combine(0.7, psi, 0, psi)), rounding);
  }
  double log_det[2] = {0, 0};
  dense.divide(psi, false, log_det);
  for (const Parity parity : {Parity::even, Parity::odd})
    EXPECT_NEAR(h.term().log_det(parity, gauge_.lattice.half_sites()) / log_det[int(parity)], 1, 1e-13);
}

TEST_P(Operators, SolvesReachTheTrueResidual) {
  if (!is_dense()) return;
  const DenseAction dense = dense_of(action_);
  const ActionInfo& info = action_.info();
  const bool given = GetParam().label == "given_links", complex = GetParam().label == "slices";
  std::vector<std::string> storages = {given ? "r18" : action_.default_links("r12")};
  if (info.reach > 1 && !given) storages.push_back("r9");
  if (info.reach > 1 && !given) storages.push_back("r18");
  for (const auto& [form, precision, method] : {std::tuple{"none", "double", "cg"},
                                                {"symmetric", "double", "cg"},
                                                {"asymmetric", "double", "cg"},
                                                {"symmetric", "double", "auto"},
                                                {"symmetric", "double-single", "cg"},
                                                {"symmetric", "double-half", "cg"},
                                                {"asymmetric", "double-half", "cg"}})
    for (const std::string& storage : storages) {
      const std::string low = std::string(precision).substr(std::string(precision).find('-') + 1);
      if (low != "double" && (complex || !support::has(info.with_term, low))) continue;
      if (!support::built(precision, storage, info.hopping, info.has_basis ? "non_relativistic" : "", info.spins))
        continue;
      // Colour vectors on all sites are of profile full.
      if (std::string_view(form) == "none" &&
          try_find(GetParam().device->kernels(),
                   {.operation = "cg_curvature", .precision = "double", .spins = info.spins}) == nullptr)
        continue;
      SCOPED_TRACE(fmt::format("{} {} {} {}", form, precision, method, storage));
      SolveSettings s;
      s.method = method_of(method);
      s.even_odd_form = even_odd_form_of(form);
      s.precision = precision;
      s.links = storage;
      s.options.tolerance = 1e-11;
      const Solver solver(action_, gauge_, domain_, s);
      SpinorField b = solver.field(3), x = solver.field(3);
      for (int r = 0; r < 3; ++r) dense::put(random(20 + 10 * r), b, solver.basis(), r);
      x.fill(255);
      const std::vector<SolveReport> reports = solver.solve_all(x, b);
      for (int r = 0; r < 3; ++r) {
        EXPECT_TRUE(reports[r].converged);
        const Vectors solution = dense::get(x, solver.basis(), r);
        const double residual = dense::deviation(dense.matrix(solution), random(20 + 10 * r));
        EXPECT_LE(residual, 1.1 * s.options.tolerance);
        EXPECT_NEAR(residual, reports[r].residual, 0.1 * s.options.tolerance);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Actions, Operators, testing::ValuesIn(action_cases()), [](const auto& info) {
  return support::test_name(info.param.device->name()) + "_" + info.param.label;
});

TEST(Doublets, SourcesAndQuarkFieldsHaveFlavours) {
  for (const auto& device : support::devices()) {
    const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.5, 8);
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    const ActionValues values(find_action("twisted_doublet"), {{"mass", -0.15}, {"mu", 0.35}, {"epsilon", 0.22}});
    SolveSettings s;
    s.options.tolerance = 1e-12;
    const HostSpinor source = reference::random_spinor(gauge.lattice, 3);
    Vectors all;
    for (const int sink : {0, 1}) {
      const Solver solver(Action(values, {.source = 1, .sink = sink}), gauge, domain, s);
      SpinorField b(domain, find_precision("double"), Subset::full), quark = b.like();
      upload(source, b, solver.basis());
      EXPECT_TRUE(solver.solve_sources(quark, b)[0].converged);
      all.push_back(dense::get_one(quark, solver.basis()));
    }
    const DenseAction dense(Action(values), gauge);
    EXPECT_LT(dense::deviation(dense.matrix(all), {HostSpinor(gauge.lattice), source}), 1e-11);
  }
}

TEST(Doublets, WithoutTwistFlavoursAreQuarksOfTwoMasses) {
  // epsilon tau_1 is diagonal for (psi_0 +- psi_1) / sqrt 2, whose masses are m +- epsilon.
  for (const auto& device : support::devices())
    for (const double csw : {0.0, 1.2}) {
      const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.5, 8);
      const auto domain = std::make_shared<Domain>(gauge.lattice, device);
      std::map<std::string, double> p = {{"mass", -0.15}, {"mu", 0}, {"epsilon", 0.22}};
      if (csw != 0) p["csw_r"] = p["csw_t"] = csw;
      const Action both(csw == 0 ? "twisted_doublet" : "twisted_clover_doublet", p);
      const Vectors psi = dense::random(gauge.lattice, 2, 9),
                    ours = dense::apply(dense::dirac(both, gauge, domain)->matrix(), psi);
      for (const double sign : {1.0, -1.0}) {
        const auto alone = dense::dirac(dense::wilson(-0.15 + sign * 0.22, csw), gauge, domain);
        const Vectors sum = {reference::combine(1, psi[0], sign, psi[1])};
        EXPECT_LT(dense::deviation({reference::combine(1, ours[0], sign, ours[1])}, dense::apply(alone->matrix(), sum)),
                  rounding);
      }
    }
}

TEST(Doublets, SingularSiteTermsAreRefused) {
  const HostGauge gauge = unit_gauge(Lattice({4, 4, 4, 4}));
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const Action singular("twisted_doublet", {{"mass", 0}, {"mu", 0}, {"epsilon", 4}});  // (4 + m)^2 = epsilon^2
  EXPECT_THROW(dense::dirac(singular, gauge, domain)->even_odd_operator(EvenOddForm::symmetric, 1), UsageError);
}

}  // namespace
