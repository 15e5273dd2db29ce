/// \file
/// Staggered quarks: M = 2m + D with the thin links of a gauge field, or with the fat and long links of the asqtad and
/// HISQ actions (docs/operator-staggered.md).
#pragma once

#include <array>
#include <memory>

#include "solvers/actions/improved_links.hpp"
#include "solvers/actions/stated.hpp"

namespace quarksmith {

/// Parameters of a staggered action in C++.
struct StaggeredParameters {
  enum class Kind { thin, asqtad, hisq };
  Kind kind = Kind::thin;
  double mass = 0;          ///< m of M = 2m + D
  double u0 = 1;            ///< tadpole factor of asqtad
  double naik_epsilon = 0;  ///< of the long links of HISQ
  BoundaryPhases boundary{1, 1, 1, -1};

  /// The stated action that these are parameters of. \throws UsageError the mass is not positive.
  ActionValues values() const;
};

/// Quarks of one spin component whose links may be made from those of a gauge field by their statement: staggered,
/// asqtad, HISQ. Its domain is made for hops over reach() sites; the storage of links that a solver is given is that of
/// the long links where there are such, fat ones have 18 reals.
class StaggeredAction final : public Action {
 public:
  /// \param links fat and long ones that were made elsewhere, without phases; null: as stated.
  StaggeredAction(ActionValues values, const BoundaryPhases& boundary,
                  std::shared_ptr<const ImprovedLinks> links = nullptr)
      : values_(std::move(values)), boundary_(boundary), given_(std::move(links)) {}
  explicit StaggeredAction(const StaggeredParameters& p, std::shared_ptr<const ImprovedLinks> links = nullptr)
      : StaggeredAction(p.values(), p.boundary, std::move(links)) {}

  std::string name() const override { return option_name(values_.info().name); }
  int spins() const override { return 1; }
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;
  LinkDeviation deviation(const LinkStore& links) const override;
  HoppingTerm hopping(const LinkStore& links, const PrecisionInfo& precision) const;
  int reach() const override { return values_.info().reach; }

 private:
  bool thin() const { return values_.info().link_stages.empty(); }
  const ImprovedLinks& improved(const LinkStore& links) const;
  HoppingTerm on_device(const LinkStore& links, const PrecisionInfo& precision) const;

  ActionValues values_;
  BoundaryPhases boundary_;
  std::shared_ptr<const ImprovedLinks> given_;
};

}  // namespace quarksmith
