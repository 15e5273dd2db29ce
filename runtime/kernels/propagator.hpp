/// \file
/// Propagators in bodies of lattice expressions: colour matrices from spin to spin, read from twelve right-hand sides
/// (three of one spin), and their contractions. Include after runtime/kernels/expression_site.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// A product of gamma matrices that is an argument of the call; elements of all sixteen products are packed into bits
/// (generator/lower/propagators.py).
struct GammaElements {
  int number;
  unsigned flips;
  unsigned long long units[2];

  /// The column in which a row has its element, and the row of a column.
  QUARKSMITH_INLINE int partner(int row) const { return row ^ int(flips >> 2 * number & 3); }
  /// The element of a row: a power of i.
  template <class R>
  QUARKSMITH_INLINE Complex<R> element(int row) const {
    const int at = 2 * (4 * number + row), power = int(units[at / 64] >> at % 64 & 3);
    const double sign = power < 2 ? 1 : -1;
    return {broadcast<R>(power % 2 == 0 ? sign : 0.0), broadcast<R>(power % 2 == 0 ? 0.0 : sign)};
  }
};

/// Row a of column b: colour a of the sink spin, colour b of the source spin.
template <class Spinors>
QUARKSMITH_INLINE Link<typename Spinors::Real, Spinors::colours> load_element(const Operand& f, const Site& x, int sink,
                                                                              int source) {
  constexpr int N = Spinors::colours, spins = Spinors::reals / (2 * N);
  using Word = typename Spinors::Word;
  static_assert(vector_bytes_of<2 * N* int(sizeof(Word))> == vector_bytes_of<Spinors::words* int(sizeof(Word))>);
  MatrixRows<typename Spinors::Real, N> m;
  QUARKSMITH_UNROLL
  for (int b = 0; b < N; ++b) {
    const long long column = (N * source + b) * f.rhs_stride + x.parity * f.parity_stride;
    const auto words = load_words<Word, Spinors::lanes, 2 * N, spins, false>(f, x.place, column, sink);
    QUARKSMITH_UNROLL
    for (int a = 0; a < N; ++a) m(a, b) = {words.w[2 * a], words.w[2 * a + 1]};
  }
  return matrix(m);
}

template <class Spinors>
QUARKSMITH_INLINE void store_element(const Operand& f, const Site& x, int sink, int source,
                                     const Link<typename Spinors::Real, Spinors::colours>& u) {
  constexpr int N = Spinors::colours, spins = Spinors::reals / (2 * N);
  using Word = typename Spinors::Word;
  const auto m = rows(u);
  QUARKSMITH_UNROLL
  for (int b = 0; b < N; ++b) {
    const long long column = (N * source + b) * f.rhs_stride + x.parity * f.parity_stride;
    Words<Word, Spinors::lanes, 2 * N> words;
    QUARKSMITH_UNROLL
    for (int a = 0; a < N; ++a) {
      words.w[2 * a] = m(a, b).re;
      words.w[2 * a + 1] = m(a, b).im;
    }
    store_words<Word, Spinors::lanes, 2 * N, spins>(f, x.place, column, sink, words);
  }
}

/// tr(a b)
template <class R, int N>
QUARKSMITH_INLINE Complex<R> trace(const Link<R, N>& a, const Link<R, N>& b) {
  const auto m = rows(a), n = rows(b);
  Complex<R> sum = m(0, 0) * n(0, 0);
  QUARKSMITH_UNROLL
  for (int k = 1; k < N * N; ++k) sum = add_product<1>(sum, m(k / N, k % N), n(k % N, k / N));
  return sum;
}

/// The matrix E whose tr(E c) is the sum of eps_ijk eps_lmn a_il b_jm c_kn.
template <class R>
QUARKSMITH_FUNCTION Link<R, 3> epsilon(const Link<R, 3>& a, const Link<R, 3>& b) {
  const auto m = rows(a), n = rows(b);
  return matrix_of<R, 3>([&](int column, int row) {
    const int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
    const Complex<R> sum = add_product<1>(m(r1, c1) * n(r2, c2), m(r2, c2), n(r1, c1));
    return add_product<-1>(add_product<-1>(sum, m(r1, c2), n(r2, c1)), m(r2, c1), n(r1, c2));
  });
}

/// Adds a complex number to two sums.
template <int W, class R>
QUARKSMITH_INLINE void add_number(Lanes<double, W>* sums, const Complex<R>& z) {
  sums[0] += convert<double, W>(z.re);
  sums[1] += convert<double, W>(z.im);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
