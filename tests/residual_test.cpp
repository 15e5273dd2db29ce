// Residuals are those of the links as they were given, also where 12 or 8 reals of them miss what they leave SU(3) by.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/solve/shifted.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/rounded.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::DenseAction;
using dense::Vectors;

using support::rounded;
HostGauge rounded_gauge() { return rounded(weak_gauge(Lattice({4, 4, 4, 8}), 0.4, 5)); }

struct PrecisionCase {
  std::string method = "auto", precision = "double", links = "r12";
  double csw = 0, mu = 0, xi0 = 1;
  int flavours = 1, rhs = 1;
  std::string preconditioner = "none", even_odd_form = "symmetric", updates = "reliable";
};
void PrintTo(const PrecisionCase& c, std::ostream* out) {
  *out << fmt::format("{} {} {} csw {} mu {} xi0 {} flavours {} rhs {} {} {} {}", c.method, c.precision, c.links, c.csw,
                      c.mu, c.xi0, c.flavours, c.rhs, c.preconditioner, c.even_odd_form, c.updates);
}

Action action_of(const PrecisionCase& c) {
  std::map<std::string, double> p = {{"mass", -0.2}, {"xi0", c.xi0}};
  if (c.csw != 0) p["csw_r"] = p["csw_t"] = c.csw;
  if (c.mu != 0) p["mu"] = c.mu;
  if (c.flavours == 2) p["epsilon"] = 0.1;
  if (c.mu == 0) return {c.csw != 0 ? "clover" : "wilson", p};
  if (c.csw == 0) return {c.flavours == 2 ? "twisted_doublet" : "twisted_mass", p};
  return {c.flavours == 2 ? "twisted_clover_doublet" : "twisted_clover", p};
}

SolveSettings settings(const PrecisionCase& c, double tolerance) {
  SolveSettings s;
  s.method = method_of(c.method);
  s.precision = c.precision;
  s.links = c.links;
  s.even_odd_form = even_odd_form_of(c.even_odd_form);
  s.parameters.preconditioner = preconditioner_of(c.preconditioner);
  s.options.updates = updates_of(c.updates);
  s.options.tolerance = tolerance;
  return s;
}

double relative(const Vectors& r, const Vectors& b) { return dense::norm(r) / dense::norm(b); }

class LinksAsGiven : public testing::TestWithParam<PrecisionCase> {};

TEST_P(LinksAsGiven, TheResidualIsTheirs) {
  const PrecisionCase& c = GetParam();
  if (!support::built(c.precision, c.links) ||
      (c.flavours == 2 && c.precision == "double-half" && !support::has("apply_doublet_twist", "half")))
    GTEST_SKIP() << support::wide;
  const double tolerance = c.precision == "single" ? 1e-6 : 1e-12;
  const HostGauge gauge = rounded_gauge();
  const DenseAction dense(action_of(c), gauge);
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    const Solver solver(action_of(c), gauge, domain, settings(c, tolerance));
    EXPECT_FALSE(solver.link_deviation().negligible());
    SpinorField b = solver.field(c.rhs), x = b.like();
    std::vector<Vectors> sources;
    for (int n = 0; n < c.rhs; ++n) {
      sources.push_back(dense::random(gauge.lattice, c.flavours, 3 + 2 * unsigned(n)));
      dense::put(sources[n], b, solver.basis(), n);
    }
    const std::vector<SolveReport> reports = solver.solve_all(x, b);
    for (int n = 0; n < c.rhs; ++n) {
      const Vectors solution = dense::get(x, solver.basis(), n);
      const Vectors r = dense::combine(1, sources[n], -1, dense.matrix(solution));
      EXPECT_TRUE(reports[n].converged) << reports[n].residual;
      EXPECT_LE(reports[n].residual, tolerance);
      EXPECT_NEAR(relative(r, sources[n]), reports[n].residual, 0.1 * reports[n].residual);
      EXPECT_EQ(reports[n].links, "r18-" + c.links);
    }
  }
}

std::vector<PrecisionCase> precision_cases() {
  std::vector<PrecisionCase> all;
  for (const char* links : {"r12", "r8", "r12t"})
    for (const char* precision : {"double", "double-single", "double-half", "single"})
      all.push_back({.precision = precision, .links = links});
  for (const char* method : {"cg", "cgne", "bicgstab-l", "gcr", "mr"}) all.push_back({.method = method});
  for (const char* even_odd_form : {"none", "asymmetric"})
    all.push_back({.links = "r8", .even_odd_form = even_odd_form});
  for (const char* updates : {"replacement", "defect"})
    for (const char* precision : {"double", "double-half"})
      all.push_back({.method = "cg", .precision = precision, .updates = updates});
  for (const char* method : {"eigcg", "gmres-dr"})
    for (const char* precision : {"double", "double-single"})
      all.push_back({.method = method, .precision = precision, .links = "r8", .rhs = 3});
  for (const char* precision : {"double", "double-half"}) {
    all.push_back({.method = "block-cg", .precision = precision, .links = "r8", .rhs = 12});
    all.push_back({.precision = precision, .rhs = 12});
    all.push_back({.method = "gcr", .precision = precision, .preconditioner = "schwarz-mr:4"});
    all.push_back({.precision = precision, .csw = 1.3});
    all.push_back({.precision = precision, .csw = 1.3, .xi0 = 1.4});
    for (const double csw : {0.0, 1.3})
      for (const int flavours : {1, 2})
        all.push_back({.method = "cg", .precision = precision, .csw = csw, .mu = 0.2, .flavours = flavours});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Wilson, LinksAsGiven, testing::ValuesIn(precision_cases()));

TEST(LinksOfSu3, NeedNoOperatorOfTheirOwn) {
  const Lattice lattice({4, 4, 4, 8});
  const auto domain = std::make_shared<Domain>(lattice, Device::cpu());
  for (const HostGauge& gauge : {hot_gauge(lattice, 2), weak_gauge(lattice, 0.25, 5)}) {
    const std::size_t before = domain->device().held();
    const Solver solver(dense::wilson(0), gauge, domain, {});
    EXPECT_TRUE(solver.link_deviation().negligible()) << solver.link_deviation().largest;
    EXPECT_EQ(text_of(solver.link_deviation(), "r12"), "");
    // One set of links in 12 doubles, and nothing else of that size.
    EXPECT_LT(domain->device().held() - before, 1.3 * 4 * 12 * 8 * double(lattice.sites()));
    SpinorField b = solver.field(), x = b.like();
    upload(reference::random_spinor(lattice, 4), b, solver.basis());
    EXPECT_EQ(solver.solve(x, b).links, "r12");
  }
  if (support::built("double", "r8")) {
    EXPECT_TRUE(Solver(dense::wilson(0), hot_gauge(lattice, 2), domain, settings({.links = "r8"}, 1e-10))
                    .link_deviation()
                    .negligible());
  }
}

TEST(LinksOfSu3, ASingleLinkThatLeavesItCounts) {
  HostGauge gauge = hot_gauge(Lattice({4, 4, 4, 8}), 2);
  gauge.site[77][2][8] += 1e-9;
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const LinkDeviation d = Solver(dense::wilson(0), gauge, domain, {}).link_deviation();
  EXPECT_NEAR(d.largest, 1e-9, 1e-14);
  EXPECT_NEAR(d.typical, 1e-9 / std::sqrt(3.0 * 4 * 512), 1e-13);
  EXPECT_FALSE(d.negligible());
  EXPECT_EQ(text_of(d, "r12"), "12 reals miss these links by up to 1.0e-09: residuals are computed with all 18");
}

TEST(LinksAsGivenOrNot, ABuildWithoutTheirKernelSaysWhatForItIs) {
  const HostGauge gauge = rounded_gauge();
  const LinkStore links(gauge, std::make_shared<Domain>(gauge.lattice, Device::cpu()), "r12", "non_relativistic");
  const auto make = [](const LinkStore& all, const PrecisionInfo& precision) -> int {
    EXPECT_EQ(all.storage(), "r18");
    EXPECT_EQ(precision.name, "double");
    throw MissingKernel("add to the profile");
  };
  const std::string what = support::message_of<MissingKernel>([&] { make_exact(links, links.deviation(), make); });
  EXPECT_TRUE(what.starts_with("12 reals miss these links by up to ")) << what;
  EXPECT_TRUE(what.ends_with("; add to the profile")) << what;
}

TEST(LinksAsGivenOrNot, AToleranceOutOfReachIsMissedOpenly) {
  const HostGauge gauge = rounded_gauge();
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const Solver solver(action_of({}), gauge, domain, settings({.method = "cg", .precision = "single"}, 1e-9));
  SpinorField b = solver.field(), x = b.like();
  upload(reference::random_spinor(gauge.lattice, 4), b, solver.basis());
  const SolveReport r = solver.solve(x, b);
  EXPECT_FALSE(r.converged);
  EXPECT_GT(r.residual, 1e-9);
}

TEST(LinksAsGivenOrNot, ANormalCriterionIsTheirsToo) {
  const HostGauge gauge = rounded_gauge();
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  SolveSettings s = settings({.method = "cg", .even_odd_form = "none"}, 1e-11);
  s.options.criterion = Criterion::normal;
  const Solver solver(action_of({}), gauge, domain, s);
  SpinorField b = solver.field(), x = b.like();
  const Vectors source = dense::random(gauge.lattice, 1, 4);
  dense::put(source, b, solver.basis());
  const SolveReport report = solver.solve(x, b);
  const DenseAction dense(action_of({}), gauge);
  const Vectors r = dense::combine(1, source, -1, dense.matrix(dense::get(x, solver.basis())));
  EXPECT_TRUE(report.converged);
  EXPECT_NEAR(relative(dense.matrix(r, true), dense.matrix(source, true)), report.measured, 0.1 * report.measured);
}

TEST(LinksAsGivenOrNot, EveryShiftHasItsTrueResidual) {
  const std::string reals = support::built("double-half", "r8") ? "r8" : "r12", both = "r18-" + reals;
  const HostGauge gauge = rounded_gauge();
  const std::vector<double> shifts = {0.3, 0.001, 0.02};
  const DenseAction dense(action_of({}), gauge);
  for (const auto& device : support::devices())
    for (const auto& [precision, tolerance, links] :
         {std::tuple{"double", 1e-12, "r18"}, {"double-half", 1e-12, both.c_str()}, {"single", 4e-6, both.c_str()}}) {
      const auto domain = std::make_shared<Domain>(gauge.lattice, device);
      const PrecisionCase c = {.precision = precision, .links = reals, .even_odd_form = "none"};
      const ShiftedSolver solver(action_of(c), gauge, domain, settings(c, tolerance), int(shifts.size()));
      const Vectors source = dense::random(gauge.lattice, 1, 4);
      SpinorField b(domain, find_precision("double"), Subset::full), x(domain, b.precision(), Subset::full, 3);
      dense::put(source, b, solver.basis());
      const std::vector<ShiftReport> reports = solver.solve(x, b, shifts);
      for (int k = 0; k < int(shifts.size()); ++k) {
        const Vectors y = dense::get(x, solver.basis(), k);
        const Vectors a = dense::combine(1, dense.matrix(dense.matrix(y), true), shifts[k], y);
        EXPECT_TRUE(reports[k].converged) << precision << " " << shifts[k] << " " << reports[k].residual;
        EXPECT_NEAR(relative(dense::combine(1, source, -1, a), source), reports[k].residual, 0.1 * reports[k].residual);
        EXPECT_EQ(reports[k].links, links);
      }
    }
}

TEST(LinksAsGivenOrNot, WallsHaveTheResidualOfFiveDimensions) {
  const HostGauge gauge = rounded_gauge();
  for (const auto& device : support::devices())
    for (const char* links : {"r12", "r8"}) {
      if (!support::built("double", links)) continue;
      for (const Action& walls :
           {Action({find_action("domain_wall"), {{"mass", 0.1}, {"m5", 1.8}}, 6}),
            Action({find_action("moebius"), {{"mass", 0.1}, {"m5", 1.6}, {"b5", 1.5}, {"c5", 0.5}}, 4})}) {
        const auto domain = std::make_shared<Domain>(gauge.lattice, device);
        const Solver solver(walls, gauge, domain, settings({.method = "cg", .links = links}, 1e-12));
        SpinorField b = solver.field(), x = b.like();
        const Vectors source = dense::random(gauge.lattice, walls.slices(), 4);
        dense::put(source, b, solver.basis());
        const SolveReport report = solver.solve(x, b);
        const Vectors a = DenseAction(walls, gauge).matrix(dense::get(x, solver.basis()));
        EXPECT_TRUE(report.converged);
        EXPECT_NEAR(relative(dense::combine(1, source, -1, a), source), report.residual, 0.1 * report.residual);
      }
    }
}

}  // namespace
