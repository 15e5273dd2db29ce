/// \file
/// The measurements of `quarksmith measure` on one configuration.
#pragma once

#include "runs/column_groups.hpp"
#include "runs/measure_file.hpp"
#include "runs/smeared_links.hpp"
#include "runtime/io/record.hpp"
#include "solvers/solve/mass_solver.hpp"

namespace quarksmith::runs {

class MeasureRun {
 public:
  /// \param progress called with the number of propagators of this configuration that are done, and a note.
  /// \param split groups of ranks that solve for different columns, of quarks that allow it; empty: chosen.
  MeasureRun(const MeasurePlan& plan, const Configuration& configuration, NamedGauge named, Session& session,
             Stops& stops, std::function<void(double done, const std::string& note)> progress, std::string split = {});
  ~MeasureRun();

  /// Measures everything. Collective; all ranks get the same. \throws Stopped; Error a solve did not converge.
  Record operator()();
  /// Seconds of an iteration for a column of a quark, measured in a few iterations.
  double seconds_per_iteration(int quark);
  /// Where the time went, in words.
  std::string spent() const;

 private:
  /// A quark on this configuration.
  struct Quark {
    const MeasureQuark* of;
    SolveSettings settings;
    ChoiceNames choice_names;
    std::unique_ptr<Solver> solver;
    int width = 1;
    bool split = false;  ///< groups of ranks solve
  };

  void solve(int node, int position);
  void make(int node, int position);
  void contract(int correlator, int position, RecordArray& to);
  /// Solves for one noise, part by part.
  LoopSum loop_of(const LoopPlan& loop, const MomentumPhases& phases, int number);
  void measure_loop(const MeasureCorrelator& c, RecordArray& to);
  Quark& quark(int n);
  /// Solves for columns of a source, from `first` on. \param together quarks; several: all their masses in one solve,
  /// for one column.
  std::vector<SolveReport> solve_columns(const std::vector<int>& together, int first, SpinorField& x,
                                         const SpinorField& b);
  std::unique_ptr<Solver> make_solver(const MeasureQuark& q, const SolveSettings& settings);
  /// Forms groups of ranks, once the gauge is fixed. \throws UsageError no quark allows those that were asked for.
  void choose_groups();
  /// Whether columns of a quark need nothing but links of the configuration and themselves.
  bool can_be_split(int quark) const;
  /// Right-hand sides of a quark that are solved for together.
  int width(const Quark& q) const;
  std::vector<SolveReport> solve_sources(Quark& q, SpinorField& x, const SpinorField& b);
  /// Null if the quark is not deflated.
  std::shared_ptr<const Deflation> deflation_of(const MeasureQuark& q, const SolveSettings& settings) const;
  /// \throws Error a solve has not converged.
  void require_converged(const std::vector<SolveReport>& reports, const Quark& q,
                         const std::function<std::string(int)>& title) const;
  /// Columns of a source. \param sequential all columns of a sequential source, if it is one.
  SpinorField sources(int node, int position, int first, int count, const BasisInfo& basis,
                      const std::optional<Propagator>& sequential);
  /// The sequential source of a node; none for other nodes.
  std::optional<Propagator> sequential_source(int node, int position);
  /// Smears quark fields in place. \param links smearing of the links; empty: none.
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
  std::string split_;
  std::unique_ptr<ColumnGroups> groups_;  ///< null: all ranks solve together
  double plaquette_ = 0;
  std::vector<std::unique_ptr<Quark>> quarks_;
  std::map<std::vector<int>, std::unique_ptr<MassSolver>> of_masses_;  ///< by their nodes
  std::vector<std::vector<Coordinates>> positions_;                    ///< by source
  std::vector<std::unique_ptr<Propagator>> propagators_;               ///< by node, those that are there
  std::map<int, WallPropagator> on_slices_;                            ///< by node
  std::map<int, std::vector<Complex64>> at_sink_;                      ///< of sequential nodes, by position
  std::vector<double> solves_;                                         ///< iterations and residual of each column
  std::vector<long long> known_;  ///< time slices from its source up to which each propagator is known
  double made_ = 0;               ///< propagators that were solved for
  double solving_ = 0, smearing_ = 0, contracting_ = 0;  ///< seconds
};

}  // namespace quarksmith::runs
