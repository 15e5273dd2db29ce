/// \file
/// What is measured on which configurations: RUN.toml of `quarksmith measure`.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runs/deflation.hpp"
#include "runs/measure_observables.hpp"
#include "runs/solve.hpp"
#include "runs/table_reader.hpp"
#include "solvers/measure/currents.hpp"
#include "solvers/measure/disconnected.hpp"
#include "solvers/measure/graph.hpp"
#include "solvers/measure/momenta.hpp"
#include "solvers/measure/sequential.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {

/// A configuration by its place in the run.
struct Configuration {
  std::string gauge;  ///< a path, or one that is made
  long long number = 0;

  /// Of its group in files.
  std::string label() const;
};

/// Largest component of a momentum.
constexpr int most_momentum = 10000;
/// The parameter of sources that configurations shift.
constexpr std::string_view seed_parameter = "SEED";
/// The key of a parameter of a kind of source.
std::string key_of(const ChoiceParameter& parameter);

/// A source at one of its positions.
struct MeasureSource {
  std::string name;
  const SourceKind* kind = nullptr;
  std::map<std::string, std::string, std::less<>> numbers;  ///< of the kind by key_of, other than coordinates and seed
  std::vector<Coordinates> positions;                       ///< coordinates that the kind lacks are 0
  bool drawn = false;                                       ///< for each configuration
  std::uint64_t seed = 0;                                   ///< of drawn positions and of noise
  QuarkSmearing smearing;
  std::string links;  ///< smearing of the links for it; empty: none
  Momentum momentum{};

  int coordinates() const;
  /// \param configuration number of one. \throws UsageError a coordinate outside the lattice.
  std::vector<Coordinates> positions_on(const Lattice& lattice, long long configuration) const;
  SourceSettings at(const Coordinates& position, const Lattice& lattice, long long configuration) const;
};

/// How quarks are solved for.
struct QuarkSolves : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflation;  ///< its text a number, or the prefix of a file for each configuration
  std::string smear_links;

  /// Those of `solve` without files of near-null vectors, and its own.
  void list(Members& members) override;
  void check() override;
  /// Whether the text of `deflation` is a number.
  bool counts() const;
};

struct MeasureQuark {
  std::string name;
  Action action;
  std::shared_ptr<QuarkSolves> solves;
  bool is_adjoint = false;  ///< Action::adjoint of another quark, whose eigenvectors are not its own

  const std::string& smear_links() const { return solves->smear_links; }
  bool deflated() const { return !is_adjoint && solves->deflation.is_given(); }
};

/// What a sequential source is made of.
struct SequentialSource {
  std::vector<int> inputs;  ///< nodes
  std::size_t line = 0;     ///< the one of them that carries the current
  /// What follows from the derivative of the two-point function by it.
  std::function<SinkSource(std::span<const Propagator* const> inputs, const SinkPlace& sink)> make;
  int separation = 0;  ///< of sink and source in time
  Momentum momentum{};
};

/// A propagator that is solved for, or another one with a smeared sink.
struct PropagatorNode {
  std::string name;
  int quark = -1, source = -1;  ///< of a sequential one MeasurePlan::adjoint_of, and the source of its inputs
  int of = -1;                  ///< the propagator whose sink is smeared; -1: none, it is solved for
  QuarkSmearing sink = {};      ///< of the sequential source where there is one
  std::string links = {};       ///< as of MeasureSource
  std::shared_ptr<const SequentialSource> sequential = nullptr;
  bool on_slices = false;  ///< it is kept on all slices of a fifth dimension, too
};

/// Where and how propagators are contracted.
struct ContractionPlace {
  MomentumPhases phases;
  AheadOf ahead, ahead_without_phase;  ///< with the links of a quark, and the phase of its boundary
  const WallPropagator* on_slices;     ///< the first propagator there, if it is kept there
};

/// Momenta of a correlator; the results of a group are averaged.
struct MomentumGroups {
  std::vector<Momentum> names;
  std::vector<std::vector<Momentum>> groups;

  /// All of them, one group after the other.
  std::vector<Momentum> all() const;
  /// The means of groups of what momentum_sums gives for all(), and t counted from the time of the source.
  /// \return [group][k][t]
  std::vector<Complex64> averaged(const std::vector<Complex64>& sums, int count, int time) const;
};

/// A disconnected loop: solves of its own, for some noises.
struct LoopPlan {
  int quark = 0, order = 2, count = 1;
  std::uint64_t seed = 0;
  Dilution dilution;
  std::vector<int> gammas;
};

struct MeasureCorrelator {
  std::string name, kind;
  std::vector<int> propagators;         ///< nodes, in the order in which `contract` takes them
  std::vector<std::string> structures;  ///< what it has for each momentum
  MomentumGroups momenta;
  std::function<std::vector<Complex64>(std::span<const Propagator* const>, const ContractionPlace&)> contract;
  std::optional<LoopPlan> loop = {};  ///< in the place of propagators and `contract`
  int ahead = -1;                     ///< quark of ContractionPlace
  int sequential = -1;                ///< the node whose two-point function at the sink is told
  int work = 0;                       ///< propagators that are made meanwhile
};

/// The seed of noise on a configuration.
std::uint64_t noise_seed(std::uint64_t seed, long long configuration);

struct MeasurePlan {
  std::vector<MeasureSource> sources;
  std::vector<MeasureQuark> quarks;
  std::vector<PropagatorNode> nodes;
  std::map<std::string, int> propagators;  ///< nodes by the names of [[propagator]]
  std::vector<MeasureCorrelator> correlators;
  std::vector<MeasureObservable> observables;
  FixingFiles fixing_files;
  std::optional<GaugeFixing> fixing;        ///< of the links that all else sees
  int reach = 1;                            ///< of the longest hop
  int slices = 1;                           ///< of the lattice in time
  std::map<std::string, std::string> keys;  ///< `WHAT: KEY` of all that must be the same when a run goes on

  /// Names of sources or quarks; the one of a name, and its number.
  template <class All>
  static std::vector<std::string> names(const All& all) {
    std::vector<std::string> found;
    for (const auto& one : all) found.push_back(one.name);
    return found;
  }
  template <class All>
  static int number(const All& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return static_cast<int>(found - all.begin());
  }
  template <class All>
  static const auto& named(const All& all, const std::string& name) {
    return all[static_cast<std::size_t>(number(all, name))];
  }

  std::vector<std::string> names_of_propagators() const;

  /// Columns of a propagator.
  int columns(const PropagatorNode& n) const { return 3 * quarks[n.quark].action.spins(); }
  bool staggered(int node) const { return quarks[nodes[node].quark].action.spins() == 1; }
  /// The propagators that one solve gives: staggered quarks that differ in their mass alone, of one source. `node` is
  /// among them, in the order of the nodes.
  std::vector<int> solved_with(int node) const;
  /// The quark of sequential propagators of a quark: itself, or one that is added.
  int adjoint_of(int quark);
  /// Nodes of propagators, then of correlators.
  std::vector<GraphNode> graph(const Lattice& lattice) const;
  /// Columns that are solved for on a configuration, of one quark or of all.
  long long solves(const Lattice& lattice, int quark = -1) const;
  /// How often a source is put somewhere on each configuration.
  int positions() const { return sources.empty() ? 1 : static_cast<int>(sources[0].positions.size()); }
};

/// [configurations] of a file.
struct ConfigurationList {
  std::vector<Configuration> all;  ///< by number
  std::string lattice;             ///< `X,Y,Z,T` of formats that do not record it
  bool allow_non_su3 = false;
};
ConfigurationList read_configurations(TableReader& file, const std::filesystem::path& folder, const Session& session);
/// All else. \param lattice this rank's part.
/// \throws UsageError the message names file, line and remedy.
MeasurePlan read_measure(TableReader& file, const std::filesystem::path& folder, const Lattice& lattice,
                         const Session& session);

/// A correlator of the propagators in `plan`, to which others that it needs are added. \throws UsageError likewise.
MeasureCorrelator read_correlator(TableReader& table, const std::string& name, MeasurePlan& plan,
                                  const Lattice& lattice);

}  // namespace quarksmith::runs
