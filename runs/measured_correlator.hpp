/// \file
/// Correlators of [[correlator]] in RUN.toml: each kind is a file of runs/measured_correlators/.
#pragma once

#include <memory>

#include "runs/measure_file.hpp"
#include "runtime/listed.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith::runs {

/// The keys of a correlator, and what it is made of. A kind derives from it.
class CorrelatorTable : public Description {
 public:
  explicit CorrelatorTable(MeasurePlan& of) : plan(of) {}
  /// The keys of the kind, then those of momenta.
  void list(Members& members) final;
  void check() override;
  /// Propagators, structures, and what contracts them, once all keys are there. \throws Refusal
  virtual void complete(MeasureCorrelator& c) = 0;
  /// \param symmetry of all that the correlator is made of.
  MomentumGroups momenta(const SpaceSymmetry& symmetry) const;
  bool averages() const { return average_; }

 protected:
  virtual void list_kind(Members::Adder add) = 0;

  // Keys that several kinds have.
  Member& list_propagator(Members::Adder& add, std::string& name) const;
  Member& list_meson(Members::Adder& add, std::vector<std::string>& names) const;
  Member& list_baryon(Members::Adder& add, Member::Texts& names) const;
  static Member& list_gammas(Members::Adder& add, std::vector<std::string>& gammas);
  /// All `names` unless some are given.
  static Member& list_chosen(Members::Adder& add, const char* key, std::vector<std::string>& chosen,
                             const std::vector<std::string>& names);

  int node(const std::string& name) const { return plan.propagators.at(name); }
  std::vector<int> nodes(const std::vector<std::string>& names) const;
  const MeasureQuark& quark_of(int node) const { return plan.quarks[plan.nodes[node].quark]; }

  /// The letters of the lines of baryons, and their nodes.
  struct BaryonLines {
    std::string letters;
    std::vector<int> nodes;
  };
  /// \throws Refusal there is no interpolator of a name, it has a line that is not there, or none has one that is.
  BaryonLines lines_of(const Member::Texts& quarks, const char* key, const std::vector<std::string>& names) const;

  MeasurePlan& plan;

 private:
  bool average_ = false;
  long long largest_square_ = 0;
  std::vector<long long> momenta_;
};

/// A gamma, or `sink,source`. \throws UnknownName
GammaPair gamma_pair_of(const std::string& text);
/// Those of the key `gammas`: `same` stands for sixteen, each at both ends, `all` for all pairs.
std::vector<GammaPair> gamma_pairs_of(const std::vector<std::string>& gammas);
/// The places of names among those that there are.
std::vector<int> places_of(const std::vector<std::string>& chosen, const std::vector<std::string>& names);
/// A quark of which currents are conserved that join neighbouring sites: its hops are those of Wilson, alike in all
/// directions; with a fifth dimension those of Shamir's form.
bool has_conserved_current(const Action& action);

/// A kind of correlator: what a file of runs/measured_correlators/ defines.
struct MeasuredCorrelator {
  std::string_view name;   ///< the key `kind`
  bool staggered = false;  ///< of staggered quarks; others are of Dirac quarks
  /// \param reader whose keys are read besides those that the table lists.
  std::unique_ptr<CorrelatorTable> (*table)(MeasurePlan& plan, TableReader& reader);
};

template <class Table>
std::unique_ptr<CorrelatorTable> correlator_table(MeasurePlan& plan, TableReader&) {
  return std::make_unique<Table>(plan);
}

}  // namespace quarksmith::runs

namespace quarksmith {
template <>
std::span<const runs::MeasuredCorrelator* const> listed<runs::MeasuredCorrelator>();
}  // namespace quarksmith
