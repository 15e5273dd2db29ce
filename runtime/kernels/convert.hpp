/// \file
/// Change of storage, site by site; fields may be stored with different numbers of lanes.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// out = in; both hold a.geometry.half_sites sites of one parity. The geometry has one lane.
template <class To, class From, int Spins>
struct ConvertSpinor {
  using Element = typename To::Element;
  static constexpr int tile = 1, sums = 0;
  static constexpr bool vectorised = false;

  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return a.geometry.half_sites; }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    using In = SpinorView<From, Spins, W>;
    using Out = SpinorView<To, Spins, W>;
    const auto reals = as_reals<W>(In::load(a.in, locate(a.geometry, x, a.in), rhs));
    const auto converted = cast<Element, W>(reals);
    Out::store(a.out, locate(a.geometry, x, a.out), rhs,
               as_spinor<typename Out::Real, W, Spins, Out::colours>(converted));
  }
};

/// a.out = a.links for the four links at each site of a.parity. The geometry has one lane.
template <class To, class ToStorage, class From, class FromStorage>
struct ConvertLinks {
  using Element = typename To::Element;
  static constexpr int tile = 1, sums = 0;
  static constexpr bool vectorised = false;

  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return a.geometry.half_sites; }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    using In = LinkView<From, FromStorage, W>;
    using Out = LinkView<To, ToStorage, W>;
    const Place from = locate(a.geometry, x, a.links), to = locate(a.geometry, x, a.out);
    for (int mu = 0; mu < directions; ++mu) {
      // Compression and decompression run in double whatever the storage, so that only the storage rounds.
      const auto stored = cast<double, W>(In::load_reals(a.links, from, a.parity, mu));
      const auto u = FromStorage::template decode<Lanes<double, W>>(stored.w);
      Reals<double, W, ToStorage::reals> reals;
      ToStorage::template encode<Lanes<double, W>>(u, reals.w, To::smallest);
      Out::store_reals(a.out, to, a.parity, mu, cast<Element, W>(reals));
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
