/// \file
/// A quark propagator: what describes it, and what it gives.
#pragma once

#include "runs/action.hpp"
#include "runs/deflation.hpp"
#include "runs/solve.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith::runs {

struct PropagatorDescription : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflate;
  std::string source = "point:0,0,0,0", sink = "point", smear_links, time_limit;
  int batch = 0;  ///< columns solved together; 0: as many as fit
  std::filesystem::path out, correlators;

  void list(Members& members) override;
  void check() override;
};

/// How a column of a quark was solved for.
struct ColumnSolve : ColumnReport {
  int spin = 0, colour = 0;         ///< of staggered quarks colour alone
  std::optional<double> mass;       ///< of staggered quarks
  std::vector<SolverEvent> events;  ///< what went wrong and was answered
  bool converged = true;
};

struct PropagatorResult {
  Coordinates lattice;         ///< extents of the whole one
  double plaquette = 0;        ///< of the links
  std::vector<double> masses;  ///< of staggered quarks
  bool finished = true;        ///< else there are columns and solves to go on from
  std::vector<ColumnSolve> solves = {};
  std::vector<Correlator> correlators = {};  ///< by t, counted from the source
  Provenance provenance;
  std::string sink;  ///< empty for staggered quarks, which have none
  std::optional<Saving> saving = {};
  /// All columns, each rank's part of them, after the sink; of runs in memory that are finished.
  std::optional<QuarkColumns> quark = {};

  /// Sums over the sites of each t, for example of `mesons` `g5`, the pion, or `proton`.
  /// \throws UnknownName there is none, or its numbers are complex.
  const std::vector<double>& correlator(std::string_view name) const;
};
/// \throws UsageError a member is missing or wrong; NotSU3; Error a column did not converge, or a file cannot be read
/// or written; Interrupted.
PropagatorResult run(PropagatorDescription& description, Session& session);

/// What of the run decides the columns, and what else is worth to know of them. The sink does not touch them.
PropagatorHeader propagator_header(const PropagatorDescription& d, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette, Session& session);

}  // namespace quarksmith::runs
