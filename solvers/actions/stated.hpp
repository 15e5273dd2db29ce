/// \file
/// Actions as they are stated (generator/actions): all of their operators follow from the generated table.
#pragma once

#include <memory>

#include "solvers/actions/even_odd.hpp"

namespace quarksmith {

/// The operators of a stated action in one precision.
class StatedDirac final : public DiracOperator {
 public:
  /// \param source,sink of several flavours those of four-dimensional sources and quark fields.
  explicit StatedDirac(HoppingTerm hopping, int source = 0, int sink = 0)
      : hopping_(std::move(hopping)), matrix_(hopping_), source_(source), sink_(sink) {}
  const HoppingTerm& hopping() const { return hopping_; }
  const HoppingTerm* hops() const override { return &hopping_; }
  const ActionValues& values() const override { return hopping_.values(); }
  const LinearOperator& matrix() const override { return matrix_; }
  std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const override;
  std::unique_ptr<DiracOperator> dirichlet() const override;
  int work_fields() const override { return hopping_.has_term() ? 2 : 1; }
  bool embeds() const override { return hopping_.slices() > 1; }
  void embed(SpinorField& b, const SpinorField& source) const override;
  void project(SpinorField& quark, const SpinorField& x) const override;

 private:
  HoppingTerm hopping_;
  HoppingMatrix matrix_;
  int source_, sink_;
};

/// An action of hopping shape, with the links of the gauge field for its hops.
class StatedAction : public Action {
 public:
  /// \param source,sink as of StatedDirac.
  /// \throws UsageError the action is of another shape: domain walls, staggered quarks with fat and long links, and
  /// formulas with several links a term have operators of their own.
  StatedAction(ActionValues values, const BoundaryPhases& boundary, int source = 0, int sink = 0);
  /// Whether an action is of hopping shape, in four dimensions, with links of the gauge field alone.
  static bool serves(const ActionInfo& info);
  /// As options have it: `twisted-mass`.
  std::string name() const override;
  int spins() const override { return values_.info().spins; }
  int slices() const override { return values_.info().flavours; }
  /// Not where T vanishes: it cannot be inverted.
  bool has_even_odd() const override;
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;

 private:
  std::shared_ptr<const CloverTerm> clover(const LinkStore& links, const PrecisionInfo& precision) const;

  ActionValues values_;
  BoundaryPhases boundary_;
  int source_, sink_;
};

}  // namespace quarksmith
