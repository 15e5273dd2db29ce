/// \file
/// Which action a run works with. All actions, their names, parameters, ranges and help come from the table that their
/// statements give (generated/actions.cpp).
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

/// An action by its description.
struct ActionChoice {
  Action action;
  Provenance provenance;       ///< name, parameters, fields and boundary
  std::vector<double> masses;  ///< several of actions that take such, else one
  std::string solver;          ///< that serves it best
};

/// Which operator on which links.
struct ActionDescription : Description {
  std::string gauge, lattice, action = "wilson", boundary, flavours = "0,0";
  /// Parameters and alternative parameters of actions as text, by their stated names.
  std::map<std::string, std::string, std::less<>> parameters;
  std::vector<std::string> field;  ///< NAME=FILE
  int slices = 16;
  bool allow_non_su3 = false;
  bool on_links = false;         ///< links come from elsewhere: neither gauge nor lattice is listed
  std::filesystem::path folder;  ///< from which the path of a file that states the action starts

  void list(Members& members) override;
  /// Takes the statement of an action whose file a table names: its parameters are keys from here on.
  void state(TableReader& table, const std::filesystem::path& from);
  /// The members that are keys of a quark in a file.
  void list_keys(Members& members);
  /// \throws UsageError members that contradict each other, are missing, or out of their range.
  void check() override;
  /// The action of the table; `twisted-mass` with epsilon is that of two flavours.
  /// \throws UsageError there is none of this name.
  const ActionInfo& info() const;
  /// \throws UsageError as check, or the fields do not fit the links.
  ActionChoice choose(const HostGauge& links, Session& session) const;
  /// The action of a quark in a file, whose links are those of other tables. \param folder from which the paths of
  /// fields start, if they are there. \throws UsageError as choose.
  Action make(const Lattice& lattice, const std::filesystem::path& folder, const Session& session) const;
  /// Takes what another one says, but for parameters that keys of a table give.
  void begin_with(const ActionDescription& other, const Table& differing);

 private:
  ActionReader reader() const;
  std::string stated(const std::string& name) const;
};

/// Notes what the keys of a quark do not say: digests of a formula that is not the library's, and of fields.
void note_action(TableReader& table, const Action& action, const Session& session);

/// A member with actions of some kind alone; `where` says of which.
Member& only_with(Member& member, const ActionDescription& action, const std::function<bool(const ActionInfo&)>& has);

/// Name, parameters, fields and boundary of an action. \param masses none: that of the action.
Provenance provenance_of(const Action& action, const std::vector<double>& masses, Session& session);

/// A parameter of actions, or an alternative to one.
struct ActionMember {
  std::string name;                               ///< `csw_r`
  bool list = false;                              ///< it may take several numbers
  std::map<const ActionInfo*, std::string> help;  ///< of the actions that take it; they stand in one table
};
/// All of them.
const std::vector<ActionMember>& action_members();
/// The method that is used for an action unless another is named.
std::string default_solver(const ActionInfo& action);
/// The fields that a description gives, as `NAME=FILE[:DATASET]`, NAME=NUMBER of one that is the same at all sites.
/// \param links of the configuration. \throws UsageError one that the action does not take, or lacks; Error it cannot
/// be read.
GivenFields read_fields(const ActionInfo& action, const std::vector<std::string>& given, const Lattice& lattice,
                        const Session& session, const Wording& wording);

/// Boundary conditions that have a name, and their phases in time.
inline constexpr std::pair<std::string_view, double> named_boundaries[] = {{"periodic", 1}, {"antiperiodic", -1}};
/// One of these, or four phases in units of pi.
Phases boundary_phases(const std::string& text, const Wording& wording = {});
/// The boundary condition asked for; without one, the phase found in the links, else antiperiodic in time.
Phases choose_boundary(const std::string& boundary, const HostGauge& gauge, Session& session, const Wording& wording);
/// What is recorded as text: numbers with all digits.
std::map<std::string, std::string> texts_of(const Provenance& provenance);

}  // namespace quarksmith::runs
