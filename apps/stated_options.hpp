/// \file
/// Options of actions that commands know by their statement alone (generator/actions): each parameter is an option.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

#include "solvers/action_values.hpp"
#include "solvers/hopping_term.hpp"

namespace quarksmith::apps {

/// Those actions; the others of the table have options of their own.
const std::vector<const ActionInfo*>& stated_actions();
/// The action of that name as options have it, `twisted-mass`; null if it is none of these.
const ActionInfo* stated_action(const std::string& option);
/// Names of these actions, each after a comma; for messages.
std::string more_actions();

/// The same with what they are, each after a semicolon; for help.
std::string described_actions();

/// Adds options for their parameters; where other actions have an option of that name, it serves both.
void add_stated_options(CLI::App& command);
/// The action with the values that a command line gives.
/// \throws UsageError a parameter is missing or out of its range.
ActionValues stated_values(const ActionInfo& action, const CLI::App& command);
/// What solvers take: of hopping shape, or a formula as it stands.
std::shared_ptr<const Action> make_stated(const ActionValues& values, const BoundaryPhases& boundary);

}  // namespace quarksmith::apps
