// Staggered actions: many masses, residuals of the links as they were given, free quarks, sources.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/solve/mass_solver.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/dense.hpp"
#include "tests/rounded.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::Vectors;

Action staggered_action(const std::string& name, double mass = 0.1) {
  std::map<std::string, double> p = {{"mass", mass}};
  if (name == "asqtad") p["u0"] = 0.9;
  if (name == "hisq") p["naik_epsilon"] = -0.1;
  return {name, p};
}

/// An action on a small lattice, by the solver and by the reference.
struct StaggeredSystem {
  StaggeredSystem(const std::shared_ptr<Device>& device, const std::string& name)
      : name(name), improved(name != "staggered"), gauge(weak_gauge(Lattice({4, 4, 4, 8}), 0.4, 3)) {
    domain = std::make_shared<Domain>(gauge.lattice, device, Communicator::self(), action.reach());
  }
  /// Leaves links with the digits of single precision: of improved actions the long ones, which are given then.
  void round() {
    if (!improved) {
      gauge = support::rounded(gauge);
      return;
    }
    dense::FatAndLong links = dense::made_links(action, gauge, domain);
    links.longs = support::rounded(links.longs);
    action = dense::with_links(action, links);
  }
  SolveSettings settings(const std::string& precision, const std::string& links, double tolerance) const {
    SolveSettings s;
    s.method = Method::cg;
    s.precision = precision;
    s.links = links;
    s.options.tolerance = tolerance;
    return s;
  }
  double residual(const Vectors& b, const Vectors& x, double mass) const {
    const Action with(action.values().with("mass", mass), action.setting());
    if (!improved) return dense::deviation(dense::DenseAction(with, gauge).matrix(x), b);
    const dense::FatAndLong links = dense::made_links(with, gauge, domain);
    return dense::deviation(dense::DenseAction(with, links.fat, links.longs).matrix(x), b);
  }
  SpinorField field(int rhs) const { return {domain, find_precision("double"), Subset::full, rhs, 1}; }
  Vectors random(unsigned seed) const { return dense::random(gauge.lattice, 1, seed, 1); }

  std::string name;
  bool improved;
  HostGauge gauge;
  Action action = staggered_action(name);
  DomainPointer domain;
};

class Staggered : public testing::TestWithParam<const char*> {};

TEST_P(Staggered, ManyMassesReachTheirTrueResiduals) {
  const std::vector<double> masses = {0.2, 0.05, 0.5, 0.1};
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    for (const char* precision : {"double", "double-single", "double-half"}) {
      const MassSolver solver(s.action, masses, s.gauge, s.domain,
                              s.settings(precision, s.improved ? "r13" : "r18", 1e-11));
      Vectors point(1, HostSpinor(s.gauge.lattice));
      point[0].site[s.gauge.lattice.index({1, 2, 0, 3})][1] = 1;
      for (const Vectors& source : {s.random(8), point}) {
        SpinorField b = s.field(1), x = s.field(int(masses.size()));
        dense::put(source, b);
        x.fill(255);
        const std::vector<SolveReport> reports = solver.solve(x, b);
        for (int k = 0; k < int(masses.size()); ++k) {
          EXPECT_TRUE(reports[k].converged) << precision << " mass " << masses[k];
          EXPECT_LE(s.residual(source, dense::get(x, find_basis("degrand_rossi"), k), masses[k]), 1.2e-11)
              << precision << " mass " << masses[k];
        }
        EXPECT_LT(reports[2].iterations, reports[1].iterations);
      }
    }
  }
}

TEST_P(Staggered, ResidualsAreThoseOfTheLinksAsTheyWereGiven) {
  for (const auto& device : support::devices()) {
    StaggeredSystem s(device, GetParam());
    s.round();
    const Vectors source = s.random(7);
    SpinorField b = s.field(1), x = s.field(1), many = s.field(2);
    dense::put(source, b);
    const std::vector<double> masses = {0.2, 0.1};
    using Names = std::vector<const char*>;
    for (const char* links : s.improved ? Names{"r13", "r9"} : Names{"r12"})
      for (const char* precision : {"double", "double-half"}) {
        if (s.improved && !support::built(precision, links, "improved_staggered", "", 1)) continue;
        const std::string both = std::string("r18-") + links;
        const auto check = [&](const SolveReport& r, const SpinorField& of, int k, double mass,
                               const std::string& used) {
          EXPECT_TRUE(r.converged) << precision << " " << links;
          EXPECT_NEAR(s.residual(source, dense::get(of, find_basis("degrand_rossi"), k), mass), r.residual,
                      0.1 * r.residual)
              << precision << " " << links;
          EXPECT_EQ(r.links, used);
        };
        const SolveSettings settings = s.settings(precision, links, 1e-12);
        const SolveReport one = Solver(s.action, s.gauge, s.domain, settings).solve(x, b);
        check(one, x, 0, 0.1, both);
        const auto reports = MassSolver(s.action, masses, s.gauge, s.domain, settings).solve(many, b);
        for (int k = 0; k < 2; ++k)
          check(reports[k], many, k, masses[k], std::string_view(precision) == "double" ? "r18" : both);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Actions, Staggered, testing::Values("staggered", "asqtad", "hisq"),
                         [](const auto& info) { return info.param; });

TEST(StaggeredFree, PlaneWavesHaveTheImprovedDispersion) {
  // Free HISQ: M^+ M = (2m)^2 + sum (2 sin p + 2 naik sin 3p + ...)^2; with one-link weight 9/8 and Naik -1/24.
  const Lattice lattice({8, 8, 8, 8});
  const HostGauge gauge = unit_gauge(lattice);
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(lattice, device, Communicator::self(), 3);
    const auto dirac = dense::dirac({"hisq", {{"mass", 0.3}}, {1, 1, 1, 1}}, gauge, domain, "r13");
    const double p = std::acos(-1.0) / 2;  // of momentum 2 pi 2/8 in y, which eta does not change
    Vectors wave(1, HostSpinor(lattice));
    for (long long i = 0; i < lattice.sites(); ++i) wave[0].site[i][0] = std::polar(1.0, p * lattice.coordinates(i)[1]);
    const Vectors result = dense::apply(dirac->matrix(), dense::apply(dirac->matrix(), wave), Dagger::yes);
    const double derivative = 2 * (9.0 / 8 * std::sin(p) - 1.0 / 24 * std::sin(3 * p));
    EXPECT_LE(dense::deviation(result, dense::combine(0.36 + derivative * derivative, wave, 0, wave)), 1e-13);
  }
}

TEST(StaggeredSources, CornerWallIsOneCornerOfEachCube) {
  const Lattice lattice({4, 6, 4, 8});
  const HostSpinor source = make_source(source_of("corner-wall:3", lattice), lattice, 0, 2);
  int corners = 0;
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const bool corner = x[3] == 3 && x[0] % 2 == 0 && x[1] % 2 == 0 && x[2] % 2 == 0;
    corners += corner;
    EXPECT_EQ(source.site[i][2], corner ? 1.0 : 0.0) << i;
  }
  EXPECT_EQ(corners, 4 * 6 * 4 / 8);
}

TEST(StaggeredErrors, NameWhatIsWrong) {
  const auto device = Device::cpu();
  EXPECT_THROW(Domain(Lattice({4, 2, 4, 4}), device, Communicator::self(), 3), WrongLattice);
  const StaggeredSystem s(device, "asqtad");
  EXPECT_THROW(Action("asqtad", {{"mass", 0.1}, {"u0", 0}}), UsageError);
  const auto massless = dense::dirac(staggered_action("asqtad", 0), s.gauge, s.domain);
  EXPECT_THROW(massless->even_odd_operator(EvenOddForm::symmetric, 1), UsageError);
  const auto narrow = std::make_shared<Domain>(s.gauge.lattice, device);
  EXPECT_THROW(Solver(s.action, s.gauge, narrow, s.settings("double", "r18", 1e-11)), UsageError);
  HostGauge broken = s.gauge;
  broken.site[5][2][0] += 1e-3;
  EXPECT_THROW(upload_scaled(broken, s.domain, find_precision("double"), find_storage("r13"), 3), NotSU3);
}

}  // namespace
