/// \file
/// Inner products and combinations of all right-hand sides of a block (solvers/krylov/block_cg.cpp). Blocks are padded
/// to multiples of four right-hand sides, so that a field is read for four others at a time.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// <x_i, y_j> of four right-hand sides of x and four of y; the call has four "right-hand sides" for each such pair of
/// groups: those of x, of which there are a.columns / 4, fastest. sums[2 (4 i + j)] is the real part.
template <class Codec, int Spins>
struct BlockDot {
  using Element = typename Codec::Element;
  static constexpr int tile = 4, sums = 2 * tile * tile;
  static constexpr bool vectorised = true;

  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>* sums) {
    using Spinors = SpinorView<Codec, Spins, W>;
    const Place place = element_place(a.geometry, index);
    const int groups = a.columns / tile, pair = rhs / tile;
    const int first_y = pair / groups * tile, first_x = pair % groups * tile;
    QUARKSMITH_UNROLL
    for (int s = 0; s < Spins; ++s) {  // the compiler drops loads of the other spins
      Colour<typename Spinors::Real, Spinors::colours> x[tile];
      QUARKSMITH_UNROLL
      for (int i = 0; i < tile; ++i) x[i] = Spinors::load(a.x, place, first_x + i)[s];
      QUARKSMITH_UNROLL
      for (int j = 0; j < tile; ++j) {
        const auto y = Spinors::load(a.y, place, first_y + j)[s];
        QUARKSMITH_UNROLL
        for (int i = 0; i < tile; ++i) add_dot<W>(x[i], y, sums + 2 * (tile * i + j));
      }
    }
  }
};

/// y_j = sum_i x_i m_ij, with z_j added if Added, which may be y_j; i counts a.columns right-hand sides of x, which is
/// not y. The complex matrix stands in a.scalars, row by row.
template <class Codec, int Spins, bool Added>
struct BlockCombination {
  using Element = typename Codec::Element;
  static constexpr int tile = sizeof(Element) == 8 ? 2 : 4, sums = 0;  // spinors that registers hold
  static constexpr bool vectorised = true;

  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, Spins, W>;
    using Real = typename Spinors::Real;
    const Place place = element_place(a.geometry, index);
    typename Spinors::Value y[tile];
    QUARKSMITH_UNROLL
    for (int j = 0; j < tile; ++j) {
      if constexpr (Added) {
        y[j] = Spinors::load(a.z, place, rhs + j);
      } else {
        y[j] = {};
      }
    }
    for (int i = 0; i < a.columns; ++i) {
      const auto x = Spinors::load(a.x, place, i);
      const double* row = a.scalars + 2 * (static_cast<long long>(i) * a.rhs + rhs);
      QUARKSMITH_UNROLL
      for (int j = 0; j < tile; ++j) {
        const Complex<Real> m = {Real{} + static_cast<Element>(row[2 * j]),
                                 Real{} + static_cast<Element>(row[2 * j + 1])};
        QUARKSMITH_UNROLL
        for (int s = 0; s < Spins; ++s) y[j][s] = y[j][s] + m * x[s];
      }
    }
    QUARKSMITH_UNROLL
    for (int j = 0; j < tile; ++j) Spinors::store(a.y, place, rhs + j, y[j]);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
