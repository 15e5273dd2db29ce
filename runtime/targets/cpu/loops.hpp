/// \file
/// How the CPU target traverses the sites of a field: chunks of blocks for each thread. Part of kernel.hpp.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Blocks of one chunk: fixed, so that sums do not depend on the number of threads.
inline constexpr int chunk_blocks = 32;

QUARKSMITH_INLINE bool inactive(const Arguments& a, int rhs, int tile);  // runtime/kernels/scalars.hpp

/// Calls body(first, end) for chunks of the numbers below `count`, which the threads share; a single one is not worth
/// a parallel region.
template <class Body>
void for_each_chunk(int count, const Body& body) {
  const int chunks = (count + chunk_blocks - 1) / chunk_blocks;
#pragma omp parallel for schedule(static) if (chunks > 1)
  for (int chunk = 0; chunk < chunks; ++chunk)
    body(chunk * chunk_blocks, (chunk + 1) * chunk_blocks < count ? (chunk + 1) * chunk_blocks : count);
}

/// Calls body(number, rhs) for the numbers below `count` and every tile of right-hand sides, one tile after the other
/// since they share nothing, and then the program of kernel K on device scalars if it has one. Kernels with sums:
/// runtime/targets/cpu/sums.hpp.
template <class K, class Body>
QUARKSMITH_INLINE void for_each_tile(const Arguments& a, int count, const Body& body) {
  static_assert(K::sums == 0, "sums.hpp adds up");
  for (int rhs = 0; rhs < a.rhs; rhs += K::tile) {
    if (inactive(a, rhs, K::tile)) continue;
    for_each_chunk(count, [&](int first, int end) {
      for (int number = first; number < end; ++number) body(number, rhs);
    });
    if constexpr (requires { K::scalar_program(a, rhs, nullptr); }) K::scalar_program(a, rhs, nullptr);
  }
}

/// Blocks in the order of their numbers.
struct InOrder {
  static QUARKSMITH_INLINE int block(const Geometry&, int number) { return number; }
};

/// The order in which hopping terms traverse a lattice; `prefetches`: whether operands of the next block are
/// prefetched. Slabs of a few /// z, for all t, one after the other: three time slices of a slab stay in a cache.
struct Slabs {
  static constexpr bool prefetches = true;
  static QUARKSMITH_INLINE int block(const Geometry& g, int number) {
    const int z_extent = g.extent[2], plane = g.stride[2];
    const int thickness = z_extent % 4 == 0 ? 4 : z_extent % 3 == 0 ? 3 : z_extent % 2 == 0 ? 2 : z_extent;
    const int row = number / plane, slab = row / (thickness * g.extent[3]);
    const int inside = row - slab * thickness * g.extent[3], t = inside / thickness;
    return (t * z_extent + slab * thickness + inside % thickness) * plane + number % plane;
  }
};
struct Rows : InOrder {
  static constexpr bool prefetches = true;
};
struct Noprefetch : Slabs {
  static constexpr bool prefetches = false;
};

template <class K>
inline constexpr int lanes_of = K::vectorised ? full_lanes<typename K::Element> : 1;

template <class HalfSpinor, class Codec, int W, int Mu, int Step>
void pack(const Arguments& a, const Operand& to, int index, int face, int rhs);  // runtime/kernels/view.hpp

/// What all hops (Mu, Sign) of a neighbour need.
template <class HalfSpinor, class Codec, int W, int Mu, int Sign>
void pack_face(const Arguments& a) {
  for (int rhs = 0; rhs < a.rhs; ++rhs) {
#pragma omp parallel for schedule(static)
    for (int index = 0; index < a.halo->face[Mu]; ++index)
      pack<HalfSpinor, Codec, W, Mu, Sign>(a, a.halo->leaving[Mu][Sign < 0], index, a.halo->face[Mu], rhs);
  }
}

/// Packs all faces; the other work of a hopping term is that of `apply` with a list of blocks.
template <class K>
void pack_faces(const Arguments& a) {
  using C = typename K::HalfSpinor;
  using F = typename K::Format;
  constexpr int W = lanes_of<K>;
  pack_face<C, F, W, 0, +1>(a), pack_face<C, F, W, 0, -1>(a);
  pack_face<C, F, W, 1, +1>(a), pack_face<C, F, W, 1, -1>(a);
  pack_face<C, F, W, 2, +1>(a), pack_face<C, F, W, 2, -1>(a);
  pack_face<C, F, W, 3, +1>(a), pack_face<C, F, W, 3, -1>(a);
}

/// Right-hand sides that links serve before the next block: as many as have room for their neighbours in the first
/// cache, where fields of one size lie on the same lines. Colour vectors alone are small enough.
template <class K>
inline constexpr int served_together = K::HalfSpinor::spins == 1              ? 1 << 30
                                       : sizeof(typename K::Format::Word) < 4 ? 2
                                                                              : 4;

/// Runs kernel K, hopping terms by runtime/targets/cpu/hops.hpp; Order is how hopping terms traverse the lattice.
template <class K, class Order = Slabs>
void apply(const Arguments& a, const Launch& launch) {
  constexpr int lanes = lanes_of<K>;
  const int count = a.list != nullptr ? a.list_count : K::count(a);
  if constexpr (requires { typename K::HalfSpinor; }) {
    if (launch.halo != nullptr) return pack_faces<K>(a);
    constexpr int part = served_together<K> > K::tile ? served_together<K> / K::tile * K::tile : K::tile;
    for (int rhs = 0; rhs < a.rhs; rhs += part)
      for_each_chunk(count, [&](int first, int end) {
        hop_blocks<lanes, Order>(K{}, a, rhs, part < a.rhs - rhs ? part : a.rhs - rhs, first, end, count);
      });
  } else {
    for_each_tile<K>(a, count, [&](int number, int rhs) {
      const int index = a.list != nullptr ? a.list[number] : number;
      K::template site<lanes>(a, index, rhs, static_cast<Lanes<double, lanes>*>(nullptr));
    });
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
