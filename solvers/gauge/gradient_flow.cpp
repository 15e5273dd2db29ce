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
  double energy = 0, space = 0, charge = 0;
  constexpr int time = directions - 1;
  for (int mu = 0; mu < time; ++mu) {  // planes xy zt, yz xt, zx yt
    const int nu = (mu + 1) % time, rho = (mu + 2) % time;
    const auto found = evaluate("clover_energy", {u_, LatticeDirection{mu}, LatticeDirection{nu}, LatticeDirection{rho},
                                                  LatticeDirection{time}});
    space += found[0];
    energy += found[0] + found[1];
    charge -= found[2] / (4 * std::numbers::pi * std::numbers::pi);
  }
  return {time_, evaluate("plaquette_energy", {u_})[0] / sites, energy / sites, space / sites, charge};
}

namespace {

/// Where a value reaches 0.3 between two of its points, which are in order; 0 if it does not.
double reaching(const std::vector<std::array<double, 2>>& points) {
  constexpr double wanted = 0.3;
  for (std::size_t n = 1; n < points.size(); ++n) {
    const auto& [before, low] = points[n - 1];
    const auto& [after, high] = points[n];
    if (low < wanted && high >= wanted) return before + (after - before) * (wanted - low) / (high - low);
  }
  return 0;
}

double scaled_energy(const FlowPoint& p) { return p.time * p.time * p.clover_energy; }

}  // namespace

double flow_scale(const std::vector<FlowPoint>& points) {
  std::vector<std::array<double, 2>> values;
  for (const FlowPoint& p : points) values.push_back({p.time, scaled_energy(p)});
  return reaching(values);
}

double flow_width(const std::vector<FlowPoint>& points) {
  std::vector<std::array<double, 2>> values;
  for (std::size_t n = 1; n < points.size(); ++n) {
    const double time = (points[n - 1].time + points[n].time) / 2, step = points[n].time - points[n - 1].time;
    values.push_back({time, time * (scaled_energy(points[n]) - scaled_energy(points[n - 1])) / step});
  }
  return std::sqrt(reaching(values));
}

}  // namespace quarksmith
