/// \file
/// Which action a run works with. All actions, their names, parameters, ranges and help come from the table that their
/// statements give (generated/actions.cpp).
#pragma once

#include <map>

#include "runs/session.hpp"
#include "runtime/io/propagator.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/actions/action_reader.hpp"

namespace quarksmith::runs {

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
  bool on_links = false;  ///< links are in memory: neither gauge nor lattice is listed

  void list(Members& members) override;
  /// \throws UsageError members that contradict each other, are missing, or out of their range.
  void check() override;
  /// The action of the table; `twisted-mass` with epsilon is that of two flavours.
  /// \throws UsageError there is none of this name.
  const ActionInfo& info() const;
  /// \throws UsageError as check, or the fields do not fit the links.
  ActionChoice choose(const HostGauge& links, Session& session) const;

 private:
  ActionReader reader() const;
};

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
