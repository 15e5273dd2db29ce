/// \file
/// Fields that a statement makes from the links of a configuration and other fields (generator/lower/program.py): fat
/// and long links, stout links, field strengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/fields/expression.hpp"
#include "runtime/action_values.hpp"
#include "solvers/links/scratch_fields.hpp"

namespace quarksmith {

/// Fields of a statement on a device in double, in the order of ActionInfo::fields; null: not made. Matrices have all
/// reals, numbers two.
using StatementFields = std::vector<std::shared_ptr<const LinkField>>;

/// The launches of a statement with the values of its parameters.
class LinkProgram {
 public:
  explicit LinkProgram(ActionValues values) : values_(std::move(values)) {}
  const ActionInfo& info() const { return values_.info(); }
  const ActionValues& values() const { return values_; }
  /// Whether the statement makes any fields.
  bool makes_fields() const { return !info().stages.empty(); }
  /// Text that identifies the made fields: the statement, and the numbers on which they depend.
  std::string text() const;

  /// Makes the kept fields, given those of the caller. Collective.
  /// \throws MissingKernel the build lacks a kernel; Error a link that is projected on U(3) is singular.
  void make(StatementFields& fields, const ScratchFields& scratch) const;

  /// The value of a number of a launch; 1 if n is negative.
  Complex64 number(int n) const { return n < 0 ? 1 : values_.complex(info().numbers[n]); }
  /// Numbers and directions of a launch as arguments, which follow the operands in a call.
  std::vector<ExpressionArgument> numbers_of(const LinkLaunch& launch) const;
  static std::vector<ExpressionArgument> directions_of(const LinkLaunch& launch);
  /// Evaluates a launch with its kernel: set_, add_ or keep_. \param target,kept fields that receive the term.
  void run(const LinkLaunch& launch, const std::vector<const LinkField*>& operands, LinkField& target,
           LinkField* kept) const;
  /// out = the core of a launch.
  void run_core(const LinkLaunch& launch, const std::vector<const LinkField*>& operands, LinkField& out) const;

 private:
  void evaluate_as(const std::string& operation, const LinkLaunch& launch,
                   const std::vector<const LinkField*>& operands, double weight, LinkField& target,
                   LinkField* kept) const;
  void make_stage(const LinkStage& stage, StatementFields& fields, const ScratchFields& scratch) const;

  ActionValues values_;
};

}  // namespace quarksmith
