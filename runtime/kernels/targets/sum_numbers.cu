// Sums over the sites of a field on GPUs.
#include "runtime/kernels/targets/sites_cuda.hpp"

#include <cfloat>

namespace quarksmith::cuda {
namespace {

constexpr int threads = 256;

__device__ double merged(double a, double b) { return fmax(a, b); }

__device__ UnitSum merged(const UnitSum& a, const UnitSum& b) {
  UnitSum sum{a.low + b.low, a.high + b.high, a.unusable + b.unusable};
  sum.high += sum.low < a.low;  // carry
  return sum;
}

/// Of all threads of a block, given to its first one.
template <class Value>
__device__ void merge_block(Value mine, Value* result) {
  __shared__ Value values[threads];
  values[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = merged(values[threadIdx.x], values[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) result[blockIdx.x] = values[0];
}

template <class Value, class Take>
__device__ void merge_all(const SiteNumbers& numbers, Value mine, Value* results, const Take& take) {
  const long long count = numbers.rows * numbers.row;
  for (long long n = blockIdx.x * static_cast<long long>(threads) + threadIdx.x; n < count; n += sum_blocks * threads)
    mine = merged(mine, take(numbers.at(n)));
  merge_block(mine, results);
}

__global__ void largest_of(SiteNumbers numbers, double* largest) {
  merge_all(numbers, 0.0, largest, [](double value) {
    const double size = fabs(value);
    return size <= DBL_MAX ? size : 0.0;
  });
}

__global__ void units_of(SiteNumbers numbers, double limit, double scale, UnitSum* sums) {
  merge_all(numbers, UnitSum{0, 0, 0}, sums, [=](double value) {
    if (!(fabs(value) <= limit)) return UnitSum{0, 0, 1};
    const long long units = __double2ll_rn(value * scale);
    return UnitSum{static_cast<std::uint64_t>(units), units < 0 ? -1 : 0, 0};
  });
}

}  // namespace

void find_largest(const SiteNumbers& numbers, double* largest, cudaStream_t stream) {
  largest_of<<<sum_blocks, threads, 0, stream>>>(numbers, largest);
}

void add_up(const SiteNumbers& numbers, double limit, double scale, UnitSum* sums, cudaStream_t stream) {
  units_of<<<sum_blocks, threads, 0, stream>>>(numbers, limit, scale, sums);
}

}  // namespace quarksmith::cuda
