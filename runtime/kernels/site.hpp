/// \file
/// Where a site is and who its neighbours are. Coordinates are those of the sub-lattice of one lane; its extents are
/// even, so that the parity of a site is the same in all lanes.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// A site (or block of W sites) of a given parity and the right-hand side that a kernel starts from.
struct Site {
  Place place;
  int rhs;
  int parity;
  int x[directions];
};

/// n / d for 0 <= n < 2^31 by a multiplication (Granlund and Montgomery, PLDI 1994, section 4).
QUARKSMITH_INLINE int divide(int n, const Divisor& d) {
  return int((static_cast<unsigned long long>(unsigned(n)) * d.multiplier) >> d.shift);
}

/// Site number `index` among those of one parity: two neighbouring x share a number, see docs/conventions.md.
QUARKSMITH_INLINE Site make_site(const Geometry& g, int parity, int index, int rhs) {
  Site s;
  s.place.block = index;
  s.rhs = rhs;
  s.parity = parity;
  const int row = divide(index, g.by_half_x);  // (t Z + z) Y + y
  const int plane = divide(row, g.by_y);       // t Z + z
  s.x[3] = divide(plane, g.by_z);
  s.x[2] = plane - s.x[3] * g.extent[2];
  s.x[1] = row - plane * g.extent[1];
  const int odd = (s.x[1] + s.x[2] + s.x[3] + parity) & 1;
  s.x[0] = 2 * (index - row * (g.extent[0] / 2)) + odd;
  return s;
}
/// The site with a number among all sites: 2 n + parity for site n of a parity, so that neighbours are near in memory.
QUARKSMITH_INLINE Site make_site(const Geometry& g, int number, int rhs) {
  return make_site(g, number & 1, number >> 1, rhs);
}

/// The sites that kernels of all sites work on.
QUARKSMITH_ANYWHERE const Geometry& worked_on(const Arguments& a) { return has_lanes ? a.geometry : a.part; }
/// Site `number` of worked_on(a), in fields that hold only these sites.
QUARKSMITH_INLINE Site make_site(const Arguments& a, int number, int rhs) {
  return make_site(worked_on(a), number, rhs);
}
/// The same site in fields on the padded lattice.
QUARKSMITH_INLINE Site within_border(const Arguments& a, const Site& home) {
  Site x = home;
  if constexpr (!has_lanes) {
    QUARKSMITH_UNROLL
    for (int mu = 0; mu < directions; ++mu) x.x[mu] += a.part_begin[mu];
    x.place.block = x.x[0] / 2;
    QUARKSMITH_UNROLL
    for (int mu = 1; mu < directions; ++mu) x.place.block += x.x[mu] * a.geometry.stride[mu];
  }
  return x;
}

/// Base of kernel bodies that work on the sites of one parity, in lanes, and compute `Sums` sums.
template <class Codec, int Sums = 0>
struct SiteBody {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = Sums;
  static constexpr bool vectorised = true;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return a.geometry.half_sites; }
};
/// Base of kernel bodies that work on all sites, by their numbers among all.
template <class Codec, int Sums = 0>
struct LatticeBody : SiteBody<Codec, Sums> {
  static constexpr bool both_parities = true;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return 2 * worked_on(a).half_sites; }
};
/// Base of kernel bodies that work on elements of fields in any order.
template <class Codec, int Sums = 0>
struct ElementBody : SiteBody<Codec, Sums> {
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }
};

/// A hop of Step sites along direction Mu, backward if Step < 0; one site or three.
template <int Mu, int Step>
struct Hop {
  static constexpr int back = Step < 0, length = Step < 0 ? -Step : Step;
  static_assert(length == 1 || length == 3);
};

/// All hops of an operator, in the order in which its body takes them.
template <class... Hops>
struct HopList {};

/// Links and coefficients of hops of Step sites.
template <int Step>
QUARKSMITH_INLINE const Operand& links_of(const Arguments& a) {
  return Hop<0, Step>::length == 1 ? a.links : a.long_links;
}
template <int Step>
QUARKSMITH_INLINE const Hops& coefficients_of(const Arguments& a) {
  return Hop<0, Step>::length == 1 ? a.hops : a.long_hops;
}

/// The site to which a hop leads.
template <int Mu, int Step>
struct Neighbour : Hop<Mu, Step> {
  Place place;
  bool crosses;  ///< the step leaves the sub-lattice
};

/// Sub-lattices have at least as many sites along Mu as the hop.
template <int Mu, int Step>
QUARKSMITH_INLINE Neighbour<Mu, Step> neighbour(const Geometry& g, const Site& s) {
  Neighbour<Mu, Step> n;
  n.place = s.place;
  int next = s.x[Mu] + Step;
  if constexpr (n.length == 1) {
    n.crosses = s.x[Mu] == (Step > 0 ? g.extent[Mu] - 1 : 0);
    if (n.crosses) next = Step > 0 ? 0 : g.extent[Mu] - 1;
  } else {
    n.crosses = Step > 0 ? next >= g.extent[Mu] : next < 0;
    if (n.crosses) next += Step > 0 ? -g.extent[Mu] : g.extent[Mu];
  }
  if constexpr (Mu == 0) {
    n.place.block += next / 2 - s.x[0] / 2;
  } else {
    n.place.block += (next - s.x[Mu]) * g.stride[Mu];
  }
  return n;
}

/// Number of a site among those of its parity with the same x[Mu], which is also that of its neighbours along Mu.
template <int Mu>
QUARKSMITH_INLINE int face_index(const Geometry& g, const Site& s) {
  constexpr int slow = Mu == 3 ? 2 : 3, fast = Mu >= 2 ? 1 : 2;  // the other directions but x
  const int row = s.x[slow] * g.extent[fast] + s.x[fast];
  if constexpr (Mu == 0) return (row * g.extent[1] + s.x[1]) / 2;
  return row * (g.extent[0] / 2) + s.x[0] / 2;
}

/// Slices of the neighbouring rank that a hop out of the local lattice skips before the one where it ends.
template <int Mu, int Step>
QUARKSMITH_INLINE int slices_beyond(const Geometry& g, const Site& s) {
  if constexpr (Hop<Mu, Step>::length == 1) return 0;
  return Step > 0 ? s.x[Mu] + Step - g.extent[Mu] : -Step - 1 - s.x[Mu];
}

/// The site of that number in the slice x[Mu] = slice.
template <int Mu>
QUARKSMITH_INLINE Site face_site(const Geometry& g, int parity, int slice, int index) {
  Site s;
  s.rhs = 0;
  s.parity = parity;
  s.x[Mu] = slice;
  if constexpr (Mu == 0) {
    const int plane = divide(2 * index, g.by_y);
    s.x[3] = divide(plane, g.by_z);
    s.x[2] = plane - s.x[3] * g.extent[2];
    s.x[1] = 2 * index - plane * g.extent[1];
    s.x[1] += (slice + s.x[2] + s.x[3] + parity) & 1;
  } else {
    constexpr int slow = Mu == 3 ? 2 : 3, fast = Mu >= 2 ? 1 : 2;
    const int row = divide(index, g.by_half_x);
    s.x[slow] = divide(row, fast == 1 ? g.by_y : g.by_z);
    s.x[fast] = row - s.x[slow] * g.extent[fast];
    s.x[0] = 2 * (index - row * (g.extent[0] / 2)) + ((s.x[1] + s.x[2] + s.x[3] + parity) & 1);
  }
  s.place = {};
  s.place.block = ((s.x[3] * g.extent[2] + s.x[2]) * g.extent[1] + s.x[1]) * (g.extent[0] / 2) + s.x[0] / 2;
  return s;
}

/// Whether a hop of at most Reach sites along one of the directions whose bits are set leaves the sub-lattice.
template <int Reach>
QUARKSMITH_INLINE bool on_boundary(const Geometry& g, const Site& s, int mask) {
  bool leaves = false;
  QUARKSMITH_UNROLL
  for (int mu = 0; mu < directions; ++mu)
    leaves = leaves || ((mask >> mu & 1) != 0 && (s.x[mu] < Reach || s.x[mu] >= g.extent[mu] - Reach));
  return leaves;
}

/// Whether a launch of kernel K leaves a site to another launch, because hops from it leave the local lattice.
template <class K, int Reach = K::HalfSpinor::depth>
QUARKSMITH_INLINE bool is_left_out(const Arguments& a, int index, int) {
  return a.skip != 0 && on_boundary<Reach>(a.geometry, make_site(a.geometry, a.parity, index, 0), a.skip);
}
template <class K>
QUARKSMITH_INLINE bool is_left_out(const Arguments&, int, long) {
  return false;
}
template <class K>
QUARKSMITH_INLINE bool left_out(const Arguments& a, int index) {
  return is_left_out<K>(a, index, 0);
}

/// -1 or +1 by the parity of the sum of the coordinates whose bits are set in Mask: staggered phases.
template <int Mask, class V>
QUARKSMITH_INLINE V staggered_sign(const Site& s, const V& h) {
  int sum = 0;
  for (int mu = 0; mu < directions; ++mu)
    if (Mask >> mu & 1) sum += s.x[mu];
  return (sum & 1) != 0 ? -h : h;
}

/// Takes vectors over a hop that leaves the sub-lattice: exchanges lanes, and applies the boundary phase. Inlined, as a
/// call would spill registers at every hop.
template <bool HasComplexPhase, int Mu, int Step, class R, int N>
QUARKSMITH_INLINE Colour<R, N> arrive_across(const Arguments& a, const Colour<R, N>& from) {
  constexpr int back = Step > 0 ? 0 : 1;
  const Hops& hops = coefficients_of<Step>(a);
  const Element<R> bulk = scalar<R>(hops.bulk[Mu]);
  const int* crossing = nullptr;
  Colour<R, N> h = from;
  if (a.geometry.split[Mu] > 1) {
    const int* table = a.geometry.lane_tables->permutation[Mu][back];
    crossing = a.geometry.lane_tables->crossing[Mu][back];
    h = each_colour<R, N>(
        [&](int n) { return Complex<R>{exchange(from.c[n].re, table), exchange(from.c[n].im, table)}; });
  }
  const Element<R> re = scalar<R>(hops.edge_re[Mu][back]);
  if constexpr (HasComplexPhase) {
    const Element<R> im = scalar<R>(hops.edge_im[Mu][back]);
    const Element<R> signed_im = Step > 0 ? im : -im;  // a backward hop takes the conjugate phase
    const R c_re = crossing ? where_crossing<R>(crossing, re, bulk) : R{} + re;
    const R c_im = crossing ? where_crossing<R>(crossing, signed_im, Element<R>(0)) : R{} + signed_im;
    return Complex<R>{c_re, c_im} * h;
  } else {
    if (re == Element<R>(1) && bulk == Element<R>(1)) return h;
    return (crossing ? where_crossing<R>(crossing, re, bulk) : R{} + re) * h;
  }
}

/// A colour vector times a factor that is applied when it is added to a sum: no instruction of its own.
template <class R, int N>
struct Scaled {
  R factor;
  Colour<R, N> h;
  QUARKSMITH_INLINE operator Colour<R, N>() const { return factor * h; }
};
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> operator-(const Scaled<R, N>& a) {
  return {a.factor, -a.h};
}
/// The numbers of the vector keep their signs.
template <int Mask, class R, int N>
QUARKSMITH_INLINE Scaled<R, N> staggered_sign(const Site& s, const Scaled<R, N>& a) {
  return {staggered_sign<Mask>(s, a.factor), a.h};
}
/// Both have the factor of one hop.
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> operator+(const Scaled<R, N>& a, const Scaled<R, N>& b) {
  return {a.factor, a.h + b.h};
}
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> operator-(const Scaled<R, N>& a, const Scaled<R, N>& b) {
  return {a.factor, a.h - b.h};
}
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> times_i(const Scaled<R, N>& a) {
  return {a.factor, times_i(a.h)};
}
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> times(double re, const Scaled<R, N>& a) {
  return {broadcast<R>(re) * a.factor, a.h};
}
template <class R, int N>
QUARKSMITH_INLINE Scaled<R, N> times(double re, double im, const Scaled<R, N>& a) {
  return {a.factor, times(re, im, a.h)};
}
template <class U, class R, int N>
QUARKSMITH_INLINE Scaled<R, N> mul(const U& u, const Scaled<R, N>& a) {
  return {a.factor, mul(u, a.h)};
}
template <class R>
QUARKSMITH_INLINE Complex<R> multiply_add(const R& a, const Complex<R>& b, const Complex<R>& c) {
  return {multiply_add(a, b.re, c.re), multiply_add(a, b.im, c.im)};
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N>& operator+=(Colour<R, N>& sum, const Scaled<R, N>& a) {
  return sum = each_colour<R, N>([&](int n) { return multiply_add(a.factor, a.h.c[n], sum.c[n]); });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N>& operator-=(Colour<R, N>& sum, const Scaled<R, N>& a) {
  return sum += -a;
}

/// Takes a vector over a hop, times its scale and coefficient as one factor, for targets that avoid the branch.
template <bool HasComplexPhase, int Mu, int Step, class Scale, class R, int C>
QUARKSMITH_INLINE auto arrive(const Arguments& a, const Neighbour<Mu, Step>& n, const Scale& scale,
                              const Colour<R, C>& h) {
  const Hops& hops = coefficients_of<Step>(a);
  const R re = n.crosses ? scalar<R>(hops.edge_re[Mu][n.back]) : scalar<R>(hops.bulk[Mu]);
  if constexpr (HasComplexPhase) {
    const R im = n.crosses ? scalar<R>(hops.edge_im[Mu][n.back]) : R(0);
    return Complex<R>{re * scale, (Step > 0 ? im : -im) * scale} * h;
  } else {
    return Scaled<R, C>{re * scale, h};
  }
}
/// Takes N vectors over a hop, with one branch for all.
template <bool HasComplexPhase, int N, int Mu, int Step, class R, int C>
QUARKSMITH_INLINE void arrive_in_place(const Arguments& a, const Neighbour<Mu, Step>& n, Colour<R, C>* h) {
  const Element<R> bulk = scalar<R>(coefficients_of<Step>(a).bulk[Mu]);
  if (n.crosses) {
    QUARKSMITH_UNROLL
    for (int k = 0; k < N; ++k) h[k] = arrive_across<HasComplexPhase, Mu, Step>(a, h[k]);
  } else if (bulk != Element<R>(1)) {
    QUARKSMITH_UNROLL
    for (int k = 0; k < N; ++k) h[k] = (R{} + bulk) * h[k];
  }
}

/// Where the site with lattice coordinates x lies in a field stored with `lanes` lanes to a block; g has one lane.
QUARKSMITH_INLINE Place locate(const Geometry& g, const Site& s, const Operand& f) {
  Place p = s.place;
  if (f.lanes == 1) return p;
  int x[directions] = {s.x[0], s.x[1], s.x[2], s.x[3]};
  int extent[directions] = {g.extent[0], g.extent[1], g.extent[2], g.extent[3]};
  int lane = 0, bit = 0;
  for (; (1 << bit) < f.lanes && g.lane_direction[bit] >= 0; ++bit) {
    const int mu = g.lane_direction[bit];
    extent[mu] /= 2;
    if (x[mu] >= extent[mu]) {
      lane |= 1 << bit;
      x[mu] -= extent[mu];
    }
  }
  p.block = ((x[3] * extent[2] + x[2]) * extent[1] + x[1]) * (extent[0] / 2) + x[0] / 2;
  return with_lane(p, lane, 1 << bit);
}

/// Lexicographic number, x fastest, of the site that lane l of a block holds in the whole lattice.
QUARKSMITH_INLINE unsigned global_site(const Geometry& g, const Site& s, int lane) {
  unsigned number = 0;
  for (int mu = directions - 1; mu >= 0; --mu) {
    int coordinate = 0;  // of the lane along mu; the bit that was split first is the most significant
    for (int bit = 0; bit < g.lane_bits; ++bit)
      if (g.lane_direction[bit] == mu) coordinate = 2 * coordinate + ((lane >> bit) & 1);
    number = number * unsigned(g.extent[mu] * g.split[mu]) + unsigned(s.x[mu] + coordinate * g.extent[mu]);
  }
  return number;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
