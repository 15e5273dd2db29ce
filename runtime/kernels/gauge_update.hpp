/// \file
/// Updates of one SU(N) link in the field of its staples, through the SU(2) subgroups of Cabibbo and Marinari
/// (Phys. Lett. B 119 (1982) 387). The weight of a link U with sum of staples A is exp(beta/N Re tr(U A)).
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// a0 + i (a1 sigma_1 + a2 sigma_2 + a3 sigma_3)
struct Quaternion {
  double a0, a1, a2, a3;
};

QUARKSMITH_INLINE Quaternion operator*(const Quaternion& p, const Quaternion& q) {
  return {p.a0 * q.a0 - p.a1 * q.a1 - p.a2 * q.a2 - p.a3 * q.a3, p.a0 * q.a1 + p.a1 * q.a0 - p.a2 * q.a3 + p.a3 * q.a2,
          p.a0 * q.a2 + p.a2 * q.a0 - p.a3 * q.a1 + p.a1 * q.a3, p.a0 * q.a3 + p.a3 * q.a0 - p.a1 * q.a2 + p.a2 * q.a1};
}
QUARKSMITH_INLINE Quaternion conj(const Quaternion& q) { return {q.a0, -q.a1, -q.a2, -q.a3}; }

/// The SU(2) direction of the 2x2 block [[p, q], [r, s]] times `size`: Re tr(g block) = 2 size (g v)_0 for g in SU(2).
QUARKSMITH_INLINE Quaternion block_direction(const Complex<double>& p, const Complex<double>& q,
                                             const Complex<double>& r, const Complex<double>& s, double& size) {
  const Quaternion v = {0.5 * (p.re + s.re), 0.5 * (q.im + r.im), 0.5 * (q.re - r.re), 0.5 * (p.im - s.im)};
  size = square_root(v.a0 * v.a0 + v.a1 * v.a1 + v.a2 * v.a2 + v.a3 * v.a3);
  const double inverse = size > 1e-30 ? 1 / size : 0;
  return {v.a0 * inverse, v.a1 * inverse, v.a2 * inverse, v.a3 * inverse};
}

/// Rows (x, y) of a matrix become g (x, y).
template <int N>
QUARKSMITH_INLINE void rotate_rows(const Quaternion& g, Colour<double, N>& x, Colour<double, N>& y) {
  const Complex<double> g00 = {g.a0, g.a3}, g01 = {g.a2, g.a1}, g10 = {-g.a2, g.a1}, g11 = {g.a0, -g.a3};
  const Colour<double, N> top = g00 * x + g01 * y;
  y = g10 * x + g11 * y;
  x = top;
}

/// The determinant, by elimination with exchange of rows.
template <int N>
QUARKSMITH_INLINE Complex<double> determinant(MatrixRows<double, N> m) {
  Complex<double> det = {1, 0};
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i)
      if (norm2(m(i, k)) > norm2(m(pivot, k))) pivot = i;
    if (pivot != k) {
      const Colour<double, N> row = m.row[k];
      m.row[k] = m.row[pivot];
      m.row[pivot] = row;
      det = -det;
    }
    det = det * m(k, k);
    const Complex<double> inverse = (1 / norm2(m(k, k))) * conj(m(k, k));
    for (int i = k + 1; i < N; ++i) m.row[i] -= (m(i, k) * inverse) * m.row[k];
  }
  return det;
}

/// Makes rows orthonormal, beginning with the first, and the determinant 1 by a phase of the last: removes accumulated
/// rounding errors.
template <int N>
QUARKSMITH_INLINE void reunitarise(MatrixRows<double, N>& m) {
  for (int i = 0; i < N; ++i) {
    Colour<double, N>& v = m.row[i];
    for (int k = 0; k < i; ++k) {
      Complex<double> overlap = {0, 0};
      for (int c = 0; c < N; ++c) overlap = add_product<1>(overlap, conj(m(k, c)), v.c[c]);
      v -= overlap * m.row[k];
    }
    double square = 0;
    for (int c = 0; c < N; ++c) square += norm2(v.c[c]);
    v = (1 / square_root(square)) * v;
  }
  m.row[N - 1] = conj(determinant(m)) * m.row[N - 1];
}

/// SU(2) element g v distributed with weight exp(alpha (g v)_0): Kennedy and Pendleton, Phys. Lett. B 156 (1985) 393.
QUARKSMITH_INLINE Quaternion draw_su2(double alpha, Random& random) {
  double x0 = 1;
  for (int attempt = 0; attempt < 1000; ++attempt) {  // acceptance exceeds 0.3 for alpha > 0.5: never ends by count
    const double c = cosine_pi(2 * random.uniform());
    const double delta = -(logarithm(random.uniform()) + c * c * logarithm(random.uniform())) / alpha;
    const double u = random.uniform();
    if (u * u <= 1 - 0.5 * delta) {
      x0 = 1 - delta;
      break;
    }
  }
  const double radius = square_root(maximum(1 - x0 * x0, 0.0));
  const double z = 2 * random.uniform() - 1, phi = 2 * random.uniform();
  const double rho = radius * square_root(maximum(1 - z * z, 0.0));
  return {x0, rho * cosine_pi(phi), rho * sine_pi(phi), radius * z};
}

/// Heat bath: beta is a.a.re.
struct Heatbath {
  template <int N>
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments& a, const Quaternion& v, double size, Random& random) {
    // At a vanishing staple every element is equally likely; alpha is kept where the acceptance is not negligible.
    const double alpha = maximum(a.a.re.d * 2 / N * size, 1e-3);
    return draw_su2(alpha, random) * conj(v);
  }
};

/// Over-relaxation: the SU(2) element that leaves the action unchanged, g v = v^+ (M. Creutz, Phys. Rev. D 36 (1987)
/// 515).
struct Overrelax {
  template <int N>
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments&, const Quaternion& v, double, Random&) {
    return conj(v) * conj(v);
  }
};

/// One pass over the SU(2) subgroups, of each pair of colours, of the link that one lane holds.
template <class Update, int N>
QUARKSMITH_FUNCTION void update_link(const Arguments& a, Link<double, N>& u, const Link<double, N>& staple,
                                     Random& random) {
  auto link = rows(u), product = rows(u * staple);
  for (int i = 0; i < N; ++i)
    for (int j = i + 1; j < N; ++j) {
      double size;
      const Quaternion v = block_direction(product(i, i), product(i, j), product(j, i), product(j, j), size);
      if (size <= 1e-30) continue;  // no direction to update towards
      const Quaternion g = Update::template choose_su2<N>(a, v, size, random);
      rotate_rows(g, link.row[i], link.row[j]);
      rotate_rows(g, product.row[i], product.row[j]);
    }
  reunitarise(link);
  u = matrix(link);
}

/// update_link for every lane of a block.
template <class Update, int W, class R, int N>
QUARKSMITH_INLINE void update_lanes(const Arguments& a, const Site& x, Link<R, N>& u, const Link<R, N>& staple) {
  for (int l = 0; l < W; ++l) {
    Link<double, N> link = lane_of(u, l);
    Random random(a.random, global_site(a.geometry, x, l));
    update_link<Update>(a, link, lane_of(staple, l), random);
    set_lane_of(u, l, link);
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
