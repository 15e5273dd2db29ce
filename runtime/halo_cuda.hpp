/// \file
/// The hopping term of one rank's part on CUDA: threads that pack what neighbours need, sites that need nothing of
/// neighbours, and those at the boundary. One launch may do all, some, or one of these. Where ranks can store into each
/// other's memory, packed spinors go straight into the neighbour's ghost zone, and a counter there tells how many have
/// come; the host has no part in it.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Adds to a counter in any GPU's memory; what this block has stored is visible to who sees the sum.
QUARKSMITH_INLINE void add_released(unsigned* counter, unsigned value) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}
QUARKSMITH_INLINE unsigned load_acquired(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

/// Blocks of a launch, in the order of their numbers: those that wait for others come last.
struct HaloBlocks {
  int pack = 0, interior = 0, exterior = 0;
  int participants = 0;  ///< blocks, of this launch and others of the same exchange, that read its counters
  bool whole = false, peers = false;
};

/// Bytes to the ghost zones of the present exchange.
QUARKSMITH_INLINE long long present_shift(const Halo& h, const HaloBlocks& w) {
  return w.peers && (*static_cast<volatile unsigned*>(&h.signals->exchange) & 1) != 0 ? h.buffer : 0;
}

/// The last block that has read the counters of an exchange makes them those of the next. Called by one thread of a
/// block after all have read them.
QUARKSMITH_INLINE void leave_exchange(const Arguments& a, const Halo& h, const HaloBlocks& w) {
  if (atomicAdd(&h.signals->ticket, 1u) != unsigned(w.participants) - 1) return;
  h.signals->ticket = 0;
  for (int mu = 0; mu < directions; ++mu) h.signals->expected[mu] += unsigned(h.face[mu]) * unsigned(a.rhs);
  __threadfence();
  h.signals->exchange += 1;
}

/// Packs a block's share of a hop, if `block` is one of its blocks; else counts on to the next hop.
template <class K, int Block, int Mu, int Sign>
QUARKSMITH_INLINE bool pack_hop(const Arguments& a, const Halo& h, const HaloBlocks& w, long long shift, int& block) {
  constexpr int back = Sign < 0;
  const int face = h.face[Mu], count = face * a.rhs, blocks = (count + Block - 1) / Block;
  if (block >= blocks) {
    block -= blocks;
    return false;
  }
  const int first = block * Block, number = first + threadIdx.x;
  if (number < count) {
    Operand to = h.leaving[Mu][back];
    to.data = static_cast<char*>(to.data) + shift;
    if (K::Format::has_norm) to.norm += shift / 4;
    const int rhs = number / face;
    pack<typename K::Crossing, typename K::Format, 1, Mu, Sign>(a, to, number - rhs * face, rhs);
  }
  if (!w.peers) return true;
  __syncthreads();
  if (threadIdx.x == 0) {
    add_released(h.raise[Mu][back], unsigned(count - first < Block ? count - first : Block));
    leave_exchange(a, h, w);
  }
  return true;
}

/// Waits until everything that neighbours send in this exchange has come.
QUARKSMITH_INLINE void await_neighbours(const Arguments& a, const Halo& h, const HaloBlocks& w) {
  if (threadIdx.x < 2 * directions) {
    const int mu = threadIdx.x / 2;
    const unsigned expected = static_cast<volatile unsigned*>(h.signals->expected)[mu] + unsigned(h.face[mu] * a.rhs);
    const unsigned* arrived = h.signals->arrived + threadIdx.x * HaloSignals::stride;
    if (h.face[mu] != 0)
      while (static_cast<int>(load_acquired(arrived) - expected) < 0) {
      }
  }
  __syncthreads();
  if (threadIdx.x == 0) leave_exchange(a, h, w);
}

template <class K, int Block, int MinBlocks, class Order>
__global__ __launch_bounds__(Block, MinBlocks) void halo_kernel(const __grid_constant__ Arguments a,
                                                                const __grid_constant__ Halo h,
                                                                const __grid_constant__ HaloBlocks w) {
  using Links = typename K::template Links<1>;
  int block = blockIdx.x;
  if (block < w.pack) {
    const long long shift = present_shift(h, w);
    (void)(pack_hop<K, Block, 3, +1>(a, h, w, shift, block) || pack_hop<K, Block, 3, -1>(a, h, w, shift, block) ||
           pack_hop<K, Block, 2, +1>(a, h, w, shift, block) || pack_hop<K, Block, 2, -1>(a, h, w, shift, block) ||
           pack_hop<K, Block, 1, +1>(a, h, w, shift, block) || pack_hop<K, Block, 1, -1>(a, h, w, shift, block) ||
           pack_hop<K, Block, 0, +1>(a, h, w, shift, block) || pack_hop<K, Block, 0, -1>(a, h, w, shift, block));
    return;
  }
  block -= w.pack;
  if (block < w.interior) {
    const int sites = K::count(a), number = block * Block + threadIdx.x, rhs = number / sites;
    const int index = Order::site(a.geometry, number - rhs * sites);
    if (rhs >= a.rhs || left_out<K>(a, index) || at_rest(a, rhs, 1)) return;
    K::template site<1>(a, index, rhs, Stored<Links, false>{});
    return;
  }
  block -= w.interior;
  const long long shift = present_shift(h, w);
  if (w.peers) await_neighbours(a, h, w);
  const int sites = w.whole ? K::count(a) : h.boundary_count[a.parity];
  const int number = block * Block + threadIdx.x, rhs = number / sites;
  if (rhs >= a.rhs || at_rest(a, rhs, 1)) return;
  const int index = number - rhs * sites;
  K::template site<1>(a, w.whole ? index : h.boundary[a.parity][index], rhs, Stored<Links, true>{&h, shift});
}

/// The sites at the boundary for a batch: links come to shared memory once, see batch_kernel.
template <class K, int Block, int MinBlocks>
__global__ __launch_bounds__(Block, MinBlocks) void halo_batch_kernel(const __grid_constant__ Arguments a,
                                                                      const __grid_constant__ Halo h,
                                                                      const __grid_constant__ HaloBlocks w, int part) {
  extern __shared__ uint4 shared[];
  using Links = typename K::template Links<1>;
  const int number = blockIdx.x * Block + threadIdx.x;
  const bool working = number < h.boundary_count[a.parity];
  int index = working ? h.boundary[a.parity][number] : 0;
  const KeptLinks<Links, K::hops, Block, true> links(shared, Stored<Links, true>{&h, present_shift(h, w)});
  if (working) K::fetch_links(a, index, links);
  if (w.peers) await_neighbours(a, h, w);
  if (!working) return;
  wait_for_copies();
  const int begin = blockIdx.y * part, end = begin + part < a.rhs ? begin + part : a.rhs;
#pragma unroll 1
  for (int rhs = begin; rhs < end; ++rhs) {
    asm volatile("" : "+r"(index));
    if (at_rest(a, rhs, 1)) continue;
    K::template site<1>(a, index, rhs, links);
  }
}

/// Launches what `work` asks for.
template <class K, int Block, int MinBlocks, class Order = InOrder>
void apply_halo(const Arguments& a, const HaloWork& work, const Launch& launch) {
  const Halo& h = *a.halo;
  const auto blocks = [](long long threads) { return static_cast<int>((threads + Block - 1) / Block); };
  HaloBlocks w;
  int pack = 0;
  for (int mu = 0; mu < directions; ++mu) pack += 2 * blocks(static_cast<long long>(h.face[mu]) * a.rhs);
  const int sites = work.whole ? K::count(a) : h.boundary_count[a.parity];
  const int exterior = blocks(static_cast<long long>(sites) * a.rhs);
  if (work.pack) w.pack = pack;
  if (work.interior) w.interior = blocks(static_cast<long long>(K::count(a)) * a.rhs);
  if (work.exterior) w.exterior = exterior;
  w.participants = pack + exterior;
  w.whole = work.whole;
  w.peers = work.peers;
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  if constexpr (can_keep_links<K>(0)) {
    if (a.rhs > 1 && !work.whole) {  // a batch: the boundary has a kernel of its own
      constexpr int bytes = KeptLinks<typename K::template Links<1>, K::hops, Block, true>::bytes, filling = 512;
      auto* kernel = halo_batch_kernel<K, Block, (MinBlocks > 1 ? MinBlocks - 1 : 1)>;
      static const cudaError_t allowed =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
      (void)allowed;
      const int sites_blocks = blocks(sites);
      int parts = sites_blocks > 0 ? filling / sites_blocks : 1;
      parts = parts < 1 ? 1 : parts > a.rhs ? a.rhs : parts;
      const int part = (a.rhs + parts - 1) / parts;
      const dim3 grid(sites_blocks, (a.rhs + part - 1) / part);
      w.participants = pack + static_cast<int>(grid.x * grid.y);
      if (work.exterior && sites_blocks > 0) kernel<<<grid, Block, bytes, stream>>>(a, h, w, part);
      w.exterior = 0;
    }
  }
  Arguments with = a;
  with.skip = h.split;
  const int all = w.pack + w.interior + w.exterior;
  if (all > 0) halo_kernel<K, Block, MinBlocks, Order><<<all, Block, 0, stream>>>(with, h, w);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
