/// \file
/// Sums over the threads of a launch and over ranks, in a fixed order. Part of kernel.hpp.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Blocks of a reducing launch: fixed, so that sums are the same from run to run.
inline constexpr int reducing_blocks = 2112;

/// Numbers whose sums over a block are found together.
inline constexpr int sums_at_once = 8;

/// Sums over the threads of a block, valid in thread 0; the order of additions is fixed.
template <int N>
QUARKSMITH_INLINE void sum_block(const double* values, double* totals) {
  constexpr int most_warps = 32, many = N < sums_at_once ? N : sums_at_once;
  __shared__ double warp_sums[most_warps * many];
  const unsigned warp = threadIdx.x / warp_threads, warps = blockDim.x / warp_threads;
  QUARKSMITH_UNROLL
  for (int first = 0; first < N; first += many) {
    const int end = first + many < N ? first + many : N;
    __syncthreads();
    for (int n = first; n < end; ++n) {
      double value = values[n];
      QUARKSMITH_UNROLL
      for (int shift = warp_threads / 2; shift > 0; shift /= 2) value += of_later(value, shift);
      if (threadIdx.x % warp_threads == 0) warp_sums[warp * many + n - first] = value;
    }
    __syncthreads();
    if (threadIdx.x != 0) continue;
    for (int n = first; n < end; ++n) {
      totals[n] = 0;
      for (unsigned w = 0; w < warps; ++w) totals[n] += warp_sums[w * many + n - first];
    }
  }
}

QUARKSMITH_INLINE bool inactive(const Arguments& a, int rhs, int tile);  // runtime/kernels/scalars.hpp

/// The totals of all ranks in their order: each rank stores its own into every rank's box, value and flag in one word
/// that arrives as a whole, and waits for the flags of the others. There are two boxes, used in turn: a rank that
/// fills one again has what the others sent after they had emptied it. `totals` are those of thread 0; called by all
/// threads of one block.
template <int N>
QUARKSMITH_INLINE void sum_over_ranks(const Team& team, int rhs, double* totals) {
  static_assert(N <= Team::most_sums);
  constexpr int words = 2 * N;
  __shared__ unsigned mine[words], number;
  __shared__ unsigned all[most_peers * words];
  if (threadIdx.x == 0) {
    for (int n = 0; n < N; ++n) {
      mine[2 * n] = __double2loint(totals[n]);
      mine[2 * n + 1] = __double2hiint(totals[n]);
    }
    number = ++team.exchanges[rhs];
  }
  __syncthreads();
  const unsigned long long flag = static_cast<unsigned long long>(number) << 32;
  const long long box = ((number & 1) * Team::most_rhs + rhs) * most_peers * 2 * Team::most_sums;
  for (int i = threadIdx.x; i < team.ranks * words; i += blockDim.x) {
    unsigned long long* to = team.box[i / words] + box + team.rank * 2 * Team::most_sums + i % words;
    store_for_peer(to, flag | mine[i % words]);
  }
  for (int i = threadIdx.x; i < team.ranks * words; i += blockDim.x) {
    const unsigned long long* from = team.box[team.rank] + box + i / words * 2 * Team::most_sums + i % words;
    unsigned long long word = load_of_peer(from);
    while ((word >> 32) != number) word = load_of_peer(from);
    all[i] = static_cast<unsigned>(word);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int n = 0; n < N; ++n) {
    totals[n] = 0;
    for (int r = 0; r < team.ranks; ++r)
      totals[n] +=
          __hiloint2double(static_cast<int>(all[r * words + 2 * n + 1]), static_cast<int>(all[r * words + 2 * n]));
  }
}

/// Gives sums to the program of kernel K on device scalars, or to the host if it has none.
template <class K>
QUARKSMITH_INLINE auto hand_over(const Arguments& a, int rhs, double* totals,
                                 int) -> decltype(K::scalar_program(a, rhs, totals)) {
  if (a.stage == SumStage::all && a.team != nullptr) sum_over_ranks<K::sums>(*a.team, rhs, totals);
  if (threadIdx.x != 0) return;
  for (int n = 0; n < K::sums; ++n) {
    if (a.stage == SumStage::sums) a.sums[rhs * K::sums + n] = totals[n];
    if (a.stage == SumStage::program) totals[n] = a.sums[rhs * K::sums + n];
  }
  if (a.stage != SumStage::sums) K::scalar_program(a, rhs, totals);
}
template <class K>
QUARKSMITH_INLINE void hand_over(const Arguments& a, int rhs, double* totals, long) {
  if (threadIdx.x == 0)
    for (int n = 0; n < K::sums; ++n) a.sums[rhs * K::sums + n] = totals[n];
}

/// Adds each block's sums to a.partial; the last block to finish adds those up, in the order of the blocks, and gives
/// them to the host or to the kernel's program on device scalars. All blocks have read those by then.
template <class K>
QUARKSMITH_INLINE void reduce(const Arguments& a, int rhs, const double* sums) {
  constexpr int N = K::sums;
  double* partial = a.partial + static_cast<long long>(rhs) * gridDim.x * N;
  double totals[N];
  sum_block<N>(sums, totals);
  if (threadIdx.x == 0)
    for (int n = 0; n < N; ++n) partial[blockIdx.x * N + n] = totals[n];
  __shared__ bool last;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(a.ticket + rhs, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  double mine[N] = {};
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
    for (int n = 0; n < N; ++n) mine[n] += static_cast<volatile double*>(partial)[block * N + n];
  sum_block<N>(mine, totals);
  if (threadIdx.x == 0) a.ticket[rhs] = 0;
  hand_over<K>(a, rhs, totals, 0);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
