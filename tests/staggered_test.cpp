// Staggered actions: operators against the dense reference, the even-odd form, solves to the true residual.
#include "solvers/actions/staggered.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/solve.hpp"
#include "solvers/measure/source.hpp"
#include "solvers/actions/staggered_masses.hpp"
#include "tests/reference/operators.hpp"
#include "tests/rounded.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::operator*;
using Kind = StaggeredParameters::Kind;

/// An action on a small lattice, by the solver and by the reference.
struct StaggeredSystem {
  StaggeredSystem(const std::shared_ptr<Device>& device, Kind kind, const Coordinates& extent = {4, 4, 4, 8})
      : lattice(extent), gauge(weak_gauge(lattice, 0.4, 3)) {
    parameters.kind = kind;
    parameters.mass = 0.1;
    parameters.u0 = 0.9;
    parameters.naik_epsilon = -0.1;
    domain = std::make_shared<Domain>(lattice, device, Communicator::self(), kind == Kind::thin ? 1 : 3);
    if (kind != Kind::thin)
      improved = std::make_shared<ImprovedLinks>(improved_links(parameters.values(), gauge, domain));
  }

  SolveSettings settings(const std::string& precision, const std::string& links) const {
    SolveSettings s;
    s.method = Method::cg;
    s.precision = precision;
    s.links = links;
    s.options.tolerance = 1e-11;
    return s;
  }
  std::shared_ptr<const StaggeredAction> action() const { return std::make_shared<StaggeredAction>(parameters); }

  /// (2m + sign D) psi
  HostSpinor apply(const HostSpinor& psi, double mass, double sign = 1) const {
    reference::Coefficients c;
    c.phase = parameters.boundary;
    const auto [matrix, masks, none] = *reference::hops_of(improved ? "improved_staggered" : "staggered");
    const HostGauge& links = improved ? improved->fat : gauge;
    const HostSpinor near = reference::combine(2 * mass, psi, sign, reference::hopping(links, psi, matrix, c, masks));
    if (!improved) return near;
    return reference::combine(1, near, sign, reference::hopping(improved->longs, psi, matrix, c, masks, 3));
  }
  double residual(const HostSpinor& b, const HostSpinor& x, double mass) const {
    return reference::residual(b, apply(x, mass));
  }

  HostSpinor download(const SpinorField& field, int rhs = 0) const {
    HostSpinor host(lattice);
    quarksmith::download(field, host, find_basis("degrand_rossi"), rhs);
    return host;
  }
  SpinorField upload(const HostSpinor& host) const {
    SpinorField field(domain, find_precision("double"), Subset::full, 1, 1);
    quarksmith::upload(host, field, find_basis("degrand_rossi"));
    return field;
  }

  Lattice lattice;
  HostGauge gauge;
  StaggeredParameters parameters;
  DomainPointer domain;
  std::shared_ptr<const ImprovedLinks> improved;
};

/// Random colour vectors.
HostSpinor random_colour(const Lattice& lattice, unsigned seed) {
  HostSpinor psi = reference::random_spinor(lattice, seed);
  for (HostSite& site : psi.site) std::fill(site.begin() + 3, site.end(), 0);
  return psi;
}

class Staggered : public testing::TestWithParam<Kind> {};

TEST_P(Staggered, MatrixAndConjugateAgreeWithTheDenseReference) {
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    const Solver solver(s.action(), s.gauge, s.domain, s.settings("double", "r18"));
    const HostSpinor psi = random_colour(s.lattice, 5);
    const SpinorField in = s.upload(psi);
    SpinorField out = in.like();
    for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
      solver.dirac().matrix().apply(out, in, dagger);
      const HostSpinor expected = s.apply(psi, s.parameters.mass, dagger == Dagger::no ? 1 : -1);
      EXPECT_LE(support::compare(s.download(out), expected).norm, 1e-14);
    }
  }
}

TEST_P(Staggered, HoppingTermIsAntiHermitian) {
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    const LinkStore links(s.gauge, s.domain, "r18", "non_relativistic");
    const HoppingTerm hopping = s.action()->hopping(links, find_precision("double"));
    const HostSpinor chi = random_colour(s.lattice, 1), psi = random_colour(s.lattice, 2);
    const SpinorField x = s.upload(chi), y = s.upload(psi);
    SpinorField dx = x.like(), dy = y.like();
    dx.fill(0), dy.fill(0);
    hopping.apply(dy, y, Parity::even, Dagger::no);  // D_eo psi
    hopping.apply(dx, x, Parity::odd, Dagger::no);   // D_oe chi
    const Complex64 left = reference::dot(chi, s.download(dy)), right = reference::dot(s.download(dx), psi);
    const double size = std::sqrt(reference::dot(chi, chi).real() * reference::dot(psi, psi).real());
    EXPECT_GT(std::abs(left), 1e-3 * size);
    EXPECT_LE(std::abs(left + right), 1e-14 * size);  // D_eo^+ = -D_oe
  }
}

TEST_P(Staggered, EvenOddFormIsTheSchurComplement) {
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    const LinkStore links(s.gauge, s.domain, "r18", "non_relativistic");
    const HoppingTerm hopping = s.action()->hopping(links, find_precision("double"));
    const double m = s.parameters.mass;
    for (const Parity parity : {Parity::even, Parity::odd}) {
      const HermitianEvenOdd reduced(hopping, 1, parity);
      HostSpinor psi = random_colour(s.lattice, 3);
      for (long long i = 0; i < s.lattice.sites(); ++i)
        if (Lattice::parity(s.lattice.coordinates(i)) != parity) psi.site[i] = {};
      SpinorField in = reduced.field(), out = reduced.field();
      upload(psi, in, find_basis("degrand_rossi"));
      reduced.apply(out, in, Dagger::no);
      const HostSpinor expected = s.apply(s.apply(psi, m, -1), m);  // (2m + D)(2m - D)
      EXPECT_LE(support::compare(s.download(out), expected).norm, 1e-14);
    }
  }
}

TEST_P(Staggered, SolvesReachTheTrueResidual) {
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    for (const char* links : {"r18", "r13", "r9"}) {
      if (!s.improved && std::string_view(links) != "r18") continue;
      for (const char* precision : {"double", "double-single", "double-half"}) {
        if (std::string_view(precision) != "double" && std::string_view(links) == "r18" && s.improved) continue;
        if (s.improved && !support::built(precision, links, "improved_staggered", "", 1)) continue;
        const Solver solver(s.action(), s.gauge, s.domain, s.settings(precision, links));
        const HostSpinor source = random_colour(s.lattice, 7);
        const SpinorField b = s.upload(source);
        SpinorField x = b.like();
        x.fill(255);
        const SolveReport r = solver.solve(x, b);
        EXPECT_TRUE(r.converged) << precision << " " << links;
        EXPECT_LE(s.residual(source, s.download(x), s.parameters.mass), 1.1e-11) << precision << " " << links;
      }
    }
  }
}

TEST_P(Staggered, ManyMassesReachTheirTrueResiduals) {
  const std::vector<double> masses = {0.2, 0.05, 0.5, 0.1};
  for (const auto& device : support::devices()) {
    const StaggeredSystem s(device, GetParam());
    for (const char* precision : {"double", "double-single", "double-half"}) {
      const StaggeredMassSolver solver(*s.action(), masses, s.gauge, s.domain,
                                       s.settings(precision, s.improved ? "r13" : "r18"));
      HostSpinor point(s.lattice);
      point.site[s.lattice.index({1, 2, 0, 3})][1] = 1;
      for (const HostSpinor& source : {random_colour(s.lattice, 8), point}) {
        const SpinorField b = s.upload(source);
        SpinorField x(s.domain, b.precision(), Subset::full, int(masses.size()), 1);
        x.fill(255);
        const std::vector<SolveReport> reports = solver.solve(x, b);
        for (int k = 0; k < int(masses.size()); ++k) {
          EXPECT_TRUE(reports[k].converged) << precision << " mass " << masses[k];
          EXPECT_LE(s.residual(source, s.download(x, k), masses[k]), 1.2e-11) << precision << " mass " << masses[k];
        }
        EXPECT_LT(reports[2].iterations, reports[1].iterations);
      }
    }
  }
}

TEST_P(Staggered, ResidualsAreThoseOfTheLinksAsTheyWereGiven) {
  for (const auto& device : support::devices()) {
    StaggeredSystem s(device, GetParam());
    if (s.improved) {
      s.improved = std::make_shared<ImprovedLinks>(ImprovedLinks{s.improved->fat, support::rounded(s.improved->longs)});
    } else {
      s.gauge = support::rounded(s.gauge);
    }
    const auto action = std::make_shared<StaggeredAction>(s.parameters, s.improved);
    const HostSpinor source = random_colour(s.lattice, 7);
    const SpinorField b = s.upload(source);
    const std::vector<double> masses = {0.2, 0.1};
    using Names = std::vector<const char*>;
    for (const char* links : s.improved ? Names{"r13", "r9"} : Names{"r12"})
      for (const char* precision : {"double", "double-half"}) {
        if (s.improved && !support::built(precision, links, "improved_staggered", "", 1)) continue;
        const std::string both = std::string("r18-") + links;
        const auto check = [&](const SolveReport& r, const HostSpinor& x, double mass, const std::string& used) {
          EXPECT_TRUE(r.converged) << precision << " " << links;
          EXPECT_NEAR(s.residual(source, x, mass), r.residual, 0.1 * r.residual) << precision << " " << links;
          EXPECT_EQ(r.links, used);
        };
        SolveSettings settings = s.settings(precision, links);
        settings.options.tolerance = 1e-12;
        SpinorField x = b.like(), many(s.domain, b.precision(), Subset::full, 2, 1);
        const SolveReport one = Solver(action, s.gauge, s.domain, settings).solve(x, b);
        check(one, s.download(x), s.parameters.mass, both);
        const auto reports = StaggeredMassSolver(*action, masses, s.gauge, s.domain, settings).solve(many, b);
        for (int k = 0; k < 2; ++k)
          check(reports[k], s.download(many, k), masses[k], std::string_view(precision) == "double" ? "r18" : both);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Actions, Staggered, testing::Values(Kind::thin, Kind::asqtad, Kind::hisq),
                         [](const auto& info) {
                           return info.param == Kind::thin     ? "staggered"
                                  : info.param == Kind::asqtad ? "asqtad"
                                                               : "hisq";
                         });

TEST(StaggeredFree, PlaneWavesHaveTheImprovedDispersion) {
  // Free asqtad and HISQ: D^2 = -sum (2 sin p + 2 naik sin 3p + ...)^2; with one-link weight 9/8 and Naik -1/24.
  const Lattice lattice({8, 8, 8, 8});
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(lattice, device, Communicator::self(), 3);
    StaggeredParameters parameters;
    parameters.kind = Kind::hisq;
    parameters.mass = 0.3;
    parameters.boundary = {1, 1, 1, 1};
    const HostGauge gauge = unit_gauge(lattice);
    const LinkStore links(gauge, domain, "r13", "non_relativistic");
    const HoppingTerm hopping = StaggeredAction(parameters).hopping(links, find_precision("double"));
    const double p = std::acos(-1.0) / 2;  // of momentum 2 pi 2/8 in y, which eta does not change
    HostSpinor wave(lattice);
    for (long long i = 0; i < lattice.sites(); ++i) wave.site[i][0] = std::polar(1.0, p * lattice.coordinates(i)[1]);
    SpinorField in(domain, find_precision("double"), Subset::full, 1, 1);
    upload(wave, in, find_basis("degrand_rossi"));
    SpinorField once = in.like(), twice = in.like();
    for (SpinorField* f : {&once, &twice})
      for (const Parity parity : {Parity::even, Parity::odd})
        hopping.apply(*f, f == &once ? in : once, parity, Dagger::no);
    HostSpinor result(lattice);
    download(twice, result, find_basis("degrand_rossi"));
    const double derivative = 2 * (9.0 / 8 * std::sin(p) - 1.0 / 24 * std::sin(3 * p));
    EXPECT_LE(support::compare(result, reference::combine(-derivative * derivative, wave, 0, wave)).norm, 1e-13);
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
  StaggeredParameters parameters;
  EXPECT_THROW(StaggeredAction{parameters}, UsageError);  // m = 0
  const StaggeredSystem s(device, Kind::asqtad);
  const auto narrow = std::make_shared<Domain>(s.lattice, device);
  EXPECT_THROW(Solver(s.action(), s.gauge, narrow, s.settings("double", "r18")), UsageError);
  HostGauge broken = s.gauge;
  broken.site[5][2][0] += 1e-3;
  EXPECT_THROW(upload_scaled(broken, s.domain, find_precision("double"), find_storage("r13"), 3), NotSU3);
}

}  // namespace
