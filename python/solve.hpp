/// \file
/// Commands that exist only for programs, since they take or return data in memory.
#pragma once

#include "python/objects.hpp"
#include "runs/command.hpp"
#include "runs/grouped_solver.hpp"

namespace quarksmith::python {

/// The command `read`: links from a file, or generated ones.
extern const runs::Command read_command;

/// The result of a solve, besides x.
struct Solved {
  std::string report;   ///< JSON
  std::string failure;  ///< of the first right-hand side that missed its tolerance; x has the best iterates
};

/// The command `solve`: a solver for an action on a gauge field, with its session.
class SolveCall {
 public:
  static constexpr const char *name = "solve", *help = "Solve M x = b for all right-hand sides; returns x";
  SolveCall();
  runs::Members& members() { return members_; }
  runs::Session& session() { return session_; }
  /// \param domain of right-hand sides; null: a new one on the chosen device.
  void open(const runs::Table& values, DomainPointer domain);
  /// Right-hand sides to be filled.
  SpinorObject right_hand_sides(int count) const;
  /// Solutions of right-hand sides to be filled.
  SpinorObject solutions(const SpinorObject& b) const { return {b.field.like(), &kept_->basis()}; }
  /// Solves M x = b for all right-hand sides. \param guess first guess of x, or null.
  Solved solve(const SpinorObject& b, const SpinorObject* guess, SpinorObject& x) const;

 private:
  void check_beside(const SpinorObject& given, const char* name, const SpinorField& b) const;

  runs::Session session_;
  runs::InversionDescription described_;
  runs::Members members_;
  DomainPointer domain_;  // of right-hand sides
  std::unique_ptr<runs::KeptSolver> kept_;
};

}  // namespace quarksmith::python
