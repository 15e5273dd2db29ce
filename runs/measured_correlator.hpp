/// \file
/// Correlators of [[correlator]] in RUN.toml: each kind is a file of runs/measured_correlators/.
#pragma once

#include <memory>

#include "runs/measure_file.hpp"
#include "runtime/listed.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith::runs {

/// The keys of a correlator, from which its propagators and contraction follow. Each kind derives from this.
class CorrelatorTable : public Description {
 public:
  explicit CorrelatorTable(MeasurePlan& of) : plan(of) {}
  /// The keys of the kind, then those of momenta.
  void list(Members& members) final;
  void check() override;
  /// Sets propagators, structures and contraction of a correlator, once all keys are read. \throws Refusal
  virtual void complete(MeasureCorrelator& c) = 0;
  /// Momenta, averaged over equivalent ones if asked for. \param symmetry common to all parts of the correlator.
  MomentumGroups momenta(const SpaceSymmetry& symmetry) const;
  bool averages() const { return average_; }

 protected:
  virtual void list_kind(Members::Adder add) = 0;

  // Keys that several kinds have.
  Member& list_propagator(Members::Adder& add, std::string& name) const;
  Member& list_meson(Members::Adder& add, std::vector<std::string>& names) const;
  Member& list_baryon(Members::Adder& add, Member::Texts& names) const;
  static Member& list_gammas(Members::Adder& add, std::vector<std::string>& gammas);
  /// Adds a list of some of `names`; by default all are chosen.
  static Member& list_chosen(Members::Adder& add, const char* key, std::vector<std::string>& chosen,
                             const std::vector<std::string>& names);

  int node(const std::string& name) const { return plan.propagators.at(name); }
  std::vector<int> nodes(const std::vector<std::string>& names) const;
  const MeasureQuark& quark_of(int node) const { return plan.quarks[plan.nodes[node].quark]; }

  /// The quark lines of baryons: letters, and the node of each.
  struct BaryonLines {
    std::string letters;
    std::vector<int> nodes;
  };
  /// \throws Refusal an interpolator is unknown or has a line that is not in `quarks`, or a line of these is not used.
  BaryonLines lines_of(const Member::Texts& quarks, const char* key, const std::vector<std::string>& names) const;

  MeasurePlan& plan;

 private:
  bool average_ = false;
  long long largest_square_ = 0;
  std::vector<long long> momenta_;
};

/// A pair of gammas from `sink,source`, or from one name for both ends. \throws UnknownName
GammaPair gamma_pair_of(const std::string& text);
/// The pairs of the key `gammas`: `same` stands for the sixteen with one gamma at both ends, `all` for all 256.
std::vector<GammaPair> gamma_pairs_of(const std::vector<std::string>& gammas);
/// The indices of the chosen names in `names`.
std::vector<int> places_of(const std::vector<std::string>& chosen, const std::vector<std::string>& names);
/// Whether point-split currents of an action are conserved: it has isotropic Wilson hops, and with a fifth dimension
/// Shamir's form.
bool has_conserved_current(const Action& action);

/// A kind of correlator, defined by a file of runs/measured_correlators/.
struct MeasuredCorrelator {
  std::string_view name;   ///< the key `kind`
  bool staggered = false;  ///< for staggered quarks, else for Dirac quarks
  /// Makes the table of keys. \param reader for keys that the kind reads itself.
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
