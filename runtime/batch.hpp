/// \file
/// Several right-hand sides on CUDA: the links of a site are fetched into shared memory once and serve them all.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Copies Bytes bytes to shared memory without passing through registers; done after `wait_for_copies`.
template <int Bytes>
QUARKSMITH_INLINE void copy_to_shared(void* shared, const void* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes) : "memory");
  }
}
/// For the copies of this thread, which it alone may then read.
QUARKSMITH_INLINE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// The links of all hops of a thread's site in shared memory; threads do not share, so that none waits for another.
template <class Links, int Hops, int Block, int Ghosts = 0>
struct KeptLinks : Stored<Links, Ghosts> {
  using Packed = typename Links::Packed;
  static constexpr int link_bytes = Links::words * int(sizeof(typename Links::Word));
  static constexpr int vector = vector_bytes_of<link_bytes>, packets = link_bytes / vector;
  static constexpr int bytes = link_bytes * Hops * Block;
  using P = typename Packet<vector>::type;

  P* mine;  ///< of this thread: element [hop][packet] lies (hop packets + packet) Block further on

  QUARKSMITH_INLINE explicit KeptLinks(void* shared, const Stored<Links, Ghosts>& stored = {})
      : Stored<Links, Ghosts>(stored), mine(static_cast<P*>(shared) + threadIdx.x) {}

  template <int Mu, int Sign>
  static constexpr int slot = (2 * Mu + (Sign < 0)) * packets * Block;

  template <int Mu, int Sign>
  QUARKSMITH_INLINE void fetch(const Arguments& a, const Site& x, const Neighbour<Mu, Sign>& there) const {
    if (Links::temporal && Mu == 3 && !there.crosses) return;
    const Site at = link_site(x, there);
    const auto half = [&at](const Operand& f) {
      return static_cast<const typename Links::Word*>(f.data) + at.parity * f.parity_stride;
    };
    const P* from = vectors_at<vector, link_bytes * directions>(half(a.links), at.place) + Mu * packets * site_block;
    if constexpr ((Ghosts >> Mu & 1) != 0 && Sign < 0)
      if (this->leaves(there))
        from = vectors_at<vector, link_bytes>(half(this->halo->links[Mu]), Place{face_index<Mu>(a.geometry, x)});
    QUARKSMITH_UNROLL
    for (int n = 0; n < packets; ++n) copy_to_shared<vector>(mine + slot<Mu, Sign> + n * Block, from + n * site_block);
  }

  template <int Mu, int Sign>
  QUARKSMITH_INLINE auto link(const Arguments&, const Site&, const Neighbour<Mu, Sign>& there) const {
    return link_of_hop<Links, Mu>(there.crosses, [&] {
      union {
        P packet[packets];
        Packed words;
      } u;
      QUARKSMITH_UNROLL
      for (int n = 0; n < packets; ++n) u.packet[n] = mine[slot<Mu, Sign> + n * Block];
      return u.words;
    });
  }
};

/// A batch in parts, where sites alone would not fill the device.
struct BatchParts {
  int count, size;  ///< parts, and right-hand sides of one; the last may have fewer
};
inline BatchParts cut_batch(int blocks, int rhs, int tile) {
  constexpr int filling = 512;
  const int tiles = rhs / tile, wanted = filling / blocks, parts = wanted < 1 ? 1 : wanted > tiles ? tiles : wanted;
  const int size = (tiles + parts - 1) / parts * tile;
  return {(rhs + size - 1) / size, size};
}

/// The right-hand sides of one part at a site, one tile after the other; the links come to `links` first.
template <class K, class Kept>
QUARKSMITH_INLINE void batch_site(const Arguments& a, int index, const Kept& links, int part, int size) {
  K::fetch_links(a, index, links);
  wait_for_copies();
  const int begin = part * size, end = begin + size < a.rhs ? begin + size : a.rhs;
#pragma unroll 1
  for (int rhs = begin; rhs < end; rhs += K::tile) {
    // What is computed from the site is computed anew: kept for the next turn, it would spill.
    asm volatile("" : "+r"(index));
    if (at_rest(a, rhs, K::tile)) continue;
    K::template site<1>(a, index, rhs, links);
  }
}

/// One thread a site, which works on the right-hand sides of its part of the batch.
template <class K, int Block, int MinBlocks, class Order>
__global__ __launch_bounds__(Block, MinBlocks) void batch_kernel(const __grid_constant__ Arguments a, int part) {
  extern __shared__ uint4 shared[];
  const int number = blockIdx.x * Block + threadIdx.x;
  if (number >= K::count(a)) return;
  const int index = Order::site(a.geometry, number);
  if (left_out<K>(a, index)) return;
  const KeptLinks<typename K::template Links<1>, K::hops, Block> links(shared);
  batch_site<K>(a, index, links, blockIdx.y, part);
}

/// Launches batch_kernel.
template <class K, int Block, int MinBlocks, class Order>
void apply_batch(const Arguments& a, const Launch& launch) {
  constexpr int bytes = KeptLinks<typename K::template Links<1>, K::hops, Block>::bytes;
  auto* kernel = batch_kernel<K, Block, MinBlocks, Order>;
  static const cudaError_t allowed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  (void)allowed;  // a failure is met again by the launch
  const int blocks = (K::count(a) + Block - 1) / Block;
  const BatchParts parts = cut_batch(blocks, a.rhs, K::tile);
  const dim3 grid(blocks, parts.count);
  kernel<<<grid, Block, bytes, static_cast<cudaStream_t>(launch.stream)>>>(a, parts.size);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
