/// \file
/// Landau and Coulomb gauge by over-relaxation.
#pragma once

#include <functional>
#include <optional>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// The gauge that maximises F, the mean of Re tr U/3 over spatial links (Coulomb) or all links (Landau).
enum class GaugeCondition { coulomb, landau };

struct GaugeFixing {
  GaugeCondition condition = GaugeCondition::coulomb;
  double boost = 1.7;        ///< over-relaxation of each SU(2) hit; 1: none
  double tolerance = 1e-14;  ///< of the change of F from one step to the next
  int most_steps = 20000;
  bool keep = false;  ///< whether to keep the transformation
};

/// A step visits the odd sites, then the even ones.
struct GaugeFixingReport {
  int steps = 0;
  double before = 0, functional = 0;  ///< F at the start and at the end
  double average = 0;                 ///< mean of F after the odd and after the even sites of the last step
  double change = 0;                  ///< of `average` in the last step
  /// Mean of tr(Delta Delta^+)/3, Delta the sum of A_mu(x) - A_mu(x - mu); in Coulomb gauge, which each time slice has
  /// by itself, the largest of their means.
  double theta = 0;
  bool converged = false;
};

/// Transforms links on a device to a gauge. All calls are collective.
class GaugeFixer {
 public:
  /// Takes links, and projects them on SU(3), from which they may differ by rounding.
  /// \throws NotSU3 they deviate by more.
  GaugeFixer(const HostGauge& gauge, DomainPointer domain, const GaugeFixing& how);

  /// \param look is called before each step, and may throw to end it.
  GaugeFixingReport operator()(const std::function<void()>& look = [] {});
  /// The links now. \param phase of the configuration.
  HostGauge links(const std::array<Complex64, directions>& phase) const;
  /// The g(x) of U'_mu(x) = g(x) U_mu(x) g(x + mu)^+, stored as links along x; only with GaugeFixing::keep.
  HostGauge transformation() const { return download(*g_); }

 private:
  void half_step(double parity);
  double functional() const;
  double theta() const;
  double links_concerned() const;

  GaugeFixing how_;
  LinkField u_, next_, hits_;
  std::optional<LinkField> g_;
};

}  // namespace quarksmith
