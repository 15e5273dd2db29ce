/// \file
/// The gradient flow of the Wilson and of the Symanzik action (M. Luescher, arXiv:1006.4518).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/fields/field.hpp"
#include "solvers/gauge/gauge_action.hpp"
#include "solvers/links/scratch_fields.hpp"

namespace quarksmith {

/// Observables at one flow time.
struct FlowPoint {
  double time = 0;              ///< in units of the lattice spacing squared
  double plaquette_energy = 0;  ///< mean of E = 2 sum over planes of Re tr(1 - P), eq. 3.1
  double clover_energy = 0;     ///< mean of E = G^a_munu G^a_munu / 4 from the leaves
  double space_energy = 0;      ///< part of clover_energy from planes in space; the rest is from planes with time
  double charge = 0;            ///< topological charge from the same G

  /// Energy without errors of order a^2 at tree level (A. Ramos and S. Sint, arXiv:1508.05552).
  double improved_energy() const { return (4 * plaquette_energy - clover_energy) / 3; }
};

/// The action down whose gradient links flow: plaquettes, or 5/3 of them and -1/12 of rectangles (M. Luescher and P.
/// Weisz, Phys. Lett. B 158 (1985) 250).
enum class FlowAction { wilson, symanzik };

/// Final time, steps, and times of measurements.
struct FlowSchedule {
  double end = 1, every = 0.1, step = 0.02;
  /// Largest |V - V'| between third and second order in a step; `step` is then the first one. 0: all steps are `step`.
  double tolerance = 0;

  bool adaptive() const { return tolerance > 0; }
  /// Why the schedule is invalid, with a remedy; empty if it is valid. \param before prefix of names: `--` for options.
  std::string problem(std::string_view before = "") const;
};
inline constexpr double longest_flow_step = 0.5;  ///< beyond which the scheme is unstable

/// dV/dt = Z(V) V, Z = -g0^2 times the derivative of the action, V = U at t = 0.
class GradientFlow {
 public:
  /// All calls are collective. \throws NotSU3 the links are not SU(3).
  GradientFlow(const HostGauge& gauge, DomainPointer domain, FlowAction action = FlowAction::wilson);

  /// Integrates a step of epsilon with the third-order Runge-Kutta scheme of eq. C.2.
  void step(double epsilon);
  /// Takes a step if it differs from the embedded step of second order by at most the tolerance; else the links are
  /// unchanged.
  /// \return the difference d, the largest |V - V'|/9 of a link (P. Fritzsch and A. Ramos, arXiv:1301.4388, appendix
  /// D).
  double try_step(double epsilon, double tolerance);
  /// Flows to a time by steps whose size keeps d near the tolerance. \param step first step; on return the next one.
  /// \return number of steps, including those that were too large.
  int flow_to(double end, double tolerance, double& step);
  double time() const { return time_; }
  const Domain& domain() const { return u_.domain(); }
  FlowPoint measure() const;
  /// The links at the present time.
  HostGauge links() const { return download(u_); }

 private:
  /// X = now Z(U) + before X_last, U = exp(X) U.
  void stage(double now, double before, const LinkField& last, LinkField& x);
  LinkField like() const { return {u_.domain_pointer(), u_.precision(), u_.storage()}; }
  LinkField drift() const { return {u_.domain_pointer(), u_.precision(), algebra_storage(u_.colours())}; }

  GaugeLoops loops_;
  LinkField u_, next_, drift_;
  struct Kept {
    LinkField start, first, second;
  };
  std::optional<Kept> kept_;  ///< of a step that is tried
  ScratchFields scratch_;
  double time_ = 0;
};

struct FlowWork {
  int steps = 0;  ///< including those that were too large
  double seconds = 0;
};
/// Measures at the start, at multiples of the flow time `every`, and at the end. \param visit called with each point;
/// may throw to end the flow; so may
/// \param look before each step, of adaptive ones before those to the next point.
FlowWork flow_along(
    GradientFlow& flow, const FlowSchedule& schedule, const std::function<void(const FlowPoint&)>& visit,
    const std::function<void()>& look = [] {});

/// A scale of flow times; 0 if it is not reached.
struct FlowScale {
  const char* name;
  double value;
};
/// t0, at which t^2 E of the leaves reaches 0.3, and w0, at whose square t d(t^2 E)/dt does (S. Borsanyi et al.,
/// arXiv:1203.4469); t0_improved and w0_improved of the improved energy. All are interpolated linearly between two
/// points; differences of points stand for the derivative half-way.
std::vector<FlowScale> flow_scales(const std::vector<FlowPoint>& points);

}  // namespace quarksmith
