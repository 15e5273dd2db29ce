/// \file
/// What `quarksmith measure` does on a configuration.
#pragma once

#include "runs/stops.hpp"
#include "runs/measure_file.hpp"
#include "runs/smeared_links.hpp"
#include "runtime/io/record.hpp"
#include "solvers/solve/mass_solver.hpp"

namespace quarksmith::runs {

class MeasureRun {
 public:
  /// \param progress is told how many propagators of this configuration are there, and what is under way.
  MeasureRun(const MeasurePlan& plan, const Configuration& configuration, NamedGauge named, Session& session,
             Stops& stops, std::function<void(double done, const std::string& note)> progress);
  ~MeasureRun();

  /// All that is measured. Collective; all ranks get the same. \throws Stopped; Error a solve did not converge.
  Record operator()();
  /// Seconds of an iteration for a column of a quark, measured in a few: how many it will take depends on the links.
  double seconds_per_iteration(int quark);
  /// Where the time went, in words.
  std::string spent() const;

 private:
  struct Quark;
  void solve(int node, int position);
  void make(int node, int position);
  void contract(int correlator, int position, RecordArray& to);
  /// Solves for one noise, part by part.
  LoopSum loop_of(const LoopPlan& loop, const MomentumPhases& phases, int number);
  void measure_loop(const MeasureCorrelator& c, RecordArray& to);
  Quark& quark(int n);
  /// Solves for some columns of a source, from `first` on; of several quarks for one, the masses of all in one go.
  std::vector<SolveReport> solve_columns(const std::vector<int>& together, int first, SpinorField& x,
                                         const SpinorField& b);
  std::unique_ptr<Solver> make_solver(const MeasureQuark& q, const SolveSettings& settings);
  /// Null without.
  std::shared_ptr<const Deflation> deflation_of(const MeasureQuark& q, const SolveSettings& settings) const;
  /// \throws Error a solve has not converged.
  void require_converged(const std::vector<SolveReport>& reports, const Quark& q,
                         const std::function<std::string(int)>& title) const;
  /// Columns of the sources. \param sequential of such a propagator, all columns.
  SpinorField sources(int node, int position, int first, int count, const BasisInfo& basis,
                      const std::optional<Propagator>& sequential);
  /// None of a propagator whose source is not made of others.
  std::optional<Propagator> sequential_source(int node, int position);
  /// In place. \param links how they are smeared; empty: not.
  void smear_quarks(const QuarkSmearing& how, const std::string& links, SpinorField& psi);
  Record begun();

  const MeasurePlan& plan_;
  const Configuration& configuration_;
  NamedGauge named_;
  Session& session_;
  Stops& stops_;
  std::function<void(double, const std::string&)> progress_;
  DomainPointer domain_;
  std::unique_ptr<SmearedLinks> links_;
  double plaquette_ = 0;
  std::vector<std::unique_ptr<Quark>> quarks_;
  std::map<std::vector<int>, std::unique_ptr<MassSolver>> of_masses_;  ///< by their nodes
  std::vector<std::vector<Coordinates>> positions_;                    ///< by source
  std::vector<std::unique_ptr<Propagator>> propagators_;               ///< by node, those that are there
  std::map<int, WallPropagator> on_slices_;                            ///< by node
  std::map<int, std::vector<Complex64>> at_sink_;                      ///< of sequential nodes, by position
  std::vector<double> solves_;                                         ///< iterations and residual of each column
  double made_ = 0;                                                    ///< propagators that were solved for
  double solving_ = 0, smearing_ = 0, contracting_ = 0;                ///< seconds
};

}  // namespace quarksmith::runs
