/// \file
/// Checks of the arguments of a lattice expression, and what their fields have in common.
#pragma once

#include "runtime/fields/expression.hpp"

namespace quarksmith {

/// Domain, precision and shape that all fields of a call share.
struct ExpressionKind {
  const Domain* domain = nullptr;
  const PaddedLattice* padded = nullptr;  ///< of that domain, if fields live on its padded lattice
  std::string_view precision;
  Components components = {};
  int rhs = 1;
};

ExpressionKind kind_of(std::span<const ExpressionArgument> arguments);

inline const DomainPointer& domain_of(const ExpressionArgument& a) {
  return a.links() != nullptr ? a.links()->domain_pointer() : a.spinors()->domain_pointer();
}

/// Whether the kernel sums over right-hand sides.
bool sums_up(std::span<const ExpressionParameter> parameters);

/// \throws UsageError an argument is not what the kernel needs.
void check_arguments(const Kernel& kernel, std::span<const ExpressionParameter> parameters,
                     std::span<const ExpressionArgument> arguments);

}  // namespace quarksmith
