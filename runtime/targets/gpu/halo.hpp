/// \file
/// The hopping term of one rank's part on GPUs: threads that pack what neighbours need, and sites, of the boundary or
/// all. One launch may do both. Where ranks can store into each other's memory, packed spinors go straight into the
/// neighbour's ghost zone, and a counter there tells how many have come; the host has no part in it. Messages carry
/// those for neighbours without a counter; sites that need such messages are left to a launch behind them.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Blocks of a launch, in the order of their numbers: those that wait for others come last.
struct HaloBlocks {
  int pack = 0, sites = 0;    ///< blocks
  int part = 1, parts = 1;    ///< right-hand sides of a part of a batch, and parts
  unsigned participants = 0;  ///< packed spinors and parts of boundary sites, of all launches of one exchange
  bool list = false;          ///< sites are those of the boundary alone
  bool peers = false;
  int left = 0;  ///< bits of hops (2 mu + backward): sites with one that leaves the local lattice are left out
};

/// Bytes to the ghost zones of the present exchange, or of so many before it.
QUARKSMITH_INLINE long long zone_shift(const Halo& h, unsigned before) {
  return ((*static_cast<volatile unsigned*>(&h.signals->exchange) - before) & 1) != 0 ? h.buffer : 0;
}

/// Whether the rank to which hops (mu, back) lead has this rank's counters, and this rank those of it.
QUARKSMITH_HOST_DEVICE inline bool from_peer(const Halo& h, int mu, int back) {
  return h.raise[mu][1 - back] != nullptr;
}

/// The last reader of an exchange's counters advances them to the next exchange. Called after `count` of the
/// participants have read them.
QUARKSMITH_INLINE void leave_exchange(const Arguments& a, const Halo& h, const HaloBlocks& w, unsigned count) {
  if (atomicAdd(&h.signals->ticket, count) + count != w.participants) return;
  h.signals->ticket = 0;
  for (int mu = 0; mu < directions; ++mu) h.signals->expected[mu] += unsigned(h.face[mu]) * unsigned(a.rhs);
  __threadfence();
  h.signals->exchange += 1;
}

/// Blocks that pack one hop; none if its spinors go the other way, as messages or not. A few saturate the links between
/// GPUs; more would keep multiprocessors from the sites while their stores are under way. Where x is split each block
/// has sites that wait for what is packed.
inline constexpr int packing_threads = 8192, packing_threads_alone = 65536;
template <int Block>
QUARKSMITH_HOST_DEVICE inline int pack_blocks(const Halo& h, const HaloBlocks& w, int mu, int back, int rhs) {
  if ((h.raise[mu][back] != nullptr) != w.peers) return 0;
  int hops = 0;
  for (int nu = 0; nu < directions; ++nu) hops += 2 * (h.face[nu] != 0);
  const int threads = h.face[0] != 0 ? packing_threads_alone : packing_threads;
  const int most = (threads / hops + Block - 1) / Block, blocks = (h.face[mu] * rhs + Block - 1) / Block;
  return blocks < most ? blocks : most;
}

/// Packs a block's share of a hop, if `block` is one of its blocks; else subtracts the blocks of this hop from it.
template <class K, int Block, int Mu, int Sign>
QUARKSMITH_INLINE bool pack_hop(const Arguments& a, const Halo& h, const HaloBlocks& w, long long shift, int& block) {
  constexpr int back = Sign < 0;
  const int face = h.face[Mu], count = face * a.rhs, blocks = pack_blocks<Block>(h, w, Mu, back, a.rhs);
  if (block >= blocks) {
    block -= blocks;
    return false;
  }
  Operand to = h.leaving[Mu][back];
  to.data = static_cast<char*>(to.data) + shift;
  if (K::Format::has_norm) to.norm += shift / 4;
  unsigned packed = 0;  // by the block
  for (int first = block * Block; first < count; first += blocks * Block) {
    const int number = first + threadIdx.x, rhs = number / face;
    if (number < count)
      pack<typename K::HalfSpinor, typename K::Format, 1, Mu, Sign>(a, to, number - rhs * face, face, rhs);
    packed += unsigned(count - first < Block ? count - first : Block);
  }
  if (!w.peers) return true;
  before_signal();
  __syncthreads();
  if (threadIdx.x == 0) {
    add_released(h.raise[Mu][back], packed);
    leave_exchange(a, h, w, packed);
  }
  return true;
}

/// The work of blocks below w.pack: what neighbours need, the far directions first.
template <class K, int Block>
QUARKSMITH_INLINE void pack_block(const Arguments& a, const Halo& h, const HaloBlocks& w, int block) {
  const long long shift = w.peers ? zone_shift(h, 0) : 0;
  (void)(pack_hop<K, Block, 3, +1>(a, h, w, shift, block) || pack_hop<K, Block, 3, -1>(a, h, w, shift, block) ||
         pack_hop<K, Block, 2, +1>(a, h, w, shift, block) || pack_hop<K, Block, 2, -1>(a, h, w, shift, block) ||
         pack_hop<K, Block, 1, +1>(a, h, w, shift, block) || pack_hop<K, Block, 1, -1>(a, h, w, shift, block) ||
         pack_hop<K, Block, 0, +1>(a, h, w, shift, block) || pack_hop<K, Block, 0, -1>(a, h, w, shift, block));
}

/// A thread's site, its number among the threads that work on sites, and the sites of its block that are at the
/// boundary.
struct HaloSite {
  int index, number, edges;
  bool works;
};
template <int Bits>
struct Directions {
  static constexpr int bits = Bits;
};

/// Whether one of these hops leaves the local lattice from a site.
template <int Reach>
QUARKSMITH_INLINE bool hop_leaves(const Geometry& g, const Site& s, int hops) {
  bool leaves = false;
  for (int mu = 0; mu < directions; ++mu)
    leaves = leaves || ((hops >> 2 * mu & 1) != 0 && s.x[mu] >= g.extent[mu] - Reach) ||
             ((hops >> 2 * mu & 2) != 0 && s.x[mu] < Reach);
  return leaves;
}

/// Sites in the order of the plain kernel, but from the middle of the last direction on: its boundary comes when its
/// ghosts have long arrived. Boundary sites keep their places, so that spinors are found in cache as without ranks.
/// Of a block's threads each group works on the same sites.
template <int Reach, class Order, int Block, int Groups = 1>
QUARKSMITH_INLINE HaloSite halo_site(const Arguments& a, const Halo& h, const HaloBlocks& w, int block) {
  constexpr int sites = Block / Groups;
  const int number = block * sites + threadIdx.x % sites;
  const int count = w.list ? h.boundary_count[a.parity] : a.geometry.half_sites;
  HaloSite s{0, number, 0, number < count};
  bool edge = s.works;
  if (w.list) {
    if (s.works) s.index = h.boundary[a.parity][number];
  } else {
    const int from_middle = number + count / 2 < count ? number + count / 2 : number + count / 2 - count;
    if (s.works) s.index = Order::site(a.geometry, from_middle);
    edge = edge && on_boundary<Reach>(a.geometry, make_site(a.geometry, a.parity, s.index, 0), h.split);
    if (edge && w.left != 0)
      s.works = !hop_leaves<Reach>(a.geometry, make_site(a.geometry, a.parity, s.index, 0), w.left);
  }
  s.edges = __syncthreads_count(edge) / Groups;
  return s;
}

/// Runs `work` with the bits of the directions in which boundary sites of kernel K look for ghosts, as a constant. In
/// double, z and t alone where no other is split: a branch keeps the loads of one hop from being issued together with
/// those of the next. Shorter numbers lose more by a third body in the instruction cache, and one body for all sites,
/// with the branches of t alone, takes 10 % more in half (docs/performance.md).
template <class K, class Work>
QUARKSMITH_INLINE void with_ghosts(const Halo& h, const Work& work) {
  if constexpr (sizeof(typename K::Element) == 8) {
    if ((h.split & 3) == 0) return work(Directions<12>{});
  }
  work(Directions<15>{});
}

/// Waits until everything that neighbours send in this exchange has come; called by all threads of a block that has
/// `edges` sites at the boundary. Returns the bytes to the zones in use. A launch behind messages finds those of the
/// exchange that the launch before has done.
QUARKSMITH_INLINE long long await_neighbours(const Arguments& a, const Halo& h, const HaloBlocks& w, int edges) {
  if (!w.peers) return h.signals != nullptr ? zone_shift(h, 1) : 0;
  const long long shift = zone_shift(h, 0);
  const int mu = threadIdx.x / 2;
  if (threadIdx.x < 2 * directions && from_peer(h, mu, threadIdx.x % 2)) {
    const unsigned expected = static_cast<volatile unsigned*>(h.signals->expected)[mu] + unsigned(h.face[mu] * a.rhs);
    while (static_cast<int>(load_counter(h.signals->arrived + threadIdx.x * HaloSignals::stride) - expected) < 0) {
    }
    after_signal();
  }
  __syncthreads();
  if (threadIdx.x == 0) leave_exchange(a, h, w, unsigned(edges));
  return shift;
}

template <class K, int Block, int MinBlocks, class Order>
__global__ QUARKSMITH_BOUNDS(Block, MinBlocks) void halo_kernel(const QUARKSMITH_CONSTANT Arguments given,
                                                                const QUARKSMITH_CONSTANT Halo halo,
                                                                const QUARKSMITH_CONSTANT HaloBlocks work) {
  const Arguments& a = as_launched(given);
  const Halo& h = as_launched<Arguments>(halo);
  const HaloBlocks& w = as_launched<Arguments, Halo>(work);
  const bool alone = a.rhs == K::tile;
  if (!alone && inactive(a, 0, a.rhs)) return;  // on all ranks: nothing is sent
  using Links = typename K::template Links<1>;
  int block = blockIdx.x;
  const bool packs = block < w.pack;
  if (!packs) block -= w.pack;
  const int tile = packs ? 0 : block / w.sites, rhs = tile * K::tile;
  // One number that is read once, by blocks of sites while they find theirs.
  const bool idle = inactive(a, rhs, K::tile);
  if (packs) {
    if (!alone || !idle) pack_block<K, Block>(a, h, w, block);
    return;
  }
  const HaloSite s = halo_site<K::HalfSpinor::depth, Order, Block>(a, h, w, block - tile * w.sites);
  if (alone && idle) return;
  // One path for a whole block: where some sites of a warp are at the boundary in x, two would diverge.
  if (s.edges == 0) {
    if (!s.works || idle) return;
    K::template site<1>(a, s.index, rhs, Stored<Links, 0>{});
  } else {
    const long long shift = await_neighbours(a, h, w, s.edges);
    if (!s.works || idle) return;
    with_ghosts<K>(
        h, [&](auto where) { K::template site<1>(a, s.index, rhs, Stored<Links, decltype(where)::bits>{&h, shift}); });
  }
  if constexpr (combines_fields<K>) add_products<K>(a, s.index, rhs, s.number);
}

/// The same for a batch: the links of a site come to shared memory once, for Groups threads of right-hand sides of
/// their own, see batch_kernel. In half, with registers for 640 threads, its three bodies spill 100 to 160 bytes, which
/// costs 5 %; with those for 512 nearly none.
template <class K, int Block, int MinBlocks, class Order, int Groups>
__global__ QUARKSMITH_BOUNDS(Block, (Block * MinBlocks > 512 ? 512 / Block : MinBlocks)) void halo_batch_kernel(
    const QUARKSMITH_CONSTANT Arguments given, const QUARKSMITH_CONSTANT Halo halo,
    const QUARKSMITH_CONSTANT HaloBlocks work) {
  const Arguments& a = as_launched(given);
  const Halo& h = as_launched<Arguments>(halo);
  const HaloBlocks& w = as_launched<Arguments, Halo>(work);
  void* const shared = launched_memory();
  if (inactive(a, 0, a.rhs)) return;  // on all ranks: nothing is sent
  using Links = typename K::template Links<1>;
  constexpr int sites = Block / Groups;
  int block = blockIdx.x;
  if (block < w.pack) return pack_block<K, Block>(a, h, w, block);
  block -= w.pack;
  const int part = block / w.sites;
  const HaloSite s = halo_site<K::HalfSpinor::depth, Order, Block, Groups>(a, h, w, block - part * w.sites);
  if (s.edges == 0) {
    const KeptLinks<Links, K::long_hops, sites> links(shared);
    if (s.works) batch_site<K, Groups, sites>(a, s.index, s.number, links, part, w.part);
    return;
  }
  const long long shift = await_neighbours(a, h, w, s.edges);
  if (!s.works) return;
  with_ghosts<K>(h, [&](auto where) {
    constexpr int ghosts = decltype(where)::bits;
    const KeptLinks<Links, K::long_hops, sites, ghosts> links(shared, Stored<Links, ghosts>{&h, shift});
    batch_site<K, Groups, sites>(a, s.index, s.number, links, part, w.part);
  });
}

/// Groups of threads that share links in a batch of spinors.
template <class K, int Block>
inline constexpr int halo_groups = K::HalfSpinor::spins > 1 && Block >= 2 * widest_warp ? 2 : 1;
/// Threads of a block for a batch: in double each group has half of a block's, since more would have too few registers.
template <class K, int Block>
inline constexpr int halo_threads =
    halo_groups<K, Block> == 1 || sizeof(typename K::Element) == 8 || 2 * Block > 512 ? Block : 2 * Block;

/// Blocks of Threads threads for what `work` asks for, each for so many sites. \param groups that share a batch; 0:
/// none.
template <class K, int Threads, int Sites>
HaloBlocks halo_blocks(const Arguments& a, const HaloWork& work, int groups) {
  const Halo& h = *a.halo;
  HaloBlocks w;
  unsigned packed = 0;
  w.list = !work.whole;
  w.peers = work.peers;
  for (int mu = 0; mu < directions; ++mu)
    for (int back = 0; back < 2; ++back) {
      if (h.raise[mu][back] != nullptr) packed += unsigned(h.face[mu]) * unsigned(a.rhs);
      if (work.pack) w.pack += pack_blocks<Threads>(h, w, mu, back, a.rhs);
      if (work.peers && h.face[mu] != 0 && !from_peer(h, mu, back)) w.left |= 1 << (2 * mu + back);
    }
  w.sites = ((work.whole ? K::count(a) : h.boundary_count[a.parity]) + Sites - 1) / Sites;
  if (w.sites == 0) w.sites = 1;
  const BatchParts parts =
      groups > 0 ? cut_batch(w.sites, a.rhs, K::tile * groups) : BatchParts{a.rhs / K::tile, K::tile};
  w.part = parts.size;
  w.parts = work.exterior ? parts.count : 0;
  w.participants = packed + unsigned(h.boundary_count[a.parity]) * unsigned(parts.count);
  return w;
}

/// Launches what `work` asks for: sites of the boundary (exterior) or all (whole); the interior alone is left to the
/// plain kernel.
template <class K, int Threads, int MinBlocks, class Order = InOrder, Rhs Form = Rhs::any>
void apply_halo(const Arguments& a, const HaloWork& work, const Launch& launch) {
  constexpr bool keeps = can_keep_links<K>(0) && Form != Rhs::alone;
  constexpr int Block = keeps ? batch_block<K, Threads, 1>() : Threads;
  constexpr int Groups = halo_groups<K, Block>, threads = halo_threads<K, Block>, sites = threads / Groups;
  const auto stream = static_cast<gpuStream_t>(launch.stream);
  const bool batch = keeps && a.rhs > K::tile;
  if constexpr (keeps) {
    if (batch && work.exterior) {
      constexpr int bytes = KeptLinks<typename K::template Links<1>, K::long_hops, sites>::bytes;
      auto* kernel = halo_batch_kernel<K, threads, MinBlocks, Order, Groups>;
      static const gpuError_t allowed = allow_memory(kernel, bytes);
      (void)allowed;  // a failure is met again by the launch
      const HaloBlocks w = halo_blocks<K, threads, sites>(a, work, Groups);
      gpuLaunchKernel(kernel, dim3(w.pack + w.sites * w.parts), dim3(threads), bytes, stream, a, *a.halo, w);
      return;
    }
  }
  // Packing alone counts the same participants as the launch that takes the batch.
  const HaloBlocks w = batch ? halo_blocks<K, Block, sites>(a, work, Groups) : halo_blocks<K, Block, Block>(a, work, 0);
  const int all = w.pack + w.sites * w.parts;
  if (all == 0) return;
  auto* kernel = halo_kernel<K, Block, MinBlocks, Order>;
  gpuLaunchKernel(kernel, dim3(all), dim3(Block), 0, stream, a, *a.halo, w);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
