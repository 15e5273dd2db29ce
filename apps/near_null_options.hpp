/// \file
/// Near-null vectors of multigrid on command lines: --mg-save, --mg-load, --mg-refresh.
#pragma once

#include "apps/action_options.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::apps {

/// Files of near-null vectors, by options or by keys.
struct NearNullOptions {
  std::string load, save;
  bool refresh = false;  ///< those of `load` may be of other links or parameters: a round of adaptation comes first
  void add_to(CLI::App& command);
  /// \throws UsageError --mg-refresh without a file, or a file that is not there.
  void check() const;
  /// What multigrid begins with; null if there is no file. Collective.
  /// \throws UsageError it is of another lattice, or without `refresh` of another operator.
  std::shared_ptr<const NearNullVectors> read(const ActionChoice& choice, const HostGauge& gauge,
                                              const DomainPointer& domain, const SolveSettings& settings,
                                              const CommonOptions& common) const;
  /// Writes those of a solver whose multigrid is set up, if there is a file for them. Collective.
  void write(const Solver& solver, const ActionChoice& choice, const NamedGauge& named,
             const CommonOptions& common) const;
};

}  // namespace quarksmith::apps
