/// \file
/// The choice of an action and its parameters. Names, parameters, ranges and help of all actions come from the table
/// that is generated from their statements (generated/actions.cpp).
#pragma once

#include <map>

#include "runs/action_reader.hpp"
#include "runs/session.hpp"
#include "runtime/io/propagator.hpp"
#include "solvers/actions/action.hpp"

namespace quarksmith::runs {

class TableReader;

/// Boundary phases.
using Phases = BoundaryPhases;

/// A chosen action with what runs record and default to.
struct ActionChoice {
  Action action;
  Provenance provenance;       ///< name, parameters, fields and boundary
  std::vector<double> masses;  ///< several for actions that take several, else one
  std::string solver;          ///< default method for this action
};

/// Options that choose an action, its parameters, and its links.
struct ActionDescription : Description {
  std::string gauge, lattice, action = "wilson", boundary, flavours = "0,0";
  /// Parameters and alternative parameters of actions as text, by their stated names.
  std::map<std::string, std::string, std::less<>> parameters;
  std::vector<std::string> field;  ///< NAME=FILE
  int slices = 16;
  bool allow_non_su3 = false;
  bool on_links = false;         ///< links come from elsewhere: neither gauge nor lattice is listed
  std::filesystem::path folder;  ///< start of relative paths of files that state actions

  void list(Members& members) override;
  /// Reads the statement of the action if the table names a file, so that its parameters become keys.
  void state(TableReader& table, const std::filesystem::path& from);
  /// Adds the members that are keys of a quark in parameter files.
  void list_keys(Members& members);
  /// \throws UsageError members contradict each other, are missing, or out of their range.
  void check() override;
  /// The entry of the action in the table of actions; for `twisted-mass` with epsilon that of the doublet.
  /// \throws UsageError there is no action of this name.
  const ActionInfo& info() const;
  /// The action with its fields, for these links. \param recorded whether its provenance is wanted, which has digests
  /// of the fields. \throws UsageError as check, or the fields do not fit the links.
  ActionChoice choose(const GaugeLinks& links, Session& session, bool recorded = true) const;
  /// The action of a quark in a parameter file, which names links elsewhere. \param folder start of relative paths of
  /// fields, where such files exist. \throws UsageError as choose.
  Action make(const Lattice& lattice, const std::filesystem::path& folder, const Session& session) const;
  /// Copies the values of another description, except parameters that `differing` gives itself.
  void begin_with(const ActionDescription& other, const Table& differing);

 private:
  ActionReader reader() const;
  std::string stated(const std::string& name) const;
};

/// Records digests, which keys of a quark do not show: of a formula that is not the library's, and of fields.
void note_action(TableReader& table, const Action& action, const Session& session);

/// Restricts a member to actions for which `has` is true.
Member& only_with(Member& member, const ActionDescription& action, const std::function<bool(const ActionInfo&)>& has);

/// Name, parameters, fields and boundary of an action. \param masses of the run; empty: the mass of the action.
Provenance provenance_of(const Action& action, const std::vector<double>& masses, Session& session);

/// A parameter of actions, or an alternative to one.
struct ActionMember {
  std::string name;                               ///< such as `csw_r`
  bool list = false;                              ///< whether it may take several numbers
  std::map<const ActionInfo*, std::string> help;  ///< by the actions that take it, entries of one table
};
/// The parameters and alternative parameters of all actions.
const std::vector<ActionMember>& action_members();
/// The default method for an action.
std::string default_solver(const ActionInfo& action);
/// Reads fields that an action takes besides the links. \param given texts `NAME=FILE[:DATASET]`, or `NAME=NUMBER` for
/// a number that is the same at all sites. \throws UsageError the action does not take a field, or lacks one; Error a
/// file cannot be read.
GivenFields read_fields(const ActionInfo& action, const std::vector<std::string>& given, const Lattice& lattice,
                        const Session& session, const Wording& wording);

/// Boundary conditions that have a name, and their phases in time.
inline constexpr std::pair<std::string_view, double> named_boundaries[] = {{"periodic", 1}, {"antiperiodic", -1}};
/// Boundary phases from a name such as `antiperiodic`, or from four angles in units of pi.
/// \throws UsageError the text is neither.
Phases boundary_phases(const std::string& text, const Wording& wording = {});
/// The boundary condition asked for; without one, the phase found in the links, else antiperiodic in time.
Phases choose_boundary(const std::string& boundary, const GaugeLinks& gauge, Session& session, const Wording& wording);
/// A provenance as texts, numbers with all digits.
std::map<std::string, std::string> texts_of(const Provenance& provenance);

}  // namespace quarksmith::runs
