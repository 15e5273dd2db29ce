// Solves M x = b on a weak random field and prints the true residual.
#include <cstdio>

#include "runtime/fields/gauge.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"

int main() {
  using namespace quarksmith;
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.2, 1);
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::select("auto"));
  const Action action("wilson", {{"mass", 0.1}});
  const Solver solver(action, gauge, domain, {});

  SpinorField b(domain, find_precision("double"), Subset::full), x = b.like();
  upload(make_source(source_of("point:0,0,0,0", gauge.lattice), gauge.lattice, 0, 0), b, solver.basis());
  const SolveReport report = solver.solve(x, b);
  std::printf("%d iterations, |b - M x| / |b| = %.2e\n", report.iterations, report.residual);
  return report.converged ? 0 : 1;
}
