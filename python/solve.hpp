/// \file
/// Calls that only programs have, since what they take or give is in memory.
#pragma once

#include "python/objects.hpp"
#include "runs/command.hpp"
#include "runs/kept_solver.hpp"

namespace quarksmith::python {

/// `read`: links that a file holds, or that are made by a rule.
extern const runs::Command read_command;

/// What a solve gives.
struct Solved {
  SpinorObject x;
  std::string report;   ///< JSON
  std::string failure;  ///< of the first right-hand side that missed its tolerance; x has the best iterates
};

/// `solve`: an action on a gauge field, made ready once, with the session that takes its lines.
class SolveCall {
 public:
  static constexpr const char *name = "solve", *help = "Solve M x = b for all right-hand sides; returns x";
  SolveCall();
  runs::Members& members() { return members_; }
  runs::Session& session() { return session_; }
  /// \param domain of right-hand sides; null: one on a device of its own.
  void open(const runs::Table& values, DomainPointer domain);
  /// M x = b for all right-hand sides. \param guess of x, or null.
  Solved solve(const SpinorObject& b, const SpinorObject* guess) const;

 private:
  void check_guess(const SpinorObject& guess, const SpinorField& b) const;

  runs::Session session_;
  runs::InversionDescription described_;
  runs::Members members_;
  std::unique_ptr<runs::KeptSolver> kept_;
};

}  // namespace quarksmith::python
