/// \file
/// Exponentials of stored site terms, and derivatives by them: through the eigenvectors of each Hermitian block.
/// Include after runtime/kernels/twist.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Eigenvalues and eigenvectors (columns of v) of a Hermitian matrix: v diag(value) v^+.
template <class R>
struct Eigen6 {
  R value[6];
  Complex<R> v[6][6];
};

/// Diagonalises by cyclic Jacobi rotations (C. G. J. Jacobi, J. reine angew. Math. 30 (1846) 51; G. H. Golub and C. F.
/// Van Loan, Matrix Computations, 8.5): convergence is quadratic, and ten sweeps reach rounding.
template <class R>
QUARKSMITH_FUNCTION Eigen6<R> eigen(const Hermitian6<R>& h) {
  constexpr int sweeps = 10;
  const R one = broadcast<R>(1), two = broadcast<R>(2), half = broadcast<R>(0.5);
  const R least = broadcast<R>(1e-18);  // smaller elements vanish against the 1 of an exponential
  Complex<R> m[6][6];
  Eigen6<R> e;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      m[i][j] = element(h, i, j);
      e.v[i][j] = {i == j ? one : R{}, R{}};
    }
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int q = 1; q < 6; ++q)
      for (int p = 0; p < q; ++p) {
        // The rotation that makes m_pq = |m_pq| exp(i phi) zero: tan of the smaller angle, |t| <= 1.
        const R size = square_root(norm2(m[p][q])), inverse = reciprocal(maximum(size, least));
        const R theta = (m[q][q].re - m[p][p].re) * (half * inverse);
        const R tangent = reciprocal(absolute(theta) + square_root(one + theta * theta));
        const R t = where_less(least, size, tangent - two * where_less(theta, R{}, tangent));
        const R c = reciprocal(square_root(one + t * t));
        const Complex<R> turn = (t * c * inverse) * m[p][q];
        for (int k = 0; k < 6; ++k) {  // columns p and q
          const Complex<R> a = m[k][p], b = m[k][q];
          m[k][p] = c * a - conj(turn) * b;
          m[k][q] = c * b + turn * a;
          const Complex<R> x = e.v[k][p], y = e.v[k][q];
          e.v[k][p] = c * x - conj(turn) * y;
          e.v[k][q] = c * y + turn * x;
        }
        for (int k = 0; k < 6; ++k) {  // rows
          const Complex<R> a = m[p][k], b = m[q][k];
          m[p][k] = c * a - turn * b;
          m[q][k] = c * b + conj(turn) * a;
        }
      }
  for (int i = 0; i < 6; ++i) e.value[i] = m[i][i].re;
  return e;
}

/// f(x), computed lane by lane in double precision.
template <class R, class F>
QUARKSMITH_INLINE R of_lanes(const R& x, const F& f) {
  R result{};
  for (int l = 0; l < int(sizeof(R) / sizeof(Element<R>)); ++l)
    set_lane(result, l, Element<R>(f(double(get_lane(x, l)))));
  return result;
}
template <class R>
QUARKSMITH_INLINE R exponential_of_number(const R& x) {
  return of_lanes(x, [](double y) { return exponential_of(y); });
}
/// sinh(x) / x
template <class R>
QUARKSMITH_INLINE R hyperbolic_sinc(const R& x) {
  return of_lanes(x, [](double y) {
    const double y2 = y * y;
    if (y2 > 0.25) return (exponential_of(y) - exponential_of(-y)) / (2 * y);
    return 1 + y2 / 6 * (1 + y2 / 20 * (1 + y2 / 42 * (1 + y2 / 72 * (1 + y2 / 110 * (1 + y2 / 156)))));
  });
}

/// v g v^+ for a Hermitian g.
template <class R, class G>
QUARKSMITH_INLINE Hermitian6<R> turned_back(const Eigen6<R>& e, const G& g) {
  Complex<R> right[6][6];  // g v^+
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      Complex<R> sum{};
      for (int k = 0; k < 6; ++k) sum = sum + g(i, k) * conj(e.v[j][k]);
      right[i][j] = sum;
    }
  Hermitian6<R> result;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      Complex<R> sum{};
      for (int k = 0; k < 6; ++k) sum = sum + e.v[i][k] * right[k][j];
      if (i == j)
        result.diagonal[i] = sum.re;
      else
        result.below[i * (i - 1) / 2 + j] = sum;
    }
  return result;
}

/// out = a.a exp(term) + a.c
template <class Codec>
struct ExpTerm : TermKernel<Codec, 0> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Terms = TermView<Codec, W>;
    using R = typename Terms::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const R factor = real_scalar<R>(a.a), diagonal = real_scalar<R>(a.c);
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      const Eigen6<R> e = eigen(Terms::load(a.term, x.place, x.parity, block));
      R value[6];
      for (int i = 0; i < 6; ++i) value[i] = factor * exponential_of_number(e.value[i]) + diagonal;
      const auto h = turned_back(e, [&](int i, int j) { return Complex<R>{i == j ? value[i] : R{}, R{}}; });
      Terms::store(a.out, x.place, x.parity, block, h);
      store_largest<W>(a.out, x.place, 0, block, largest_part(h));
    }
  }
};

/// out = a.a times the integral over s from 0 to 1 of exp(s A) x exp((1 - s) A), A = term. With a.a = 1,
/// tr(d exp(A) x) = tr(dA out). In the eigenbasis of A, out_ij = x_ij (exp(a_i) - exp(a_j)) / (a_i - a_j).
template <class Codec>
struct ExpTermAdjoint : TermKernel<Codec, 0> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Terms = TermView<Codec, W>;
    using R = typename Terms::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const R factor = real_scalar<R>(a.a), half = broadcast<R>(0.5);
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      const Eigen6<R> e = eigen(Terms::load(a.term, x.place, x.parity, block));
      const auto given = Terms::load(a.x, x.place, x.parity, block);
      Complex<R> middle[6][6];  // v^+ x v
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          Complex<R> sum{};
          for (int k = 0; k < 6; ++k)
            for (int l = 0; l < 6; ++l) sum = sum + conj(e.v[k][i]) * element(given, k, l) * e.v[l][j];
          middle[i][j] = sum;
        }
      const auto quotient = [&](int i, int j) {
        const R between = exponential_of_number(half * (e.value[i] + e.value[j]));
        return factor * between * hyperbolic_sinc(half * (e.value[i] - e.value[j]));
      };
      const auto h = turned_back(e, [&](int i, int j) { return quotient(i, j) * middle[i][j]; });
      Terms::store(a.out, x.place, x.parity, block, h);
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
