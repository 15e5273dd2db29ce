/// \file
/// Staggered quarks: M = 2m + D with the thin links of a gauge field, or with the fat and long links of the asqtad and
/// HISQ actions (docs/operator-staggered.md).
#pragma once

#include <array>
#include <memory>

#include "solvers/actions/improved_links.hpp"
#include "solvers/actions/stated.hpp"

namespace quarksmith {

/// Parameters of a staggered action.
struct StaggeredParameters {
  enum class Kind { thin, asqtad, hisq };
  Kind kind = Kind::thin;
  double mass = 0;          ///< m of M = 2m + D
  double u0 = 1;            ///< tadpole factor of asqtad
  double naik_epsilon = 0;  ///< of the long links of HISQ
  BoundaryPhases boundary{1, 1, 1, -1};

  /// The stated action that these are parameters of, with their mass or another one.
  ActionValues values() const { return values(mass); }
  ActionValues values(double m) const;
};

/// Staggered, asqtad or HISQ quarks of one mass. Its domain is made for hops over reach() sites; the storage of links
/// that a solver is given is that of the long links where there are such, fat ones have 18 reals.
class StaggeredAction final : public Action {
 public:
  /// \throws UsageError the mass is not positive.
  explicit StaggeredAction(const StaggeredParameters& parameters);
  /// With fat and long links that were made elsewhere, without phases.
  StaggeredAction(const StaggeredParameters& parameters, std::shared_ptr<const ImprovedLinks> links);

  std::string name() const override;
  int spins() const override { return 1; }
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;
  LinkDeviation deviation(const LinkStore& links) const override;
  HoppingTerm hopping(const LinkStore& links, const PrecisionInfo& precision) const;
  const StaggeredParameters& parameters() const { return parameters_; }
  int reach() const override { return parameters_.values().info().reach; }

 private:
  const ImprovedLinks& improved(const LinkStore& links) const;

  StaggeredParameters parameters_;
  std::shared_ptr<const ImprovedLinks> given_;
};

}  // namespace quarksmith
