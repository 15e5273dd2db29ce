/// \file
/// Quark propagators: description, computation and results.
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
  int batch = 0;      ///< columns solved together; 0: as many as fit
  std::string split;  ///< groups of ranks along x, y, z, t that solve for different columns; empty: chosen
  std::filesystem::path out, correlators;

  void list(Members& members) override;
  void check() override;
};

/// Report of the solve for a column.
struct ColumnSolve : ColumnReport {
  int spin = 0, colour = 0;         ///< of the source; staggered quarks have spin 0
  std::optional<double> mass;       ///< of staggered quarks
  std::vector<SolverEvent> events;  ///< such as restarts, and changes of method or precision
  bool converged = true;
  double slice_residual = 0;  ///< largest |r| / |x| of a time slice, if that was a criterion of this run
};

struct PropagatorResult {
  Coordinates lattice;         ///< extents of the whole lattice
  double plaquette = 0;        ///< of the links
  std::vector<double> masses;  ///< of staggered quarks
  bool finished = true;        ///< false: a run that continues starts from the columns so far
  std::vector<ColumnSolve> solves = {};
  std::vector<Correlator> correlators = {};  ///< by t, counted from the source
  Provenance provenance;
  std::string sink;  ///< empty for staggered quarks
  std::optional<Saving> saving = {};
  /// Of each mass, or of the Dirac quark: time slices from the source up to which correlators are right; empty: all.
  std::vector<int> known_slices = {};
  /// All columns on the local lattice, with smeared sink; only of finished runs in memory.
  std::optional<QuarkColumns> quark = {};

  /// A correlator by t, for example of the meson `g5`, the pion, or `proton`.
  /// \throws UnknownName there is no such correlator, or its numbers are complex.
  const std::vector<double>& correlator(std::string_view name) const;
};
/// \throws UsageError a member is missing or wrong; NotSU3; Error a column did not converge, or a file cannot be read
/// or written; Interrupted.
PropagatorResult run(PropagatorDescription& description, Session& session);

/// The header of the propagator file: provenance of the columns, on which the sink has no influence, and remarks.
PropagatorHeader propagator_header(const PropagatorDescription& d, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette, Session& session);

}  // namespace quarksmith::runs
