/// \file
/// Operations of devices on the sites of a field, whatever their content.
#pragma once

#include <vector>

#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith {

class ExactSum;
struct ArrayMove;
struct SiteDraws;

/// Copies, noise, and sums whose bits do not depend on the order of their terms.
class SiteOperations {
 public:
  virtual ~SiteOperations() = default;
  /// Copies sites between fields, of which one may lie in memory that ranks share.
  virtual void move_sites(const SiteMove& move) = 0;
  /// Draws noise into the sites of a field; \param draws its numbers are memory of the device.
  virtual void draw_sites(const SiteDraws& draws) = 0;
  /// Copies spinors between an array that the device reaches and a field.
  virtual void move_array(const ArrayMove& move) = 0;
  /// Largest absolute value of the finite numbers.
  virtual double largest(const SiteNumbers& numbers) = 0;
  /// Exact sum of the numbers in units that fit `largest`, the largest absolute value on all ranks (SumUnits).
  virtual ExactSum sum(const SiteNumbers& numbers, double largest) = 0;
  /// Largest |re| or |im| of the finite numbers, [slice][number].
  virtual std::vector<double> largest_in_slices(const SliceNumbers& numbers) = 0;
  /// Sums over the sites of each slice with phases, [slice][momentum][number][4]: real and imaginary part of the
  /// multiples of the first unit, then of the second. \param units of each [slice][number].
  /// \param phases of each momentum and site of a slice as (re, im), in memory of the device.
  virtual std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                               const double* phases, int momenta) = 0;
};

}  // namespace quarksmith
