#include "solvers/gauge/gradient_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {
namespace {

constexpr int most_flow_points = 100000, most_flow_steps = 1000000;
constexpr double smallest_tolerance = 1e-12, smallest_step = 1e-8;

const HostGauge& checked(const HostGauge& gauge, const Domain& domain) {
  require_su3(gauge, "the gradient flow", domain.communicator());
  return gauge;
}

}  // namespace

GradientFlow::GradientFlow(const HostGauge& gauge, DomainPointer domain, FlowAction action)
    : u_(upload(checked(gauge, *domain), domain, find_precision("double"), full_storage(gauge.colours()))),
      next_(like()),
      drift_(drift()) {
  drift_.fill(0);
  loops_.planes.fill(action == FlowAction::wilson ? 1 : 5.0 / 3);
  if (action == FlowAction::symanzik) loops_.all_rectangles(-1.0 / 12);
}

// With the force F of molecular dynamics, of loops c/N Re tr, Z = 2 N F.
void GradientFlow::stage(double now, double before, const LinkField& last, LinkField& x) {
  if (before == 0)
    x.fill(0);
  else
    evaluate("kick", {last, last, before - 1}, {x});
  add_gauge_force(loops_, u_, scratch_, 2 * u_.colours() * now, x);
  evaluate("move_links", {u_, x, 1}, {next_});
  std::swap(u_, next_);
}

// With X = the drift kept in between and Z_i = epsilon Z(W_i):
//   W_1 = exp(X_0) W_0,  X_0 = Z_0/4
//   W_2 = exp(X_1) W_1,  X_1 = 8/9 Z_1 - 17/36 Z_0 = 8/9 Z_1 - 17/9 X_0
//   V   = exp(X_2) W_2,  X_2 = 3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0 = 3/4 Z_2 - X_1
void GradientFlow::step(double epsilon) {
  if (!(std::abs(epsilon) <= 1))  // beyond a tenth of that the integrator has left its order already
    throw UsageError(fmt::format("a step of the gradient flow of {}; use a number between -1 and 1", epsilon));
  stage(epsilon / 4, 0, drift_, drift_);
  stage(epsilon * 8 / 9, -17.0 / 9, drift_, drift_);
  stage(epsilon * 3 / 4, -1, drift_, drift_);
  time_ += epsilon;
}

double GradientFlow::try_step(double epsilon, double tolerance) {
  if (!kept_) kept_.emplace(Kept{like(), drift(), drift()});
  auto& [start, first, second] = *kept_;
  stage(epsilon / 4, 0, drift_, first);
  std::swap(start, next_);
  stage(epsilon * 8 / 9, -17.0 / 9, first, second);
  stage(epsilon * 3 / 4, -1, second, drift_);
  double largest = 0;
  for (const double square : evaluate("flow_difference", {u_, start, first, second}, {}, {.largest = true}))
    largest = std::max(largest, square);
  const double d = std::sqrt(largest) / (u_.colours() * u_.colours());
  if (d <= tolerance)
    time_ += epsilon;
  else
    std::swap(u_, start);
  return d;
}

int GradientFlow::flow_to(double end, double tolerance, double& step) {
  int count = 0;
  while (time_ < end) {
    const bool last = time_ + step * (1 + 1e-9) >= end;
    const double taken = last ? end - time_ : step;
    const double d = try_step(taken, tolerance);
    ++count;
    const double wanted = std::min(0.95 * taken * std::cbrt(tolerance / std::max(d, 1e-300)), longest_flow_step);
    if (!(wanted >= smallest_step))
      throw Error(fmt::format("the gradient flow at t = {}: no step keeps to the tolerance {}; use a larger one", time_,
                              tolerance));
    const bool done = d <= tolerance;
    step = done && last ? std::max(step, wanted) : wanted;  // the last one was cut short
    if (done && last) time_ = end;
  }
  return count;
}

std::string FlowSchedule::problem(std::string_view before) const {
  const auto named = [&](const char* name, double value) { return fmt::format("{}{} {}", before, name, value); };
  for (const auto& [name, value] : {std::pair{"step", step}, {"every", every}})
    if (!(value > 0)) return named(name, value) + " is not positive; use a positive number";
  if (!(end >= 0)) return named("time", end) + " is negative; use a positive number";
  if (step > longest_flow_step)
    return fmt::format("{}: the scheme is unstable; use at most {}", named("step", step), longest_flow_step);
  if (end / every > most_flow_points)
    return fmt::format("{} has more than {} points; use a larger {}every", named("time", end), most_flow_points,
                       before);
  if (tolerance != 0 && !(tolerance >= smallest_tolerance))
    return fmt::format("{}; use at least {}", named("tol", tolerance), smallest_tolerance);
  if (adaptive()) return "";
  if (end / step > most_flow_steps)
    return fmt::format("{} takes more than {} steps; use a larger {}step", named("time", end), most_flow_steps, before);
  for (const auto& [name, time] : {std::pair{"time", end}, {"every", every}})
    if (const double steps = std::round(time / step);
        std::abs(time / step - steps) > 1e-9 * steps || (time > 0 && steps < 1))
      return fmt::format("{} is no multiple of {}; use one", named(name, time), named("step", step));
  return "";
}

FlowWork flow_along(GradientFlow& flow, const FlowSchedule& schedule,
                    const std::function<void(const FlowPoint&)>& visit, const std::function<void()>& look) {
  if (const std::string problem = schedule.problem(); !problem.empty())
    throw UsageError("the gradient flow: " + problem);
  FlowWork work;
  const auto timed = [&](const auto& move) { work.seconds += flow.domain().device().time(move); };
  visit(flow.measure());
  if (schedule.adaptive()) {
    double step = schedule.step;
    for (int n = 1; flow.time() < schedule.end; ++n) {
      look();
      const double next = std::min(n * schedule.every, schedule.end);
      timed([&] { work.steps += flow.flow_to(next, schedule.tolerance, step); });
      visit(flow.measure());
    }
    return work;
  }
  const auto steps = static_cast<int>(std::lround(schedule.end / schedule.step)),
             each = static_cast<int>(std::lround(schedule.every / schedule.step));
  while (work.steps < steps) {
    look();
    timed([&] { flow.step(schedule.step); });
    if (++work.steps % each == 0 || work.steps == steps) visit(flow.measure());
  }
  return work;
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

using ScaledEnergies = std::vector<std::array<double, 2>>;  ///< t, t^2 E

/// The time at which a value reaches 0.3, interpolated between points in order; 0 if it does not.
double reaching(const ScaledEnergies& points) {
  constexpr double wanted = 0.3;
  for (std::size_t n = 1; n < points.size(); ++n) {
    const auto& [before, low] = points[n - 1];
    const auto& [after, high] = points[n];
    if (low < wanted && high >= wanted) return before + (after - before) * (wanted - low) / (high - low);
  }
  return 0;
}

double width_of(const ScaledEnergies& points) {
  ScaledEnergies slopes;
  for (std::size_t n = 1; n < points.size(); ++n) {
    const auto& [before, low] = points[n - 1];
    const auto& [after, high] = points[n];
    const double time = (before + after) / 2;
    slopes.push_back({time, time * (high - low) / (after - before)});
  }
  return std::sqrt(reaching(slopes));
}

}  // namespace

std::vector<FlowScale> flow_scales(const std::vector<FlowPoint>& points) {
  ScaledEnergies leaves, improved;
  for (const FlowPoint& p : points) {
    leaves.push_back({p.time, p.time * p.time * p.clover_energy});
    improved.push_back({p.time, p.time * p.time * p.improved_energy()});
  }
  return {{"t0", reaching(leaves)},
          {"w0", width_of(leaves)},
          {"t0_improved", reaching(improved)},
          {"w0_improved", width_of(improved)}};
}

}  // namespace quarksmith
