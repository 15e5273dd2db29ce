/// \file
/// Files of near-null vectors of multigrid: mg_save, mg_load, mg_refresh.
#pragma once

#include "runs/action.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

struct NearNullDescription : Description {
  std::string load, save;
  bool refresh = false;  ///< those of `load` may be of other links or parameters: a round of adaptation comes first
  void list(Members& members) override;
  /// Where its members mean something. \param unless_used as of SolveDescription.
  void list(Members& members, const std::string& where, const std::function<std::string()>& unless_used);
  /// \throws UsageError mg_refresh without a file, or a file that is not there.
  void check() override;
  /// What multigrid begins with; null if there is no file. Collective.
  /// \throws UsageError it is of another lattice, or without `refresh` of another operator.
  std::shared_ptr<const NearNullVectors> read(const ActionChoice& choice, const HostGauge& gauge,
                                              const DomainPointer& domain, const SolveSettings& settings,
                                              Session& session) const;
  /// Writes those of a solver whose multigrid is set up, if there is a file for them. Collective.
  void write(const Solver& solver, const ActionChoice& choice, const NamedGauge& named, Session& session) const;
};

}  // namespace quarksmith::runs
