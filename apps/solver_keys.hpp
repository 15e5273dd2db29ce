/// \file
/// How quarks are solved for by the keys of a table of RUN.toml: the options of commands that solve.
#pragma once

#include "apps/solver_options.hpp"
#include "apps/toml_file.hpp"

namespace quarksmith::apps {

/// A solver by its keys.
struct SolverKeys {
  SolverChoices choices;
  SolverChoices::Stated stated;
  std::string solver, precision = "double";  ///< solver: empty for that which serves the action best

  SolveSettings settings(const HostGauge& gauge, const Action& action, const CommonOptions& common) const;
};

/// Their names.
std::vector<std::string> solver_key_names();
/// \param folder from which paths start. \throws UsageError a value does not exist, or a key belongs to another solver
/// or precision: the message names file, line and remedy.
SolverKeys read_solver_keys(TomlReader& table, const std::filesystem::path& folder);

}  // namespace quarksmith::apps
