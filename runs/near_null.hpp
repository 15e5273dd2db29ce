/// \file
/// Files of near-null vectors of multigrid: mg_save, mg_load, mg_refresh.
#pragma once

#include "runs/action.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

struct NearNullDescription : Description {
  std::string load, save;
  bool refresh = false;  ///< vectors of `load` may be of other links or parameters, and are adapted first
  void list(Members& members) override;
  /// Adds its members, for use only `where`. \param unless_used as of SolveDescription.
  void list(Members& members, const std::string& where, const std::function<std::string()>& unless_used);
  /// \throws UsageError `refresh` is given without a file, or the file does not exist.
  void check() override;
  /// The near-null vectors of the file of `load`; null if there is none. Collective.
  /// \throws UsageError they are of another lattice, or without `refresh` of another operator.
  std::shared_ptr<const NearNullVectors> read(const ActionChoice& choice, const GaugeLinks& gauge,
                                              const DomainPointer& domain, const SolveSettings& settings,
                                              Session& session) const;
  /// Writes the near-null vectors of a solver with multigrid to the file of `save`, if that is given. Collective.
  void write(const Solver& solver, const ActionChoice& choice, const NamedGauge& named, Session& session) const;
};

}  // namespace quarksmith::runs
