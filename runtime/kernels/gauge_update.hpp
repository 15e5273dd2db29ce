/// \file
/// Updates of one SU(3) link in the field of its staples, through the SU(2) subgroups of Cabibbo and Marinari
/// (Phys. Lett. B 119 (1982) 387). The weight of a link U with sum of staples A is exp(beta/3 Re tr(U A)).
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
QUARKSMITH_INLINE void rotate_rows(const Quaternion& g, Colour<double>& x, Colour<double>& y) {
  const Complex<double> g00 = {g.a0, g.a3}, g01 = {g.a2, g.a1}, g10 = {-g.a2, g.a1}, g11 = {g.a0, -g.a3};
  const Colour<double> top = g00 * x + g01 * y;
  y = g10 * x + g11 * y;
  x = top;
}

/// Rows made orthonormal from the first on, the third the conjugate cross product: removes accumulated rounding.
QUARKSMITH_INLINE void reunitarise(Colour<double>& a, Colour<double>& b, Colour<double>& c) {
  const auto norm = [](const Colour<double>& v) { return norm2(v.c0) + norm2(v.c1) + norm2(v.c2); };
  a = (1 / square_root(norm(a))) * a;
  const Complex<double> overlap = sum_of_conj_products(a.c0, b.c0, a.c1, b.c1, a.c2, b.c2);
  b = b - overlap * a;
  b = (1 / square_root(norm(b))) * b;
  c = {conj(a.c1 * b.c2 - a.c2 * b.c1), conj(a.c2 * b.c0 - a.c0 * b.c2), conj(a.c0 * b.c1 - a.c1 * b.c0)};
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
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments& a, const Quaternion& v, double size, Random& random) {
    // At a vanishing staple every element is equally likely; alpha is kept where the acceptance is not negligible.
    const double alpha = maximum(a.a.re.d * 2 / 3 * size, 1e-3);
    return draw_su2(alpha, random) * conj(v);
  }
};

/// Over-relaxation: the SU(2) element that leaves the action unchanged, g v = v^+ (M. Creutz, Phys. Rev. D 36 (1987)
/// 515).
struct Overrelax {
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments&, const Quaternion& v, double, Random&) {
    return conj(v) * conj(v);
  }
};

/// One pass over the three SU(2) subgroups of the link that one lane holds.
template <class Update>
QUARKSMITH_FUNCTION void update_link(const Arguments& a, Link<double>& u, const Link<double>& staple, Random& random) {
  Colour<double> row[3] = {{u.a0, u.a1, u.a2}, {u.b0, u.b1, u.b2}, {u.c0, u.c1, u.c2}};
  const Link<double> w = u * staple;
  Colour<double> product[3] = {{w.a0, w.a1, w.a2}, {w.b0, w.b1, w.b2}, {w.c0, w.c1, w.c2}};
  const auto hit = [&](int i, int j, const Complex<double>& p, const Complex<double>& q, const Complex<double>& r,
                       const Complex<double>& s) {
    double size;
    const Quaternion v = block_direction(p, q, r, s, size);
    if (size <= 1e-30) return;  // no direction to update towards
    const Quaternion g = Update::choose_su2(a, v, size, random);
    rotate_rows(g, row[i], row[j]);
    rotate_rows(g, product[i], product[j]);
  };
  hit(0, 1, product[0].c0, product[0].c1, product[1].c0, product[1].c1);
  hit(0, 2, product[0].c0, product[0].c2, product[2].c0, product[2].c2);
  hit(1, 2, product[1].c1, product[1].c2, product[2].c1, product[2].c2);
  reunitarise(row[0], row[1], row[2]);
  u = {row[0].c0, row[0].c1, row[0].c2, row[1].c0, row[1].c1, row[1].c2, row[2].c0, row[2].c1, row[2].c2};
}

/// update_link for every lane of a block.
template <class Update, int W, class R>
QUARKSMITH_INLINE void update_lanes(const Arguments& a, const Site& x, Link<R>& u, const Link<R>& staple) {
  for (int l = 0; l < W; ++l) {
    const auto pick = [l](const Complex<R>& z) { return Complex<double>{get_lane(z.re, l), get_lane(z.im, l)}; };
    Link<double> link = map(u, pick);
    Random random(a.random, global_site(a.geometry, x, l));
    update_link<Update>(a, link, map(staple, pick), random);
    const auto put = [l](Complex<R>& to, const Complex<double>& z) {
      set_lane(to.re, l, z.re), set_lane(to.im, l, z.im);
    };
    put(u.a0, link.a0), put(u.a1, link.a1), put(u.a2, link.a2);
    put(u.b0, link.b0), put(u.b1, link.b1), put(u.b2, link.b2);
    put(u.c0, link.c0), put(u.c1, link.c1), put(u.c2, link.c2);
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
