/// \file
/// The unitary matrix nearest to a 3x3 matrix.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Sum of the squared moduli of all elements.
template <class R>
QUARKSMITH_INLINE R norm2(const Link<R>& u) {
  return norm2(u.a0) + norm2(u.a1) + norm2(u.a2) + norm2(u.b0) + norm2(u.b1) + norm2(u.b2) + norm2(u.c0) + norm2(u.c1) +
         norm2(u.c2);
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
template <class R>
QUARKSMITH_INLINE Link<R> nearest_unitary(const Link<R>& v) {
  const R half = broadcast<R>(0.5);
  Link<R> x = v;
  for (int n = 0; n < polar_steps; ++n) {
    const Link<R> y = adjoint_inverse(x);
    const R scale = square_root(square_root(norm2(y) * reciprocal(norm2(x))));
    x = (half * scale) * x + (half * reciprocal(scale)) * y;
  }
  return x;
}

/// out = v (v^+ v)^(-1/2) for the links v of a site in all directions; adds up |out out^+ - 1|^2.
template <class Codec, class Storage>
struct ProjectU3 {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = 1;
  static constexpr bool vectorised = true;

  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return a.geometry.half_sites; }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>* sums) {
    using Links = LinkView<Codec, Storage, W>;
    using R = typename Links::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    for (int mu = 0; mu < directions; ++mu) {
      const auto w = nearest_unitary(Links::load(a.links, x.place, x.parity, mu));
      Links::store(a.out, x.place, x.parity, mu, w);
      auto rest = w * adj(w);
      const R one = broadcast<R>(1);
      rest.a0.re = rest.a0.re - one, rest.b1.re = rest.b1.re - one, rest.c2.re = rest.c2.re - one;
      *sums += convert<double, W>(norm2(rest));
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
