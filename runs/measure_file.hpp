/// \file
/// RUN.toml, the parameter file of `quarksmith measure`: configurations, and what is measured on them.
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

/// A configuration of a run and its number.
struct Configuration {
  std::string gauge;  ///< a path, or the name of generated links
  long long number = 0;

  /// Name of its group in result files.
  std::string label() const;
};

/// Largest component of a momentum.
constexpr int most_momentum = 10000;
/// Name of the parameter of sources that is the seed, which differs between configurations.
constexpr std::string_view seed_parameter = "SEED";
/// The key of a parameter of a kind of source.
std::string key_of(const ChoiceParameter& parameter);

/// A source, which is put at each of its positions in turn.
struct MeasureSource {
  std::string name;
  const SourceKind* kind = nullptr;
  std::map<std::string, std::string, std::less<>> numbers;  ///< of the kind by key_of, other than coordinates and seed
  std::vector<Coordinates> positions;                       ///< coordinates that the kind lacks are 0
  bool drawn = false;                                       ///< positions are drawn for each configuration
  std::uint64_t seed = 0;                                   ///< of drawn positions and of noise
  QuarkSmearing smearing;
  std::string links;  ///< smearing of the links that smear the source; empty: none
  Momentum momentum{};

  int coordinates() const;
  /// \param configuration number of the configuration. \throws UsageError a coordinate is outside the lattice.
  std::vector<Coordinates> positions_on(const Lattice& lattice, long long configuration) const;
  SourceSettings at(const Coordinates& position, const Lattice& lattice, long long configuration) const;
};

/// How quarks are solved for.
struct QuarkSolves : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflation;  ///< how many vectors, or the prefix of one file for each configuration
  std::string smear_links;

  /// Lists the members of `solve`, less files of near-null vectors, and those for deflation and smeared links.
  void list(Members& members) override;
  void check() override;
  /// Whether `deflation` gives a number of vectors, not a file.
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

/// Propagators and sink from which a sequential source is made.
struct SequentialSource {
  std::vector<int> inputs;  ///< nodes
  std::size_t line = 0;     ///< index of the input that is the quark line with the current
  /// Makes the source: the derivative of the two-point function with respect to that line.
  std::function<SinkSource(std::span<const Propagator* const> inputs, const SinkPlace& sink)> make;
  int separation = 0;  ///< of sink and source in time
  Momentum momentum{};
};

/// A propagator to solve for, or one that is made from another by smearing its sink.
struct PropagatorNode {
  std::string name;
  int quark = -1, source = -1;  ///< for a sequential propagator: MeasurePlan::adjoint_of, and the source of its inputs
  int of = -1;                  ///< the propagator whose sink is smeared; -1: none, it is solved for
  QuarkSmearing sink = {};      ///< smearing of the sink, or of the sequential source
  std::string links = {};       ///< as of MeasureSource
  std::shared_ptr<const SequentialSource> sequential = nullptr;
  bool on_slices = false;  ///< whether it is also kept on all slices of a fifth dimension
};

/// Phases of momenta, and shifts of propagators, with which a correlator is contracted.
struct ContractionPlace {
  MomentumPhases phases;
  AheadOf ahead, ahead_without_phase;  ///< with the links of the correlator's quark; with and without boundary phase
  const WallPropagator* on_slices;     ///< the first propagator on slices of the fifth dimension, if kept; else null
};

/// Momenta of a correlator, in groups whose results are averaged.
struct MomentumGroups {
  std::vector<Momentum> names;
  std::vector<std::vector<Momentum>> groups;

  /// All momenta, one group after the other.
  std::vector<Momentum> all() const;
  /// Averages the results of momentum_sums for all() over each group, with t counted from the source.
  /// \param count numbers k of each momentum and t. \param time of the source. \return [group][k][t]
  std::vector<Complex64> averaged(const std::vector<Complex64>& sums, int count, int time) const;
};

/// A disconnected loop, estimated by solves for `count` noise vectors.
struct LoopPlan {
  int quark = 0, order = 2, count = 1;
  std::uint64_t seed = 0;
  Dilution dilution;
  std::vector<int> gammas;
};

struct MeasureCorrelator {
  std::string name, kind;
  std::vector<int> propagators;         ///< nodes, in the order in which `contract` takes them
  std::vector<std::string> structures;  ///< names of the numbers that it has for each momentum
  MomentumGroups momenta;
  std::function<std::vector<Complex64>(std::span<const Propagator* const>, const ContractionPlace&)> contract;
  std::optional<LoopPlan> loop = {};  ///< a disconnected loop, instead of `propagators` and `contract`
  int ahead = -1;                     ///< the quark whose links ContractionPlace::ahead takes
  int sequential = -1;                ///< the sequential node whose two-point function at the sink is recorded
  int work = 0;                       ///< number of propagators that `contract` makes for itself
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
  std::optional<GaugeFixing> fixing;        ///< gauge in which all else is measured; none: links are not fixed
  int reach = 1;                            ///< sites of the longest hop
  int slices = 1;                           ///< time slices of the lattice
  std::map<std::string, std::string> keys;  ///< by `WHAT: KEY`, values that must stay the same when a run continues

  /// Names of all sources or quarks; number() and named() find one by its name.
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

  /// Number of columns of a propagator.
  int columns(const PropagatorNode& n) const { return 3 * quarks[n.quark].action.spins(); }
  bool staggered(int node) const { return quarks[nodes[node].quark].action.spins() == 1; }
  /// The propagators that one solve gives, `node` among them: staggered quarks of one source that differ only in their
  /// mass. In the order of the nodes.
  std::vector<int> solved_with(int node) const;
  /// The quark of sequential propagators of a quark: itself, or one that is added.
  int adjoint_of(int quark);
  /// Nodes of propagators, then of correlators.
  std::vector<GraphNode> graph(const Lattice& lattice) const;
  /// Number of columns to solve for on a configuration. \param quark only of this one; -1: of all.
  long long solves(const Lattice& lattice, int quark = -1) const;
  /// Number of positions of each source on a configuration.
  int positions() const { return sources.empty() ? 1 : static_cast<int>(sources[0].positions.size()); }
};

/// The table [configurations] of a parameter file.
struct ConfigurationList {
  std::vector<Configuration> all;  ///< by number
  std::string lattice;             ///< `X,Y,Z,T`, for file formats that do not record the extents
  bool allow_non_su3 = false;
};
ConfigurationList read_configurations(TableReader& file, const std::filesystem::path& folder, const Session& session);
/// Reads all tables but [configurations]. \param lattice the local lattice.
/// \throws UsageError a key is missing or wrong; the message names file, line and remedy.
MeasurePlan read_measure(TableReader& file, const std::filesystem::path& folder, const Lattice& lattice,
                         const Session& session);

/// Reads a correlator of propagators in `plan`, and adds further propagators that it needs to the plan.
/// \throws UsageError a key is missing or wrong; the message names file, line and remedy.
MeasureCorrelator read_correlator(TableReader& table, const std::string& name, MeasurePlan& plan,
                                  const Lattice& lattice);

}  // namespace quarksmith::runs
