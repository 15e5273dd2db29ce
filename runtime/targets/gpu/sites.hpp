/// \file
/// What GPUs do with the sites of a field, whatever they hold: copies, also into the memory of peers, noise, and sums
/// whose bits do not depend on the order of the terms. After a target's names.hpp.
#pragma once

#include <cstdint>

#include "runtime/kernels/spinor_array.hpp"
#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

void move_sites(const SiteMove& move, gpuStream_t stream);
void draw_sites(const SiteDraws& draws, gpuStream_t stream);
void move_array(const ArrayMove& move, gpuStream_t stream);
/// A few numbers, by one block. \param to may be pinned memory of the host: a kernel among kernels takes a few
/// microseconds less than a copy, for which another engine is woken.
void copy_numbers(const double* from, double* to, int count, gpuStream_t stream);

/// Results of the sums below, one a block.
inline constexpr int sum_blocks = 264;

/// high 2^64 + low units (see ExactSum), and how many terms were not finite or too large.
struct UnitSum {
  std::uint64_t low;
  std::int64_t high;
  std::uint64_t unusable;
};

/// The largest absolute value of those that are finite.
void find_largest(const SiteNumbers& numbers, double* largest, gpuStream_t stream);
/// Terms of at most `limit` in units of 1 / scale, rounded.
void add_up(const SiteNumbers& numbers, double limit, double scale, UnitSum* sums, gpuStream_t stream);

/// The largest |re| or |im| of those that are finite, [slice][number].
void largest_in_slices(const SliceNumbers& numbers, double* largest, gpuStream_t stream);
/// SiteOperations::sums_over_slices; a phase is two doubles.
void sums_over_slices(const SliceNumbers& numbers, const SumUnits* units, const double2* phases, int momenta,
                      double* sums, gpuStream_t stream);

}  // namespace quarksmith::QUARKSMITH_TARGET
