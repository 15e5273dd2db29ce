/// \file
/// What GPUs do with the sites of any field: copies, noise and sums. Included once, by a source of a target, after its
/// names.hpp and attributes.hpp.
#pragma once

#include <cfloat>

#include "runtime/targets/gpu/sites.hpp"

namespace quarksmith::QUARKSMITH_TARGET {
namespace {

constexpr int threads = 256;

/// A thread copies a piece: sites that lie side by side are copied side by side.
template <class Piece>
__global__ void copy_pieces(SiteMove m) {
  const long long number = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
  const int piece = static_cast<int>(number / m.count);
  if (piece >= m.to.pieces) return;
  const SitePair pair = m.pairs[number - static_cast<long long>(piece) * m.count];
  const int rhs = blockIdx.y;
  Piece* to = reinterpret_cast<Piece*>(m.to.data + rhs * m.to.rhs_bytes);
  const Piece* from = reinterpret_cast<const Piece*>(m.from.data + rhs * m.from.rhs_bytes);
  to[m.to.first_piece(pair.to) + static_cast<long long>(piece) * m.to.row] =
      from[m.from.first_piece(pair.from) + static_cast<long long>(piece) * m.from.row];
  if (piece == 0 && m.to.norm != nullptr)
    m.to.norm[rhs * m.to.norm_rhs_stride + pair.to] = m.from.norm[rhs * m.from.norm_rhs_stride + pair.from];
}

__global__ void copy_by_a_block(const double* from, double* to, int count) {
  for (int n = threadIdx.x; n < count; n += threads) to[n] = from[n];
}

__global__ void draw(SiteDraws draws) {
  const int slot = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (slot < draws.slots) draw_site(draws, slot);
}

__global__ void move_each(ArrayMove move) {
  const int slot = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (slot < move.slots) move_site(move, slot);
}

__device__ double merged(double a, double b) { return fmax(a, b); }

__device__ UnitSum merged(const UnitSum& a, const UnitSum& b) {
  UnitSum sum{a.low + b.low, a.high + b.high, a.unusable + b.unusable};
  sum.high += sum.low < a.low;  // carry
  return sum;
}

/// Of all threads of a block, given to its first one.
template <class Value>
__device__ void merge_block_to(Value mine, Value* result) {
  __shared__ Value values[threads];
  values[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = merged(values[threadIdx.x], values[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = values[0];
}
template <class Value>
__device__ void merge_block(Value mine, Value* results) {
  merge_block_to(mine, results + blockIdx.x);
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

/// A block has a number of a slice.
__global__ void largest_of_slices(SliceNumbers f, double* largest) {
  const int slice = blockIdx.x, number = blockIdx.y;
  const long long* first = f.first + static_cast<long long>(slice) * f.sites;
  double mine = 0;
  for (int site = threadIdx.x; site < f.sites; site += threads) {
    const double* z = f.data + first[site] + number * f.stride;
    for (const double size : {fabs(z[0]), fabs(z[f.imaginary])}) mine = size <= DBL_MAX ? fmax(mine, size) : mine;
  }
  __shared__ double of_block[1];
  merge_block_to(mine, of_block);
  if (threadIdx.x == 0) largest[slice * static_cast<long long>(f.count) + number] = of_block[0];
}

constexpr int momenta_together = 4;

/// Adds x to sums of multiples of two units. No contraction: exact only as written.
__device__ void add_units(double x, const SumUnits& u, double& coarse, double& fine) {
  const double q = __dadd_rn(__dadd_rn(x, u.first), -u.first);
  const double r = __dadd_rn(x, -q);
  coarse += q;
  fine += __dadd_rn(__dadd_rn(r, u.second), -u.second);
}

/// A block has a number of a slice and some momenta.
__global__ void sums_of_slices(SliceNumbers f, const SumUnits* units, const double2* phases, int momenta,
                               double* sums) {
  const int slice = blockIdx.x, number = blockIdx.y, from = blockIdx.z * momenta_together;
  const long long* first = f.first + static_cast<long long>(slice) * f.sites;
  const SumUnits u = units[slice * static_cast<long long>(f.count) + number];
  double mine[momenta_together][4] = {};
  for (int site = threadIdx.x; site < f.sites; site += threads) {
    const double* z = f.data + first[site] + number * f.stride;
    const double re = z[0], im = z[f.imaginary];
#pragma unroll
    for (int n = 0; n < momenta_together; ++n) {
      const double2 p = phases[static_cast<long long>(min(from + n, momenta - 1)) * f.sites + site];
      add_units(__fma_rn(p.x, re, -__dmul_rn(p.y, im)), u, mine[n][0], mine[n][2]);
      add_units(__fma_rn(p.x, im, __dmul_rn(p.y, re)), u, mine[n][1], mine[n][3]);
    }
  }
  __shared__ double of_threads[threads], totals[momenta_together * 4];
  for (int n = 0; n < momenta_together * 4; ++n) {  // sums of units are exact in any order
    __syncthreads();
    of_threads[threadIdx.x] = mine[n / 4][n % 4];
    for (int half = threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) of_threads[threadIdx.x] += of_threads[threadIdx.x + half];
    }
    if (threadIdx.x == 0) totals[n] = of_threads[0];
  }
  __syncthreads();
  const int n = threadIdx.x;
  if (n >= momenta_together * 4 || from + n / 4 >= momenta) return;
  const long long place = (static_cast<long long>(slice) * momenta + from + n / 4) * f.count + number;
  sums[4 * place + n % 4] = totals[n];
}

}  // namespace

void move_sites(const SiteMove& move, gpuStream_t stream) {
  if (move.count == 0) return;
  const long long pieces = static_cast<long long>(move.count) * move.to.pieces;
  const dim3 blocks(static_cast<unsigned>((pieces + threads - 1) / threads), static_cast<unsigned>(move.to.rhs));
  const auto copy = [&](auto* function) { gpuLaunchKernel(function, blocks, dim3(threads), 0, stream, move); };
  switch (move.to.piece_bytes) {
    case 16:
      return copy(copy_pieces<uint4>);
    case 8:
      return copy(copy_pieces<uint2>);
    case 4:
      return copy(copy_pieces<unsigned>);
    case 2:
      return copy(copy_pieces<unsigned short>);
    default:
      return copy(copy_pieces<unsigned char>);
  }
}

void draw_sites(const SiteDraws& draws, gpuStream_t stream) {
  gpuLaunchKernel(draw, dim3((draws.slots + threads - 1) / threads), dim3(threads), 0, stream, draws);
}

void move_array(const ArrayMove& move, gpuStream_t stream) {
  gpuLaunchKernel(move_each, dim3((move.slots + threads - 1) / threads), dim3(threads), 0, stream, move);
}

void copy_numbers(const double* from, double* to, int count, gpuStream_t stream) {
  gpuLaunchKernel(copy_by_a_block, dim3(1), dim3(threads), 0, stream, from, to, count);
}

void find_largest(const SiteNumbers& numbers, double* largest, gpuStream_t stream) {
  gpuLaunchKernel(largest_of, dim3(sum_blocks), dim3(threads), 0, stream, numbers, largest);
}

void add_up(const SiteNumbers& numbers, double limit, double scale, UnitSum* sums, gpuStream_t stream) {
  gpuLaunchKernel(units_of, dim3(sum_blocks), dim3(threads), 0, stream, numbers, limit, scale, sums);
}

void largest_in_slices(const SliceNumbers& f, double* largest, gpuStream_t stream) {
  gpuLaunchKernel(largest_of_slices, dim3(f.slices, f.count), dim3(threads), 0, stream, f, largest);
}

void sums_over_slices(const SliceNumbers& f, const SumUnits* units, const double2* phases, int momenta, double* sums,
                      gpuStream_t stream) {
  const dim3 blocks(f.slices, f.count, (momenta + momenta_together - 1) / momenta_together);
  gpuLaunchKernel(sums_of_slices, blocks, dim3(threads), 0, stream, f, units, phases, momenta, sums);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
