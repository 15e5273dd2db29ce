/// \file
/// Fields from one precision into another.
#pragma once

#include <optional>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// Copies fields between two precisions, by way of double where neither is.
class Converter {
 public:
  /// For fields of up to `rhs` right-hand sides on the sites of `like`.
  Converter(const LinearOperator& like, const PrecisionInfo& one, const PrecisionInfo& other, int rhs) {
    const PrecisionInfo& high = find_precision("double");
    if (&one != &other && &one != &high && &other != &high) staging_.emplace(like.field(rhs, high));
  }
  void operator()(const SpinorField& from, SpinorField& to) const {
    if (&from.precision() == &to.precision()) return to.copy_from(from);
    if (!staging_) return convert(from, to);
    SpinorField between = staging_->columns(0, from.rhs());
    convert(from, between);
    convert(between, to);
  }

 private:
  std::optional<SpinorField> staging_;
};

}  // namespace quarksmith
