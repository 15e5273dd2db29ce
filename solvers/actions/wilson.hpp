/// \file
/// The Wilson, Wilson-clover and twisted-mass actions by the names that their parameters have in the field.
#pragma once

#include "solvers/actions/stated.hpp"

namespace quarksmith {

/// Parameters of a Wilson-type action, in the mass normalisation of docs/conventions.md.
struct WilsonParameters {
  double mass = 0;
  double xi0 = 1;    ///< bare anisotropy a_s / a_t
  double nu = 1;     ///< ratio of the bare speed of light to one
  double csw_r = 0;  ///< clover coefficient of space planes, c_ij = csw_r / xi0
  double csw_t = 0;  ///< clover coefficient of time planes, c_i4 = csw_t
  Twist twist;       ///< M + i mu gamma_5, or + i mu gamma_5 tau_3 + epsilon tau_1
  /// Phase that multiplies the hop across the last slice of each direction.
  BoundaryPhases boundary{1, 1, 1, -1};

  bool has_clover() const { return csw_r != 0 || csw_t != 0; }
  /// The stated action that these are parameters of, and its values.
  /// \throws UsageError flavours or numbers that no action has.
  ActionValues values() const;
  /// m = 1/(2 kappa) - 4, also for anisotropic actions.
  static double mass_of_kappa(double kappa) { return 1 / (2 * kappa) - 4; }
  /// exp(i pi angle), exactly real for integers.
  static Complex64 phase_of(double angle);
};

/// The hopping term of these parameters.
class WilsonHopping : public HoppingTerm {
 public:
  /// \param plain_links the same gauge field with 18 doubles; needed if the action has a clover term.
  WilsonHopping(std::shared_ptr<const LinkField> links, const PrecisionInfo& spinors, const BasisInfo& basis,
                const WilsonParameters& parameters, const LinkField* plain_links = nullptr)
      : HoppingTerm(std::move(links), spinors, basis, parameters.values(), parameters.boundary,
                    plain_links == nullptr ? nullptr : clover_of(parameters.values(), *plain_links, spinors)) {}
};
using WilsonMatrix = HoppingMatrix;
using WilsonEvenOdd = GeneralEvenOdd;
using WilsonDirac = StatedDirac;

/// Wilson-type actions.
class WilsonAction final : public StatedAction {
 public:
  explicit WilsonAction(const WilsonParameters& p)
      : StatedAction(p.values(), p.boundary, p.twist.source, p.twist.sink) {}
};

}  // namespace quarksmith
