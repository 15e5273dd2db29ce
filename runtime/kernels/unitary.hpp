/// \file
/// The unitary matrix nearest to an NxN matrix.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Sum of the squared moduli of all elements.
template <class R, int N>
QUARKSMITH_INLINE R norm2(const Link<R, N>& u) {
  const auto m = rows(u);
  R sum = norm2(m(0, 0));
  QUARKSMITH_UNROLL
  for (int n = 1; n < N * N; ++n) sum = sum + norm2(m(n / N, n % N));
  return sum;
}

/// (u^+)^-1 of any number of colours, lane by lane: Gauss and Jordan with exchange of rows.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> adjoint_inverse(const Link<R, N>& u) {
  Link<R, N> result = u;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) {
    auto m = rows(adj(lane_of(u, l)));
    MatrixRows<double, N> inverse = {};
    for (int k = 0; k < N; ++k) inverse(k, k) = {1, 0};
    for (int k = 0; k < N; ++k) {
      int pivot = k;
      for (int i = k + 1; i < N; ++i)
        if (norm2(m(i, k)) > norm2(m(pivot, k))) pivot = i;
      for (auto* rows : {&m, &inverse}) {
        const auto row = rows->row[k];
        rows->row[k] = rows->row[pivot];
        rows->row[pivot] = row;
      }
      const Complex<double> scale = (1 / norm2(m(k, k))) * conj(m(k, k));
      m.row[k] = scale * m.row[k], inverse.row[k] = scale * inverse.row[k];
      for (int i = 0; i < N; ++i) {
        if (i == k) continue;
        const Complex<double> factor = m(i, k);
        m.row[i] -= factor * m.row[k], inverse.row[i] -= factor * inverse.row[k];
      }
    }
    set_lane_of(result, l, matrix(inverse));
  }
  return result;
}

/// (u^+)^-1: conjugate cofactors over the conjugate determinant.
template <class R>
QUARKSMITH_INLINE Link<R> adjoint_inverse(const Link<R>& u) {
  const auto cofactor = [](const Complex<R>& p, const Complex<R>& q, const Complex<R>& r, const Complex<R>& s) {
    return conj(difference_of_products(p, s, q, r));
  };
  const Link<R> k = {
      cofactor(u.b1, u.b2, u.c1, u.c2), cofactor(u.b2, u.b0, u.c2, u.c0), cofactor(u.b0, u.b1, u.c0, u.c1),
      cofactor(u.c1, u.c2, u.a1, u.a2), cofactor(u.c2, u.c0, u.a2, u.a0), cofactor(u.c0, u.c1, u.a0, u.a1),
      cofactor(u.a1, u.a2, u.b1, u.b2), cofactor(u.a2, u.a0, u.b2, u.b0), cofactor(u.a0, u.a1, u.b0, u.b1)};
  const Complex<R> det = sum_of_conj_products(u.a0, k.a0, u.a1, k.a1, u.a2, k.a2);  // conjugate
  const Complex<R> inverse = reciprocal(norm2(det)) * conj(det);
  return map(k, [&inverse](const Complex<R>& z) { return inverse * z; });
}

/// Steps of the iteration below: matrices of condition 1e16 need nine (Higham, section 5).
inline constexpr int polar_steps = 10;

/// v (v^+ v)^(-1/2), by Newton's iteration for the polar decomposition with scaled iterates: N. J. Higham, SIAM J. Sci.
/// Stat. Comput. 7 (1986) 1160, eqs. 3.1 and 3.9 (norms of Frobenius). It has no case to distinguish, neither equal
/// nor small eigenvalues of v^+ v, and no function but square roots. Not finite if v is singular.
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> nearest_unitary(const Link<R, N>& v) {
  const R half = broadcast<R>(0.5);
  Link<R, N> x = v;
  for (int n = 0; n < polar_steps; ++n) {
    const Link<R, N> y = adjoint_inverse(x);
    const R scale = square_root(square_root(norm2(y) * reciprocal(norm2(x))));
    x = (half * scale) * x + (half * reciprocal(scale)) * y;
  }
  return x;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
