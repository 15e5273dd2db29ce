/// \file
/// What options belong to besides their command: an option is refused by name where it would do nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/options.hpp"

namespace quarksmith::apps {

/// What a command line has chosen, by name.
struct Choices {
  std::string action;
  std::vector<std::string> solvers;     ///< those named, or the default of the action
  std::vector<std::string> precisions;  ///< `double`, `double-half`, ...
  std::string preconditioner = "none";  ///< METHOD:STEPS
};

/// \throws UsageError an option of the command was given that belongs to other actions, solvers or precisions.
void check_options(const CLI::App& command, const Choices& choices);

/// \throws UsageError one of `options` was given; `why` ends the message: what they belong to, and what to do.
void refuse_options(const CLI::App& command, const std::vector<std::string_view>& options, const std::string& why);

/// Refuses numbers that are not finite (nan, inf), and negative ones where a count or seed is asked for, in all options
/// of all subcommands that take one.
void refuse_impossible_numbers(CLI::App& app);

}  // namespace quarksmith::apps
