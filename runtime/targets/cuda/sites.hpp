/// \file
/// What GPUs do with the sites of a field, whatever they hold: copies, also into the memory of peers, noise, and sums
/// whose bits do not depend on the order of the terms.
#pragma once

#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <cstdint>

#if defined(__CUDACC__)
#define QUARKSMITH_ANYWHERE __host__ __device__ __forceinline__
#endif
#include "runtime/kernels/site_draws.hpp"
#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith::cuda {

void move_sites(const SiteMove& move, cudaStream_t stream);
void draw_sites(const SiteDraws& draws, cudaStream_t stream);

/// Results of the sums below, one a block.
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

/// The largest |re| or |im| of those that are finite, [slice][number].
void largest_in_slices(const SliceNumbers& numbers, double* largest, cudaStream_t stream);
/// Device::sums_over_slices; a phase is two doubles.
void sums_over_slices(const SliceNumbers& numbers, const SumUnits* units, const double2* phases, int momenta,
                      double* sums, cudaStream_t stream);

}  // namespace quarksmith::cuda
