/// \file
/// A sum whose bits depend neither on the order of the terms nor on how ranks and threads share them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/communicator.hpp"

namespace quarksmith {

/// Each term is rounded to a multiple of 2^-52; these are integers, which add exactly. For values of a site, which are
/// of order 1: NaN if a term is not finite or exceeds 2^10.
class ExactSum {
 public:
  void add(double value) {
    if (std::abs(value) <= 0x1p10)
      units_ += std::llrint(value * 0x1p52);
    else
      ++unusable_;
  }
  void add(const ExactSum& other) {
    units_ += other.units_;
    unusable_ += other.unusable_;
  }
  /// The sum over all ranks. Collective.
  double total(Communicator& communicator) const {
    // Two numbers of 64 bits: their sums over the ranks must not overflow either.
    const auto low = static_cast<std::uint64_t>(units_ & (low_size - 1));
    const auto high = static_cast<std::uint64_t>(units_ / low_size - (units_ % low_size < 0 ? 1 : 0));
    const std::uint64_t all_low = communicator.sum_integers(low);
    const auto all_high = static_cast<std::int64_t>(communicator.sum_integers(high));
    if (communicator.sum_integers(unusable_) > 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(all_high * low_size + static_cast<Units>(all_low)) * 0x1p-52;
  }

 private:
  using Units = __int128;
  static constexpr Units low_size = Units(1) << 40;
  Units units_ = 0;
  std::uint64_t unusable_ = 0;
};

}  // namespace quarksmith
