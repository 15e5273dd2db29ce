/// \file
/// Conversion of fields from one precision to another.
#pragma once

#include <optional>

#include "runtime/registry.hpp"
#include "solvers/krylov/linear_operator.hpp"
#include "solvers/krylov/scalars.hpp"

namespace quarksmith {

/// Copies fields between two precisions: directly if one is double, or the precision in which kernels of the other
/// compute; else by way of double.
class Converter {
 public:
  /// Converts fields of up to `rhs` right-hand sides on the sites of `like`.
  Converter(const LinearOperator& like, const PrecisionInfo& one, const PrecisionInfo& other, int rhs) {
    const PrecisionInfo& high = find_precision("double");
    if (&one == &other || &one == &high || &other == &high) return;
    if (&computed_in(one) == &other) find_both(like, one);
    if (&computed_in(other) == &one) find_both(like, other);
    if (widen_ == nullptr || narrow_ == nullptr) staging_.emplace(like.field(rhs, high));
  }
  void operator()(const SpinorField& from, SpinorField& to) const {
    if (&from.precision() == &to.precision()) return to.copy_from(from);
    if (staging_) {
      SpinorField between = staging_->columns(0, from.rhs());
      convert(from, between);
      return convert(between, to);
    }
    if (widen_ == nullptr) return convert(from, to);
    const bool wider = from.precision().bits < to.precision().bits;
    Arguments a = (wider ? from : to).arguments();
    a.x = (wider ? from : to).operand();
    a.out = (wider ? to : from).operand();
    from.device().run(wider ? *widen_ : *narrow_, a);
  }

 private:
  void find_both(const LinearOperator& like, const PrecisionInfo& stored) {
    const auto kernel = [&](std::string_view name) {
      return try_find(
          like.domain()->device().kernels(),
          {.operation = name, .precision = stored.name, .spins = like.spins(), .colours = like.components().colours});
    };
    widen_ = kernel("widen");
    narrow_ = kernel("round_correction");
  }

  std::optional<SpinorField> staging_;
  const Kernel *widen_ = nullptr, *narrow_ = nullptr;
};

}  // namespace quarksmith
