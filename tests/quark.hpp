/// \file
/// From a configuration of another code to propagators and correlators on it.
#pragma once

#include "runtime/io/gauge.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/smearing.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/data.hpp"
#include "tests/dense.hpp"

namespace data {

using namespace quarksmith;

inline HostGauge load(const std::string& name, const Coordinates& extent) {
  return read_gauge(folder() / name, Lattice(extent)).gauge;
}

/// Everything between a gauge field and its propagator, on one device.
struct Quark {
  Quark(const HostGauge& gauge, const Action& action, const std::shared_ptr<Device>& device, double tolerance = 1e-13,
        const std::string& even_odd = "symmetric")
      : gauge(gauge), domain(std::make_shared<Domain>(gauge.lattice, device)) {
    SolveSettings settings;
    settings.method = Method::cg;
    settings.even_odd_form = even_odd_form_of(even_odd);
    settings.links = "r12";
    settings.options.tolerance = tolerance;
    const Unitarity u = check_unitarity(gauge);
    if (std::max(u.unitary, u.determinant) > 1e-9) settings.links = "r18";  // keep the file's own rounding
    links = settings.links;
    solver = std::make_unique<Solver>(action, gauge, domain, settings);
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
    return dense::get_one(x, solver->basis());
  }
  Propagator propagator(const std::string& source) const {
    const SourceSettings s = source_of(source, gauge.lattice);
    Propagator result(domain);
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
  std::unique_ptr<Solver> solver;
};

/// The mass of Wilson's action in the normalisation of kappa.
inline double mass_of(double kappa) { return 1 / (2 * kappa) - 4; }
inline Action wilson(double kappa, const BoundaryPhases& boundary) {
  return {"wilson", {{"mass", mass_of(kappa)}}, boundary};
}
/// Antiperiodic in time.
inline constexpr BoundaryPhases antiperiodic{1, 1, 1, -1};

/// |A b| for b = 1 + i everywhere, the source of a code whose numbers go in unrotated, as the basis of its spinors is
/// that of the kernels.
inline double norm_on_ones(const LinearOperator& a) {
  HostSpinor ones(a.domain()->lattice());
  for (HostSite& site : ones.site) site.fill({1, 1});
  const dense::Vectors all(std::size_t(a.slices()), ones);
  return dense::norm(dense::apply(a, all, Dagger::no, find_basis("degrand_rossi")));
}

}  // namespace data
