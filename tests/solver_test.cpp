// Solvers reach the true residual that they claim, on every device, in every form and precision mode.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "solvers/solve.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

struct Mode {
  std::shared_ptr<Device> device;
  std::string method, reduction, precision, links, basis;
  double tolerance;
  double csw = 0;
};

std::string name_of(const Mode& m) {
  return support::test_name(fmt::format("{}_{}_{}_{}_{}_{}{}", m.device->name(), m.method, m.reduction, m.precision,
                                        m.links, m.basis, m.csw != 0 ? "_clover" : ""));
}

void PrintTo(const Mode& mode, std::ostream* out) { *out << name_of(mode); }

std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const auto& device : support::devices())
    for (const char* method : {"cg", "bicgstab"})
      for (const char* reduction : {"none", "symmetric", "asymmetric"})
        for (const auto& [precision, tolerance] :
             {std::pair{"double", 1e-11}, {"single", 2e-6}, {"double-single", 1e-11}, {"double-half", 1e-11}})
          all.push_back({device, method, reduction, precision, "r12", "non_relativistic", tolerance});
  for (const auto& device : support::devices()) {
    all.push_back({device, "bicgstab", "symmetric", "double", "r18", "degrand_rossi", 1e-12});
    all.push_back({device, "cg", "symmetric", "double-single", "r8", "non_relativistic", 1e-12});
    all.push_back({device, "bicgstab", "symmetric", "double-half", "r12t", "non_relativistic", 1e-12});
    all.push_back({device, "cg", "none", "double", "r18t", "non_relativistic", 1e-12});
    for (const char* method : {"cg", "bicgstab"})
      for (const char* reduction : {"none", "symmetric", "asymmetric"})
        for (const char* precision : {"double", "double-single", "double-half"})
          all.push_back({device, method, reduction, precision, "r12", "non_relativistic", 1e-11, 1.5});
    all.push_back({device, "bicgstab", "symmetric", "double", "r18", "degrand_rossi", 1e-12, 1.5});
  }
  return all;
}

/// M x by the dense reference.
HostSpinor dirac(const HostGauge& gauge, const HostSpinor& x, const WilsonParameters& p) {
  reference::Coefficients c;
  c.bulk = {p.nu / p.xi0, p.nu / p.xi0, p.nu / p.xi0, 1};
  c.phase = p.boundary;
  const HostSpinor d = reference::hopping(gauge, x, reference::wilson_hops(false), c);
  const double diagonal = p.mass + 1 + 3 * p.nu / p.xi0;
  if (!p.has_clover()) return reference::combine(diagonal, x, -0.5, d);
  const auto t = reference::clover(gauge, diagonal, p.csw_r / p.xi0, p.csw_t);
  return reference::combine(1, reference::multiply(t, x), -0.5, d);
}

class Solve : public testing::TestWithParam<Mode> {};

TEST_P(Solve, ReachesTheTrueResidual) {
  const Mode& mode = GetParam();
  const Lattice lattice({4, 4, 4, 8});
  const HostGauge gauge = weak_gauge(lattice, 0.25, 5);
  WilsonParameters parameters;
  parameters.mass = -0.2;
  parameters.xi0 = 1.5;
  parameters.nu = 0.9;
  parameters.csw_r = mode.csw;
  parameters.csw_t = 0.8 * mode.csw;
  SolveSettings settings;
  settings.method = method_of(mode.method);
  settings.reduction = reduction_of(mode.reduction);
  settings.precision = mode.precision;
  settings.links = mode.links;
  settings.basis = mode.basis;
  settings.options.tolerance = mode.tolerance;
  settings.options.max_iterations = 2000;
  const auto domain = std::make_shared<Domain>(lattice, mode.device);
  const WilsonSolver solver(gauge, domain, parameters, settings);
  const HostSpinor source = reference::random_spinor(lattice, 3);
  SpinorField b(domain, find_precision("double"), Subset::full), x = b.like();
  upload(source, b, solver.basis());
  const SolveReport report = solver.solve(x, b);
  EXPECT_TRUE(report.converged) << report.residual;
  EXPECT_GT(report.iterations, 5);
  HostSpinor solution(lattice);
  download(x, solution, solver.basis());
  const HostSpinor r = reference::combine(1, source, -1, dirac(gauge, solution, parameters));
  const double residual = std::sqrt(reference::dot(r, r).real() / reference::dot(source, source).real());
  EXPECT_LE(residual, mode.tolerance);
  EXPECT_NEAR(residual, report.residual, 1e-3 * mode.tolerance + (mode.links == "r8" ? mode.tolerance : 0));
}

INSTANTIATE_TEST_SUITE_P(Modes, Solve, testing::ValuesIn(modes()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
