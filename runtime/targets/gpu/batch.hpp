/// \file
/// Several right-hand sides on GPUs: the links of a site are fetched into shared memory once and serve them all. Groups
/// of threads work on the same sites, each on right-hand sides of its own: shared memory for fewer sites leaves the
/// first cache room for spinors.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// The links of all hops of the sites of a block in shared memory. Where several groups of threads work on them, each
/// fetches a share.
template <class Links, bool Long, int Sites, int Ghosts>
struct KeptLinks : Stored<Links, Ghosts> {
  template <int Step>
  using View = typename Links::template of<Step>;
  template <int Step>
  using P = typename Packet<View<Step>::vector>::type;
  template <int Step>
  static constexpr int packets = View<Step>::bytes / View<Step>::vector;
  static constexpr int pairs = 2 * directions;
  /// Of the links over one site; those of long hops follow them.
  static constexpr int short_bytes = pairs * View<1>::bytes * Sites;
  static constexpr int bytes = short_bytes + (Long ? pairs * View<3>::bytes * Sites : 0);

  char* shared;

  QUARKSMITH_INLINE explicit KeptLinks(void* memory, const Stored<Links, Ghosts>& stored = {})
      : Stored<Links, Ghosts>(stored), shared(static_cast<char*>(memory)) {}

  /// First packet of the link of this thread's site; the others lie Sites further on each.
  template <int Mu, int Step>
  QUARKSMITH_INLINE P<Step>* mine() const {
    constexpr int number = 2 * Mu + (Step < 0), before = Hop<Mu, Step>::length == 1 ? 0 : short_bytes;
    return reinterpret_cast<P<Step>*>(shared + before) + number * packets<Step> * Sites + threadIdx.x % Sites;
  }

  template <int Mu, int Step>
  QUARKSMITH_INLINE void fetch(const Arguments& a, const Site& x, const Neighbour<Mu, Step>& there) const {
    using V = View<Step>;
    if (V::temporal && Mu == 3 && !there.crosses) return;
    const Site at = link_site(x, there);
    const auto half = [&at](const Operand& f) {
      return static_cast<const typename V::Word*>(f.data) + at.parity * f.parity_stride;
    };
    const P<Step>* from = vectors_at<V::vector, V::bytes * directions>(half(links_of<Step>(a)), at.place) +
                          Mu * packets<Step> * site_block;
    if constexpr ((Ghosts >> Mu & 1) != 0 && Step < 0)
      if (this->leaves(there)) {
        constexpr int length = Hop<Mu, Step>::length;
        const Operand& zone = length == 1 ? this->halo->links[Mu] : this->halo->long_links[Mu];
        from = vectors_at<V::vector, V::bytes>(half(zone), place_beyond<Mu, Step, length>(a.geometry, *this->halo, x));
      }
    P<Step>* to = mine<Mu, Step>();
    QUARKSMITH_UNROLL
    for (int n = 0; n < packets<Step>; ++n) copy_to_shared<V::vector>(to + n * Sites, from + n * site_block);
  }

  template <int Mu, int Step>
  QUARKSMITH_INLINE auto link(const Arguments&, const Site&, const Neighbour<Mu, Step>& there) const {
    return link_of_hop<View<Step>, Mu>(there.crosses, [&] {
      union {
        P<Step> packet[packets<Step>];
        typename View<Step>::Packed words;
      } u;
      const P<Step>* from = mine<Mu, Step>();
      QUARKSMITH_UNROLL
      for (int n = 0; n < packets<Step>; ++n) u.packet[n] = from[n * Sites];
      return u.words;
    });
  }
};

/// Threads of a block the links of whose sites fit into the shared memory of a multiprocessor.
template <class K, int Block, int Groups>
constexpr int batch_block() {
  if constexpr (Block > widest_warp * Groups &&
                KeptLinks<typename K::template Links<1>, K::long_hops, Block / Groups>::bytes > most_memory) {
    return batch_block<K, Block / 2, Groups>();
  } else {
    return Block;
  }
}

/// A batch in parts, where sites alone would not fill the device.
struct BatchParts {
  int count, size;  ///< parts, and right-hand sides of one; the last may have fewer
};
inline BatchParts cut_batch(int blocks, int rhs, int tile) {
  constexpr int filling = 512;
  const int tiles = (rhs + tile - 1) / tile, wanted = filling / blocks;
  const int parts = wanted < 1 ? 1 : wanted > tiles ? tiles : wanted;
  const int size = (tiles + parts - 1) / parts * tile;
  return {(rhs + size - 1) / size, size};
}

/// Calls links.fetch for every hop of a site, or for each of which the number leaves `group` when divided by Groups.
template <int Groups, class Kept, int... Mu, int... Step>
QUARKSMITH_INLINE void fetch_links(const Arguments& a, const Site& x, const Kept& links, int group,
                                   HopList<Hop<Mu, Step>...>) {
  int hop = 0;
  ((hop++ % Groups == group ? links.fetch(a, x, neighbour<Mu, Step>(a.geometry, x)) : void()), ...);
}

/// The right-hand sides of one part at a site, one tile after the other; the links come to `links` first. `number` is
/// that of the thread among those that work on sites.
template <class K, int Groups, int Sites, class Kept>
QUARKSMITH_INLINE void batch_site(const Arguments& a, int index, int number, const Kept& links, int part, int size) {
  const int group = Groups == 1 ? 0 : threadIdx.x / Sites;
  fetch_links<Groups>(a, make_site(a.geometry, a.parity, index, 0), links, group, typename K::HalfSpinor::Hops{});
  wait_for_copies();
  if constexpr (Groups > 1) __syncthreads();
  const int begin = part * size, end = begin + size < a.rhs ? begin + size : a.rhs;
#pragma unroll 1
  for (int rhs = begin + group * K::tile; rhs < end; rhs += Groups * K::tile) {
    // What depends on the site and on where ghost zones lie is recomputed: kept for the next iteration, it would spill.
    Kept source = links;
    hide(index);
    hide(source.shift);
    if (inactive(a, rhs, K::tile)) continue;
    K::template site<1>(a, index, rhs, source);
    if constexpr (combines_fields<K>) add_products<K>(a, index, rhs, number);
  }
}

/// A thread of each group for a site, which work on the right-hand sides of its part of the batch.
template <class K, int Block, int MinBlocks, class Order, int Groups>
__global__ QUARKSMITH_BOUNDS(Block, MinBlocks) void batch_kernel(const QUARKSMITH_CONSTANT Arguments given, int part) {
  const Arguments& a = as_launched(given);
  constexpr int sites = Block / Groups;
  const int number = blockIdx.x * sites + threadIdx.x % sites;
  if (number >= K::count(a)) return;
  const int index = Order::site(a.geometry, number);
  if (left_out<K>(a, index)) return;
  const KeptLinks<typename K::template Links<1>, K::long_hops, sites> links(launched_memory());
  batch_site<K, Groups, sites>(a, index, number, links, blockIdx.y, part);
}

/// Launches batch_kernel.
template <class K, int Threads, int MinBlocks, class Order, int Groups>
void apply_batch(const Arguments& a, const Launch& launch) {
  constexpr int Block = batch_block<K, Threads, Groups>();
  constexpr int sites = Block / Groups;
  constexpr int bytes = KeptLinks<typename K::template Links<1>, K::long_hops, sites>::bytes;
  auto* kernel = batch_kernel<K, Block, MinBlocks, Order, Groups>;
  static const gpuError_t allowed = allow_memory(kernel, bytes);
  (void)allowed;  // a failure is met again by the launch
  const int blocks = (K::count(a) + sites - 1) / sites;
  const BatchParts parts = cut_batch(blocks, a.rhs, K::tile * Groups);
  const dim3 grid(blocks, parts.count);
  gpuLaunchKernel(kernel, grid, dim3(Block), bytes, static_cast<gpuStream_t>(launch.stream), a, parts.size);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
