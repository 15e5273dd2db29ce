/// \file
/// The precisions of a solve.
#pragma once

#include <string>

#include "runtime/registry.hpp"

namespace quarksmith {

/// What a text as `double-single-half` says, each no higher than the one before. What it does not name is as the one
/// before.
struct Precisions {
  const PrecisionInfo *outer, *inner, *lowest;  ///< of residuals, of iterations, of a preconditioner
  bool mixed() const { return lowest != outer; }
};
/// \param most parts that the text may have: 3 where there is a preconditioner.
/// \throws UnknownName a part is no precision; UsageError more parts, or one that is higher than the one before.
Precisions precisions_of(const std::string& text, int most);

}  // namespace quarksmith
