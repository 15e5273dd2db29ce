/// \file
/// Sums whose bits depend neither on the order of the terms nor on their distribution over ranks and threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "runtime/communicator.hpp"

namespace quarksmith {

/// Each term is rounded to a multiple of a power of two; these are integers, which add exactly. NaN if a term is not
/// finite or too large.
class ExactSum {
 public:
  /// A sum of values of order 1: multiples of 2^-52, at most 2^10.
  ExactSum() = default;
  /// A sum of values of at most `largest`; the unit is 2^-61 of it or less.
  explicit ExactSum(double largest) : limit_(largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    constexpr int most_bits = 1000;  // beyond this the scale overflows
    scale_ = std::ldexp(1.0, std::min(62 - exponent, most_bits));
  }
  void add(double value) {
    if (std::abs(value) <= limit_)
      units_ += std::llrint(value * scale_);
    else
      ++unusable_;
  }
  void add(const ExactSum& other) {
    units_ += other.units_;
    unusable_ += other.unusable_;
  }
  /// Adds a sum from elsewhere: high 2^64 + low units.
  void add(std::int64_t high, std::uint64_t low, std::uint64_t unusable) {
    units_ += (static_cast<Units>(high) << 64) + static_cast<Units>(low);
    unusable_ += unusable;
  }
  /// Units of 1.
  double scale() const { return scale_; }
  /// The sum over all ranks. Collective.
  double total(Communicator& communicator) const {
    // Two numbers of 64 bits: their sums over the ranks must not overflow either.
    const auto low = static_cast<std::uint64_t>(units_ & (low_size - 1));
    const auto high = static_cast<std::uint64_t>(units_ / low_size - (units_ % low_size < 0 ? 1 : 0));
    const std::uint64_t all_low = communicator.sum_integers(low);
    const auto all_high = static_cast<std::int64_t>(communicator.sum_integers(high));
    if (communicator.sum_integers(unusable_) > 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(all_high * low_size + static_cast<Units>(all_low)) / scale_;
  }

 private:
  using Units = __int128;
  static constexpr Units low_size = Units(1) << 40;
  Units units_ = 0;
  std::uint64_t unusable_ = 0;
  double limit_ = 0x1p10, scale_ = 0x1p52;
};

/// The sum of the terms of all ranks, of any size. Collective.
inline double exact_sum(std::span<const double> terms, Communicator& communicator) {
  double largest = 0;
  for (const double term : terms) largest = std::max(largest, std::isfinite(term) ? std::abs(term) : 0);
  ExactSum sum(communicator.largest(largest));
  for (const double term : terms) sum.add(term);
  return sum.total(communicator);
}

}  // namespace quarksmith
