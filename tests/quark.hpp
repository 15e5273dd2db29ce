/// \file
/// From a configuration of another code to propagators and correlators on it.
#pragma once

#include <fmt/format.h>

#include "runtime/io/gauge.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/smearing.hpp"
#include "solvers/krylov/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/data.hpp"

namespace data {

using namespace quarksmith;

/// A line for the table that the closing of an issue shows.
inline void report(const std::string& source, const std::string& quantity, double theirs, double ours) {
  fmt::print("DATA | {} | {} | {:.15g} | {:.15g} | {:.1e}\n", source, quantity, theirs, ours, std::abs(theirs - ours));
}

inline HostGauge load(const std::string& name, const Coordinates& extent) {
  return read_gauge(folder() / name, Lattice(extent)).gauge;
}

/// Everything between a gauge field and its propagator, on one device.
struct Quark {
  Quark(const HostGauge& gauge, const WilsonParameters& parameters, const std::shared_ptr<Device>& device,
        double tolerance = 1e-13, const std::string& even_odd = "symmetric")
      : gauge(gauge), domain(std::make_shared<Domain>(gauge.lattice, device)) {
    SolveSettings settings;
    settings.method = Method::cg;
    settings.reduction = reduction_of(even_odd);
    settings.links = "r12";
    settings.options.tolerance = tolerance;
    const Unitarity u = check_unitarity(gauge);
    if (std::max(u.unitary, u.determinant) > 1e-9) settings.links = "r18";  // keep the file's own rounding
    links = settings.links;
    solver = std::make_unique<WilsonSolver>(gauge, domain, parameters, settings);
  }
  HostSpinor solve(const HostSpinor& source, const QuarkSmearing& smearing = {}) const {
    SpinorField b(domain, find_precision("double"), Subset::full), x = b.like();
    upload(source, b, solver->basis());
    if (smearing) {
      const auto u = std::make_shared<LinkField>(
          upload(unsmeared ? *unsmeared : gauge, domain, find_precision("double"), find_storage(links)));
      smear(smearing, u, b);
    }
    EXPECT_TRUE(solver->solve(x, b).converged);
    HostSpinor solution(gauge.lattice);
    download(x, solution, solver->basis());
    return solution;
  }
  Propagator propagator(const std::string& source) const {
    const SourceSettings s = source_of(source, gauge.lattice);
    Propagator result(gauge.lattice);
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour)
        result.set_column(spin, colour, solve(make_source(s, gauge.lattice, spin, colour), s.smearing));
    return result;
  }
  std::vector<double> pion(const std::string& source) const {
    return meson_correlators(propagator(source), source_of(source, gauge.lattice).time())[15];
  }

  HostGauge gauge;
  std::optional<HostGauge> unsmeared;  ///< links of sources, if they are not those of the action
  DomainPointer domain;
  std::string links;
  std::unique_ptr<WilsonSolver> solver;
};

/// Wilson's action in the normalisation of kappa.
inline WilsonParameters parameters(double kappa, std::array<Complex64, 4> boundary) {
  WilsonParameters p;
  p.mass = WilsonParameters::mass_of_kappa(kappa);
  p.boundary = boundary;
  return p;
}

}  // namespace data
