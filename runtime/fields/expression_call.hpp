/// \file
/// The arguments of a call of a lattice expression: what their fields have in common, and whether they serve.
#pragma once

#include "runtime/fields/expression.hpp"

namespace quarksmith {

/// What the fields of a call have in common.
struct ExpressionKind {
  const Domain* domain = nullptr;
  const BorderedPart* part = nullptr;  ///< of that domain: some fields are in its box
  std::string_view precision;
  Components components = {};
  int rhs = 1;
};

ExpressionKind kind_of(std::span<const ExpressionArgument> arguments);

/// That of a field.
inline const DomainPointer& domain_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->domain_pointer() : a.spinors()->domain_pointer();
}

/// Whether a kernel adds up what its right-hand sides give.
bool sums_up(std::span<const ExpressionParameter> parameters);

/// \throws UsageError an argument is not what the kernel needs.
void check_arguments(const Kernel& kernel, std::span<const ExpressionParameter> parameters,
                     std::span<const ExpressionArgument> arguments);

}  // namespace quarksmith
