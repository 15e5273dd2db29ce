// Domain-wall and Moebius operators against their dense definition, their even-odd forms, solves and free fields.
#include "solvers/actions/domain_wall.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/solve.hpp"
#include "tests/reference/domain_wall.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::Slices;

/// Shamir, Moebius, and coefficients of each slice.
std::vector<DomainWallParameters> all_parameters() {
  DomainWallParameters z = DomainWallParameters::uniform(0.07, 1.7, 5);
  for (int s = 0; s < z.slices(); ++s) {
    z.b[s] = {1.2 + 0.1 * s, 0.05 * s};
    z.c[s] = {0.2 + 0.1 * s, 0.05 * s};
  }
  return {DomainWallParameters::uniform(0.1, 1.8, 6), DomainWallParameters::uniform(0.1, 1.6, 4, 1.5, 0.5), z};
}

reference::Moebius dense(const DomainWallParameters& p) {
  reference::Moebius m{p.m5, p.mass, p.b, p.c, {}};
  m.coefficients.phase = p.boundary;
  return m;
}

Slices random_slices(const Lattice& lattice, int slices, unsigned seed) {
  Slices all;
  for (int s = 0; s < slices; ++s) all.push_back(reference::random_spinor(lattice, seed + s));
  return all;
}

support::Deviation compare(const Slices& a, const Slices& b, Subset subset = Subset::full) {
  support::Deviation most{0, 0};
  for (std::size_t s = 0; s < a.size(); ++s) {
    const support::Deviation d = support::compare(a[s], b[s], subset);
    most = {std::max(most.norm, d.norm), std::max(most.largest, d.largest)};
  }
  return most;
}

class DomainWall : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  const BasisInfo& basis() const { return find_basis("non_relativistic"); }
  std::unique_ptr<DiracOperator> make(const DomainWallParameters& p, const HostGauge& gauge) {
    return make(DomainWallAction(p), gauge);
  }
  std::unique_ptr<DiracOperator> make(const DomainWallAction& action, const HostGauge& gauge) {
    domain_ = std::make_shared<Domain>(gauge.lattice, GetParam());
    const LinkStore links(gauge, domain_, "r12", "non_relativistic");
    return action.make(links, find_precision("double"));
  }
  void put(const Slices& from, SpinorField& to) const {
    SpinorField slices = to.by_slice();
    for (std::size_t s = 0; s < from.size(); ++s) upload(from[s], slices, basis(), static_cast<int>(s));
  }
  Slices get(const SpinorField& from) const {
    const SpinorField slices = from.by_slice();
    Slices all(slices.rhs(), HostSpinor(from.domain().lattice()));
    for (int s = 0; s < slices.rhs(); ++s) download(slices, all[s], basis(), s);
    return all;
  }
  Slices apply(const LinearOperator& a, const Slices& psi, Dagger dagger = Dagger::no) const {
    SpinorField in = a.field(), out = a.field();
    put(psi, in);
    out.fill(0xff);
    a.apply(out, in, dagger);
    return get(out);
  }
  /// Both even-odd forms lead to the x of M x = b.
  void expect_same_solutions(const DiracOperator& dirac) const {
    for (const Reduction form : {Reduction::symmetric, Reduction::asymmetric}) {
      const auto reduced = dirac.reduced(form, 1);
      SpinorField x = dirac.matrix().field(), b = x.like(), again = x.like();
      put(random_slices(lattice_, dirac.matrix().slices(), 3), x);
      dirac.matrix().apply(b, x, Dagger::no);
      // The unknown of the symmetric form is A x_e.
      SpinorField unknown = reduced->field(), right = unknown.like(), product = unknown.like();
      if (form == Reduction::symmetric) {
        dirac.walls()->a().apply(unknown, x, Parity::even, Dagger::no);
      } else {
        unknown.copy_half(Parity::even, x);
      }
      reduced->prepare(right, b);
      reduced->apply(product, unknown, Dagger::no);
      EXPECT_LT(compare(get(product), get(right), Subset::even).norm, 1e-14);
      again.fill(0xff);
      reduced->reconstruct(again, unknown, b);
      EXPECT_LT(compare(get(again), get(x)).norm, 1e-14);
    }
  }

  const Lattice lattice_{{4, 4, 4, 8}};
  const HostGauge gauge_ = hot_gauge(lattice_, 5);
  DomainPointer domain_;
};

TEST_P(DomainWall, IsWhatItsDefinitionSays) {
  for (const DomainWallParameters& p : all_parameters()) {
    const auto dirac = make(p, gauge_);
    const Slices psi = random_slices(lattice_, p.slices(), 3);
    for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
      const Slices expected = reference::domain_wall(gauge_, psi, dense(p), dagger == Dagger::yes);
      EXPECT_LT(compare(apply(dirac->matrix(), psi, dagger), expected).norm, 1e-14) << p.slices();
    }
  }
}

TEST_P(DomainWall, MoebiusWithoutItsSecondTermIsShamirs) {
  // Far below rounding, so that the general operator is used.
  DomainWallParameters p = DomainWallParameters::uniform(0.1, 1.8, 6), general = p;
  general.c.assign(6, 1e-40);
  EXPECT_EQ(DomainWallAction(p).name(), "domain-wall");
  EXPECT_EQ(DomainWallAction(general).name(), "moebius");
  const Slices psi = random_slices(lattice_, 6, 3);
  const Slices expected = apply(make(p, gauge_)->matrix(), psi);
  EXPECT_LT(compare(apply(make(general, gauge_)->matrix(), psi), expected).norm, 1e-14);
}

TEST_P(DomainWall, ShamirsIsHermitianUpToGamma5AndReflection) {
  const DomainWallParameters p = all_parameters()[0];
  const auto dirac = make(p, gauge_);
  const auto reflected = [&](const Slices& psi) {
    Slices all;
    for (int s = p.slices() - 1; s >= 0; --s) all.push_back(reference::multiply(reference::gamma5(), psi[s]));
    return all;
  };
  const Slices psi = random_slices(lattice_, p.slices(), 3);
  const Slices there = reflected(apply(dirac->matrix(), reflected(psi)));
  EXPECT_LT(compare(there, apply(dirac->matrix(), psi, Dagger::yes)).norm, 1e-14);
}

TEST_P(DomainWall, EvenOddFormsSolveTheSameSystem) {
  for (const DomainWallParameters& p : all_parameters()) expect_same_solutions(*make(p, gauge_));
}

TEST_P(DomainWall, NumbersAreThoseOfTheStatement) {
  // Another statement: a = 0.3 + 0.1i more at a site, R times 0.2i more. The operator must not know Moebius' form.
  const std::map<std::string, std::vector<SliceValue>> values = {
      {"mass", {0.1}}, {"m5", {1.6}}, {"b5", {1.5}}, {"c5", {0.5, 0.4, 0.3, SliceValue(0.2, 0.1)}}};
  const ActionInfo& moebius = find_action("moebius");
  ActionInfo more_alpha = moebius, more_beta = moebius;
  more_alpha.alpha = [](const SliceValue* p) { return find_action("moebius").alpha(p) + SliceValue(0.3, 0.1); };
  more_beta.beta = [](const SliceValue* p) { return find_action("moebius").beta(p) + SliceValue(0, 0.2); };
  const auto made = [&](const ActionInfo& info) {
    return make(DomainWallAction(SliceValues(info, 4, values), {1, 1, 1, -1}), gauge_);
  };
  const Slices psi = random_slices(lattice_, 4, 3);
  const Slices plain = apply(made(moebius)->matrix(), psi);
  Slices expected = plain;
  for (int s = 0; s < 4; ++s) expected[s] = reference::combine(1, plain[s], {0.3, 0.1}, psi[s]);
  EXPECT_LT(compare(apply(made(more_alpha)->matrix(), psi), expected).norm, 1e-14);
  for (int s = 0; s < 4; ++s) {
    const HostSpinor ahead = reference::multiply(reference::chiral_projector(-1), psi[(s + 1) % 4]);
    const HostSpinor behind = reference::multiply(reference::chiral_projector(+1), psi[(s + 3) % 4]);
    const HostSpinor around = reference::combine(s == 3 ? -0.1 : 1, ahead, s == 0 ? -0.1 : 1, behind);
    expected[s] = reference::combine(1, plain[s], {0, 0.2}, around);
  }
  EXPECT_LT(compare(apply(made(more_beta)->matrix(), psi), expected).norm, 1e-14);
  for (const ActionInfo& info : {more_alpha, more_beta}) expect_same_solutions(*made(info));
  // What stands before -R multiplies a source on the walls.
  const auto embedded = [&](const ActionInfo& info) {
    const auto dirac = made(info);
    SpinorField four(domain_, find_precision("double"), Subset::full), b = dirac->matrix().field();
    upload(psi[0], four, basis());
    dirac->embed(b, four);
    return get(b);
  };
  const Slices usual = embedded(moebius), other = embedded(more_beta);
  const HostSpinor wall = reference::multiply(reference::chiral_projector(+1), psi[0]);
  EXPECT_LT(support::compare(other[0], reference::combine(1, usual[0], {0, -0.2}, wall)).norm, 1e-14);
}

TEST_P(DomainWall, ConjugateEvenOddFormsBelongToThem) {
  for (const DomainWallParameters& p : all_parameters())
    for (const Reduction form : {Reduction::symmetric, Reduction::asymmetric}) {
      const auto dirac = make(p, gauge_);
      const auto reduced = dirac->reduced(form, 1);
      const Slices u = random_slices(lattice_, p.slices(), 3), v = random_slices(lattice_, p.slices(), 30);
      SpinorField x = reduced->field(), y = x.like(), ax = x.like(), ay = x.like();
      put(u, x), put(v, y);
      reduced->apply(ax, x, Dagger::no);
      reduced->apply(ay, y, Dagger::yes);
      const Blas blas(x);
      const Complex64 one = blas.dot(y, ax), other = blas.dot(ay, x);
      EXPECT_LT(std::abs(one - other), 1e-12 * std::sqrt(blas.norm2(ax) * blas.norm2(y)));
    }
}

TEST_P(DomainWall, SolvesReachTheTrueResidual) {
  const HostGauge gauge = weak_gauge(lattice_, 0.3, 4);
  for (const DomainWallParameters& p : all_parameters())
    for (const auto& [precision, form] :
         {std::pair{"double", "symmetric"}, {"double", "asymmetric"}, {"double-half", "symmetric"}}) {
      if (p.b[1].imag() != 0 && std::string(precision) != "double") continue;
      SolveSettings settings;
      settings.method = Method::cg;
      settings.precision = precision;
      settings.reduction = reduction_of(form);
      settings.options.tolerance = 1e-10;
      const auto domain = std::make_shared<Domain>(lattice_, GetParam());
      const Solver solver(std::make_shared<DomainWallAction>(p), gauge, domain, settings);
      constexpr int vectors = 2;
      SpinorField b = solver.field(vectors), x = b.like();
      for (int n = 0; n < vectors; ++n) {
        SpinorField one = b.columns(n, 1);
        put(random_slices(lattice_, p.slices(), 3 + 100 * n), one);
      }
      const std::vector<SolveReport> reports = solver.solve_all(x, b);
      for (int n = 0; n < vectors; ++n) {
        EXPECT_TRUE(reports[n].converged) << precision << " " << form;
        const Slices product = reference::domain_wall(gauge, get(x.columns(n, 1)), dense(p), false);
        EXPECT_LT(compare(product, get(b.columns(n, 1))).norm, 2e-10) << precision << " " << form;
      }
    }
}

TEST_P(DomainWall, SourceAndQuarkFieldStandOnTheWalls) {
  for (const DomainWallParameters& p : all_parameters()) {
    const auto dirac = make(p, gauge_);
    const HostSpinor source = reference::random_spinor(lattice_, 8);
    SpinorField four(domain_, find_precision("double"), Subset::full), b = dirac->matrix().field();
    upload(source, four, basis());
    dirac->embed(b, four);
    const Slices ours = get(b);
    const int last = p.slices() - 1;
    for (int s = 0; s <= last; ++s) {
      HostSpinor wall(lattice_);
      if (s == 0) wall = reference::multiply(reference::chiral_projector(+1), source);
      if (s == last) wall = reference::multiply(reference::chiral_projector(-1), source);
      const HostSpinor expected =
          reference::combine(1, wall, -p.c[s], reference::wall_wilson(gauge_, wall, dense(p), false));
      const HostSpinor difference = reference::combine(1, ours[s], -1, expected);
      EXPECT_LT(std::sqrt(reference::dot(difference, difference).real()), 1e-12) << s;
    }
    const Slices psi = random_slices(lattice_, p.slices(), 3);
    put(psi, b);
    const auto at = [&](int minus, int plus) {
      return reference::combine(1, reference::multiply(reference::chiral_projector(-1), psi[minus]), 1,
                                reference::multiply(reference::chiral_projector(+1), psi[plus]));
    };
    HostSpinor quark(lattice_);
    dirac->project(four, b);
    download(four, quark, basis());
    EXPECT_LT(support::compare(quark, at(0, last)).norm, 1e-15);
    dirac->midpoint(four, b);
    download(four, quark, basis());
    EXPECT_LT(support::compare(quark, at(p.slices() / 2, p.slices() / 2 - 1)).norm, 1e-15);
  }
}

TEST_P(DomainWall, FreeQuarkAtRestHasItsMassAndTheResidualOne) {
  // On a constant field D_W is -M5, and both walls see each other through tau^Ls, tau = (1 - b M5) / (1 + c M5): the
  // quark propagates with 1 / (m + tau^Ls), and |midpoint|^2 / |quark|^2 = tau^Ls.
  for (const auto& [b5, c5] : {std::pair{1.0, 0.0}, {1.5, 0.5}}) {
    const int slices = 8;
    DomainWallParameters p = DomainWallParameters::uniform(0.05, 1.3, slices, b5, c5);
    p.boundary = {1, 1, 1, 1};
    SolveSettings settings;
    settings.method = Method::cg;
    settings.options.tolerance = 1e-13;
    const auto domain = std::make_shared<Domain>(lattice_, GetParam());
    const Solver solver(std::make_shared<DomainWallAction>(p), unit_gauge(lattice_), domain, settings);
    HostSpinor constant(lattice_), quark(lattice_), middle(lattice_);
    for (HostSite& site : constant.site)
      for (int k = 0; k < 12; ++k) site[k] = {1.0 + k, 0.5 * k};
    SpinorField four(domain, find_precision("double"), Subset::full), b = solver.field(), x = b.like();
    upload(constant, four, solver.basis());
    solver.dirac().embed(b, four);
    EXPECT_TRUE(solver.solve(x, b).converged);
    solver.dirac().project(four, x);
    download(four, quark, solver.basis());
    solver.dirac().midpoint(four, x);
    download(four, middle, solver.basis());
    const double tau = std::pow((1 - b5 * p.m5) / (1 + c5 * p.m5), slices);
    EXPECT_LT(support::compare(quark, reference::combine(1 / (p.mass + tau), constant, 0, constant)).norm, 1e-11);
    EXPECT_NEAR(reference::dot(middle, middle).real() / reference::dot(quark, quark).real() / tau, 1, 1e-6);
  }
}

TEST_P(DomainWall, MidpointMakesUpForTheAxialWardIdentity) {
  // m sum_x |S(x, 0)|^2 + sum_x |S_mid(x, 0)|^2 = Re tr S(0, 0): the sum of the identity over all sites (V. Furman and
  // Y. Shamir, Nucl. Phys. B 439 (1995) 54).
  const Lattice small({4, 4, 4, 4});
  const HostGauge gauge = weak_gauge(small, 0.4, 9);
  const DomainWallParameters p = DomainWallParameters::uniform(0.08, 1.8, 6);
  SolveSettings settings;
  settings.method = Method::cg;
  settings.options.tolerance = 1e-12;
  const auto domain = std::make_shared<Domain>(small, GetParam());
  const Solver solver(std::make_shared<DomainWallAction>(p), gauge, domain, settings);
  double pion = 0, middle = 0, trace = 0;
  SpinorField four(domain, find_precision("double"), Subset::full), b = solver.field(), x = b.like();
  for (int n = 0; n < 12; ++n) {
    HostSpinor source(small), quark(small);
    source.site[0][n] = 1;
    upload(source, four, solver.basis());
    solver.dirac().embed(b, four);
    EXPECT_TRUE(solver.solve(x, b).converged);
    solver.dirac().project(four, x);
    download(four, quark, solver.basis());
    trace += quark.site[0][n].real();
    pion += reference::dot(quark, quark).real();
    solver.dirac().midpoint(four, x);
    download(four, quark, solver.basis());
    middle += reference::dot(quark, quark).real();
  }
  EXPECT_GT(middle, 1e-3 * trace);
  EXPECT_NEAR((p.mass * pion + middle) / trace, 1, 1e-9);
}

TEST_P(DomainWall, ImpossibleParametersAreRefused) {
  EXPECT_THROW(DomainWallAction(DomainWallParameters::uniform(0.1, 1.8, 0)), UsageError);
  EXPECT_THROW(make(DomainWallParameters::uniform(0.1, 1.8, most_slices + 1), gauge_), UsageError);
  // b (4 - M5) + 1 = 0: no even-odd form exists.
  EXPECT_THROW(make(DomainWallParameters::uniform(0.1, 5, 4), gauge_), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Devices, DomainWall, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
