/// \file
/// Sums over the sites of a field on GPUs, whose bits do not depend on the order of the terms.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith::cuda {

/// Results of either, one a block.
inline constexpr int sum_blocks = 264;

/// high 2^64 + low units (see ExactSum), and how many terms were not finite or too large.
struct UnitSum {
  std::uint64_t low;
  std::int64_t high;
  std::uint64_t unusable;
};

/// The largest absolute value of those that are finite.
void find_largest(const SiteNumbers& numbers, double* largest, cudaStream_t stream);
/// Terms of at most `limit` in units of 1 / scale, rounded.
void add_up(const SiteNumbers& numbers, double limit, double scale, UnitSum* sums, cudaStream_t stream);

}  // namespace quarksmith::cuda
