/// \file
/// Commands that only programs have, since what they take or give is in memory.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

#include "python/objects.hpp"

namespace quarksmith::python {

/// What a solve takes and gives besides options.
struct SolveJob {
  const SpinorObject* b = nullptr;
  std::optional<SpinorObject> x;
  std::string failure;  ///< of the first right-hand side that missed its tolerance; x has the best iterates
};

/// `solve`, whose options are those of the command propagator.
void add_solve(CLI::App& app, SolveJob& job);
/// `read`: links that a file holds, or that are made by a rule.
void add_read(CLI::App& app);

}  // namespace quarksmith::python
