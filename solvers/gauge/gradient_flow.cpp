#include "solvers/gauge/gradient_flow.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {
namespace {

const HostGauge& checked(const HostGauge& gauge, const Domain& domain) {
  require_su3(gauge, "the gradient flow", domain.communicator());
  return gauge;
}

}  // namespace

GradientFlow::GradientFlow(const HostGauge& gauge, DomainPointer domain, const PrecisionInfo& precision)
    : u_(upload(checked(gauge, *domain), domain, precision, full_storage(gauge.colours()))),
      next_(domain, precision, u_.storage()),
      drift_(upload(HostGauge(gauge.lattice, gauge.colours()), domain, precision, u_.storage())) {}

void GradientFlow::stage(double now, double before) {
  evaluate("flow_step", {u_, drift_, now, before}, {next_, drift_});
  std::swap(u_, next_);
}

// With X = the drift kept in between and Z_i = epsilon Z(W_i):
//   W_1 = exp(X_0) W_0,  X_0 = Z_0/4
//   W_2 = exp(X_1) W_1,  X_1 = 8/9 Z_1 - 17/36 Z_0 = 8/9 Z_1 - 17/9 X_0
//   V   = exp(X_2) W_2,  X_2 = 3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0 = 3/4 Z_2 - X_1
void GradientFlow::step(double epsilon) {
  if (!(std::abs(epsilon) <= 1))  // beyond a tenth of that the integrator has left its order already
    throw UsageError(fmt::format("a step of the gradient flow of {}; use a number between -1 and 1", epsilon));
  stage(epsilon / 4, 0);
  stage(epsilon * 8 / 9, -17.0 / 9);
  stage(epsilon * 3 / 4, -1);
  time_ += epsilon;
}

FlowPoint GradientFlow::measure() const {
  const double sites = static_cast<double>(u_.domain().lattice().global_sites());
  double energy = 0, charge = 0;
  constexpr int time = directions - 1;
  for (int mu = 0; mu < time; ++mu) {  // planes xy zt, yz xt, zx yt
    const int nu = (mu + 1) % time, rho = (mu + 2) % time;
    const auto found = evaluate("clover_energy", {u_, LatticeDirection{mu}, LatticeDirection{nu}, LatticeDirection{rho},
                                                  LatticeDirection{time}});
    energy += found[0];
    charge -= found[1] / (4 * std::numbers::pi * std::numbers::pi);
  }
  return {time_, evaluate("plaquette_energy", {u_})[0] / sites, energy / sites, charge};
}

double flow_scale(const std::vector<FlowPoint>& points) {
  constexpr double wanted = 0.3;
  for (std::size_t n = 1; n < points.size(); ++n) {
    const auto value = [&](std::size_t i) { return points[i].time * points[i].time * points[i].clover_energy; };
    if (value(n - 1) < wanted && value(n) >= wanted)
      return points[n - 1].time +
             (points[n].time - points[n - 1].time) * (wanted - value(n - 1)) / (value(n) - value(n - 1));
  }
  return 0;
}

}  // namespace quarksmith
