/// \file
/// The gradient flow of the Wilson action (M. Luescher, arXiv:1006.4518).
#pragma once

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// What is measured along the flow.
struct FlowPoint {
  double time = 0;              ///< in units of the lattice spacing squared
  double plaquette_energy = 0;  ///< mean of E = 2 sum over planes of Re tr(1 - P), eq. 3.1
  double clover_energy = 0;     ///< mean of E = G^a_munu G^a_munu / 4 from the leaves
  double space_energy = 0;      ///< the part of that of planes in space; the rest is of planes with time
  double charge = 0;            ///< topological charge from the same G
};

/// dV/dt = Z(V) V, Z = -g0^2 times the derivative of the Wilson action, V = U at t = 0.
class GradientFlow {
 public:
  /// Its calls are collective.
  /// \throws NotSU3 the links are not SU(3).
  GradientFlow(const HostGauge& gauge, DomainPointer domain, const PrecisionInfo& precision);

  /// Moves on by epsilon with the third-order Runge-Kutta scheme of eq. C.2.
  void step(double epsilon);
  double time() const { return time_; }
  FlowPoint measure() const;
  /// The links at the present time.
  HostGauge links() const { return download(u_); }

 private:
  void stage(double now, double before);

  LinkField u_, next_, drift_;
  double time_ = 0;
};

/// The flow time t0 at which t^2 E of the leaves reaches 0.3, interpolated linearly between two points; 0 if it does
/// not.
double flow_scale(const std::vector<FlowPoint>& points);
/// w0, at whose square t d(t^2 E)/dt reaches 0.3 (S. Borsanyi et al., arXiv:1203.4469): differences of points stand for
/// the derivative half-way, interpolated linearly; 0 if it does not.
double flow_width(const std::vector<FlowPoint>& points);

}  // namespace quarksmith
