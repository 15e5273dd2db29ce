/// \file
/// Which action a command works with. All actions, their names, options, ranges and help come from the table that their
/// statements give (generated/actions.cpp).
#pragma once

#include <map>

#include "apps/options.hpp"
#include "runtime/io/propagator.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/actions/action_reader.hpp"

namespace quarksmith::apps {

/// Boundary phases.
using Phases = BoundaryPhases;

/// An action by the options of a command.
struct ActionChoice {
  Action action;
  Provenance provenance;       ///< name, parameters, fields and boundary
  std::vector<double> masses;  ///< several of actions that take such, else one
  std::string solver;          ///< that serves it best
};

/// Which operator on which links.
struct ActionOptions {
  std::string gauge, lattice, action = "wilson", boundary, flavours = "0,0";
  std::vector<std::string> fields;
  int slices = 16;
  bool allow_non_su3 = false;

  void add_to(CLI::App& command);
  /// The action of the table; `twisted-mass` with --epsilon is that of two flavours.
  /// \throws UsageError there is none of this name.
  const ActionInfo& info(const CLI::App& command) const;
  /// \throws UsageError options that contradict each other, are missing, or out of their range.
  void check(const CLI::App& command) const;
  /// \throws UsageError likewise.
  ActionChoice choose(const CLI::App& command, const HostGauge& gauge, const CommonOptions& common) const;
};

/// Name, parameters, fields and boundary of an action. \param masses none: that of the action.
Provenance provenance_of(const Action& action, const std::vector<double>& masses, const CommonOptions& common);

/// An option of actions.
struct ActionOption {
  std::string name;                               ///< `--csw-r`
  bool list = false;                              ///< it may take several numbers
  std::map<const ActionInfo*, std::string> help;  ///< of the actions that take it; they stand in one table
};
/// All of them.
const std::vector<ActionOption>& action_options();
/// The method that is used for an action unless another is named.
std::string default_solver(const ActionInfo& action);
/// The fields that a command gives, as `NAME=FILE[:DATASET]`, NAME=NUMBER of one that is the same at all sites.
/// \param links of the configuration. \throws UsageError one that the action does not take, or lacks; Error it cannot
/// be read.
GivenFields read_fields(const ActionInfo& action, const std::vector<std::string>& given, const Lattice& lattice);

/// Boundary conditions that have a name, and their phases in time.
inline constexpr std::pair<std::string_view, double> named_boundaries[] = {{"periodic", 1}, {"antiperiodic", -1}};
/// One of these, or four phases in units of pi.
Phases boundary_phases(const std::string& text);
/// The boundary condition asked for; without one, the phase found in the links, else antiperiodic in time.
Phases choose_boundary(const std::string& boundary, const HostGauge& gauge, const CommonOptions& common);
/// What is recorded as text: numbers with all digits.
std::map<std::string, std::string> texts_of(const Provenance& provenance);

}  // namespace quarksmith::apps
