/// \file
/// Commands that only programs have, since what they take or give is in memory.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "python/objects.hpp"

namespace quarksmith::python {

/// What a solve gives.
struct Solved {
  SpinorObject x;
  std::string failure;  ///< of the first right-hand side that missed its tolerance; x has the best iterates
};

/// An action on a gauge field, ready to solve. Its calls are made while a command is under way.
class KeptSolver {
 public:
  virtual ~KeptSolver() = default;
  /// M x = b for all right-hand sides; tells the caller what it did. \param guess of x, or null.
  virtual Solved solve(const SpinorObject& b, const SpinorObject* guess) const = 0;
};

/// What a solve takes and gives besides options.
struct SolveJob {
  const SpinorObject *b = nullptr, *guess = nullptr;
  DomainPointer domain{};              ///< of a solver that is kept; else that of b serves
  std::optional<Solved> solved{};      ///< with b
  std::unique_ptr<KeptSolver> kept{};  ///< without
};

/// `solve`, whose options are those of the command propagator.
void add_solve(CLI::App& app, SolveJob& job);
/// `read`: links that a file holds, or that are made by a rule.
void add_read(CLI::App& app);

}  // namespace quarksmith::python
