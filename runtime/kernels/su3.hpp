/// \file
/// Functions of NxN matrices that lattice expressions use: Lie algebra, exponential, closest element of SU(N). Include
/// after runtime/kernels/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class R, int N = 3>
QUARKSMITH_INLINE Link<R, N> unit_matrix() {
  return matrix_of<R, N>([](int i, int j) { return Complex<R>{broadcast<R>(i == j ? 1 : 0), R{}}; });
}

/// (m - m^+)/2 - tr(m - m^+)/(2 N)
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> traceless_antihermitian(const Link<R, N>& m) {
  const auto e = rows(m);
  R sum = e(0, 0).im;
  QUARKSMITH_UNROLL
  for (int n = 1; n < N; ++n) sum = sum + e(n, n).im;
  const R half = broadcast<R>(0.5), mean = broadcast<R>(1.0 / N) * sum;
  return matrix_of<R, N>(
      [&](int i, int j) { return i == j ? Complex<R>{R{}, e(i, i).im - mean} : half * (e(i, j) - conj(e(j, i))); });
}

/// exp(iQ) = f[0] + f[1] Q + f[2] Q^2 for Hermitian traceless Q with c0 = det Q and c1 = tr Q^2 / 2: C. Morningstar
/// and M. Peardon, hep-lat/0311018, eqs. 23-34.
QUARKSMITH_FUNCTION void exponential_factors(double c0, double c1, Complex<double>* f) {
  if (c1 < 1e-7) {  // Q^3 = c0 + c1 Q; what is left out is of order c1^2
    f[0] = {1, -c0 / 6};
    f[1] = {c0 / 24, 1 - c1 / 6};
    f[2] = {-0.5 + c1 / 24, 0};
    return;
  }
  constexpr double pi = 3.14159265358979323846;
  const double size = absolute(c0), root = root_of(c1 / 3), largest = 2 * root * c1 / 3;
  const double theta = arc_cosine(size < largest ? size / largest : 1.0) / (3 * pi);
  const double u = root * cosine_pi(theta), w = root_of(c1) * sine_pi(theta), w2 = w * w;
  const double xi = w < 0.05 ? 1 - w2 / 6 * (1 - w2 / 20 * (1 - w2 / 42)) : sine_pi(w / pi) / w;
  const double cosine = cosine_pi(w / pi), scale = 1 / (9 * u * u - w2);
  const Complex<double> once = {cosine_pi(u / pi), -sine_pi(u / pi)};              // exp(-iu)
  const Complex<double> twice = {cosine_pi(2 * u / pi), sine_pi(2 * u / pi)};      // exp(2iu)
  const Complex<double> h0 = {8 * u * u * cosine, 2 * u * (3 * u * u + w2) * xi};  // of exp(-iu)
  const Complex<double> h1 = {2 * u * cosine, -(3 * u * u - w2) * xi}, h2 = {cosine, 3 * u * xi};
  f[0] = scale * ((u * u - w2) * twice + once * h0);
  f[1] = scale * (2 * u * twice - once * h1);
  f[2] = scale * (twice - once * h2);
  if (c0 < 0) {  // f_j(-c0, c1) = (-1)^j conj f_j(c0, c1)
    f[0] = conj(f[0]);
    f[1] = -conj(f[1]);
    f[2] = conj(f[2]);
  }
}

/// exp(a) of an anti-Hermitian traceless matrix
template <class R>
QUARKSMITH_FUNCTION Link<R> exponential(const Link<R>& a) {
  const Link<R> square = -(a * a);  // Q^2, a = i Q
  const R c1 = broadcast<R>(0.5) * trace(square).re;
  const R c0 = broadcast<R>(1.0 / 3) * trace(square * a).im;  // tr Q^3 / 3 = det Q
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  Complex<R> f[3];
  for (int l = 0; l < lanes; ++l) {
    Complex<double> g[3];
    exponential_factors(double(get_lane(c0, l)), double(get_lane(c1, l)), g);
    QUARKSMITH_UNROLL
    for (int n = 0; n < 3; ++n) {
      set_lane(f[n].re, l, Element<R>(g[n].re));
      set_lane(f[n].im, l, Element<R>(g[n].im));
    }
  }
  const Complex<R> first = {f[1].im, -f[1].re};  // Q = -i a
  Link<R> sum = map(a, [&](const Complex<R>& z) { return first * z; }) +
                map(square, [&](const Complex<R>& z) { return f[2] * z; });
  sum.a0 = sum.a0 + f[0];
  sum.b1 = sum.b1 + f[0];
  sum.c2 = sum.c2 + f[0];
  return sum;
}

/// exp(a) and, in *d, its derivative along c, int_0^1 ds exp(s a) c exp((1 - s) a), of one lane: series of a / 2^k,
/// squared k times.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> exponential_series(Link<double, N> a, Link<double, N> c, Link<double, N>* d) {
  double size = trace(a * adj(a)).re, scale = 1;
  int squarings = 0;
  for (; size > 1.0 / 64; size /= 4, scale /= 2) ++squarings;
  a = scale * a, c = scale * c;
  Link<double, N> power = unit_matrix<double, N>(), sum = power, along = {}, derivative = {};
  constexpr int terms = 10;  // what is left of |a| = 1/8 is 1e-17
  for (int n = 1; n <= terms; ++n) {
    const double weight = 1.0 / n;
    along = weight * (c * power + a * along);
    power = weight * (a * power);
    sum += power;
    derivative += along;
  }
  for (int k = 0; k < squarings; ++k) {
    derivative = derivative * sum + sum * derivative;
    sum = sum * sum;
  }
  *d = derivative;
  return sum;
}

/// exp(a) of an anti-Hermitian matrix of any number of colours.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> exponential(const Link<R, N>& a) {
  Link<R, N> u = a;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) {
    Link<double, N> derivative;
    set_lane_of(u, l, exponential_series<N>(lane_of(a, l), {}, &derivative));
  }
  return u;
}

/// The SU(2) element that maximises Re tr of the product.
struct Maximise {
  template <int N>
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments&, const Quaternion& v, double, Random&) {
    return conj(v);
  }
};

/// The SU(N) matrix u that maximises Re tr(u^+ m), for one lane: passes over the SU(2) subgroups until u^+ m is
/// Hermitian up to a multiple of i.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> closest_su3_of(const Link<double, N>& m) {
  auto start = rows(m);
  reunitarise(start);
  Link<double, N> u = matrix(start);
  // Rows that depend on each other end as zeros, noise, or what is not finite.
  if (!(absolute(norm2(u) - N) < 1e-6)) u = unit_matrix<double, N>();
  const Link<double, N> to = adj(m);
  const Arguments none{};
  Random unused(none.random, 0);
  for (int pass = 0; pass < 200; ++pass) {
    const Link<double, N> product = u * to;
    const auto left = rows(traceless_antihermitian(product));
    double off = 0;
    for (int i = 0; i < N; ++i)
      for (int j = i; j < N; ++j) off += norm2(left(i, j));
    const double size = trace(product).re;
    if (!(off > 1e-31 * size * size)) break;
    update_link<Maximise>(none, u, to, unused);
  }
  return u;
}

/// A product of hits of SU(2) subgroups, (1,2), (2,3), (1,3) for three colours, each of which maximises Re tr(g m),
/// gone beyond by the boost: for one lane.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> relaxed_hits_of(const Link<double, N>& m, double boost) {
  auto all = rows(unit_matrix<double, N>()), product = rows(m);
  for (int apart = 1; apart < N; ++apart)
    for (int i = 0, j = apart; j < N; ++i, ++j) {
      double size;
      Quaternion g = conj(block_direction(product(i, i), product(i, j), product(j, i), product(j, j), size));
      if (size <= 1e-30) continue;                                             // every hit is as good
      const double first = g.a0 * g.a0, beyond = boost * first + (1 - first);  // |g| = 1
      const double norm = 1 / square_root(first + beyond * beyond * (1 - first));
      g = {norm * g.a0, norm * beyond * g.a1, norm * beyond * g.a2, norm * beyond * g.a3};
      rotate_rows(g, all.row[i], all.row[j]);
      rotate_rows(g, product.row[i], product.row[j]);
    }
  return matrix(all);
}
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> relaxed_hits(const Link<R, N>& m, const R& boost) {
  Link<R, N> u = m;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) set_lane_of(u, l, relaxed_hits_of(lane_of(m, l), double(get_lane(boost, l))));
  return u;
}

/// A matrix that is Sign times its own Hermitian conjugate, from its diagonal and upper triangle.
template <int Sign, class R>
QUARKSMITH_INLINE Link<R> mirrored(const Link<R>& m) {
  const auto turned = [](const Complex<R>& z) { return Sign > 0 ? conj(z) : -conj(z); };
  const auto own = [](const Complex<R>& z) { return Sign > 0 ? Complex<R>{z.re, R{}} : Complex<R>{R{}, z.im}; };
  return {own(m.a0), m.a1, m.a2, turned(m.a1), own(m.b1), m.b2, turned(m.a2), turned(m.b2), own(m.c2)};
}
template <class R>
QUARKSMITH_INLINE Link<R> plus_multiple_of_unit(const Link<R>& m, const R& a) {
  Link<R> sum = m;
  sum.a0.re = sum.a0.re + a, sum.b1.re = sum.b1.re + a, sum.c2.re = sum.c2.re + a;
  return sum;
}

/// A Hermitian matrix with its invariants: trace, sum of principal minors, determinant; `adjugate` is det / m.
template <class R>
struct Invariants {
  Link<R> adjugate;
  R e1, e2, e3;
  QUARKSMITH_INLINE explicit Invariants(const Link<R>& m) {
    adjugate.a0 = {m.b1.re * m.c2.re - norm2(m.b2), R{}};
    adjugate.b1 = {m.a0.re * m.c2.re - norm2(m.a2), R{}};
    adjugate.c2 = {m.a0.re * m.b1.re - norm2(m.a1), R{}};
    adjugate.a1 = m.a2 * conj(m.b2) - m.c2.re * m.a1;
    adjugate.a2 = m.a1 * m.b2 - m.b1.re * m.a2;
    adjugate.b2 = conj(m.a1) * m.a2 - m.a0.re * m.b2;
    adjugate = mirrored<1>(adjugate);
    e1 = trace(m).re, e2 = trace(adjugate).re;
    e3 = sum_of_products(m.a0, adjugate.a0, m.a1, adjugate.b0, m.a2, adjugate.c0).re;
  }
};

/// The anti-Hermitian y with y h + h y = b for a Hermitian h > 0 and an anti-Hermitian b. Between eigenvectors of h it
/// is b_ij / (h_i + h_j): with m = e1 - h that is (m b m)_ij / (e1 e2 - e3) for i != j; what the diagonal lacks is
/// m / (2 h) times h^2 b + h b h + b h^2 - e1 (h b + b h) + e2 b, which has the diagonal alone. Compare A. Hoger and
/// D. E. Carlson, J. Elasticity 14 (1984) 329, where small eigenvalues cancel. \param of those of h
template <class R>
QUARKSMITH_INLINE Link<R> half_of_anticommutator(const Link<R>& h, const Invariants<R>& of, const Link<R>& b) {
  const auto odd = [](const Link<R>& m) { return m - adj(m); };
  const Link<R> hb = h * b, hbh = mirrored<-1>(hb * h), both = of.e1 * odd(hb);
  const Link<R> diagonal = odd(h * hb) + hbh - both + of.e2 * b;
  const R half = broadcast<R>(0.5);
  const Link<R> m = plus_multiple_of_unit((half * of.e1 * reciprocal(of.e3)) * of.adjugate, -half);
  return reciprocal(of.e1 * of.e2 - of.e3) * ((of.e1 * of.e1) * b - both + hbh + mirrored<-1>(m * diagonal));
}

template <class R>
QUARKSMITH_INLINE Complex<R> determinant(const Link<R>& u) {
  return sum_of_products(u.a0, difference_of_products(u.b1, u.c2, u.b2, u.c1), u.a1,
                         difference_of_products(u.b2, u.c0, u.b0, u.c2), u.a2,
                         difference_of_products(u.b0, u.c1, u.b1, u.c0));
}

/// A unitary matrix times the third root of its conjugate determinant, to some digits.
template <class R>
QUARKSMITH_FUNCTION Link<R> roughly_special(const Link<R>& u, const Complex<R>& determinant) {
  Complex<R> phase = determinant;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  constexpr double pi = 3.14159265358979323846;
  for (int l = 0; l < lanes; ++l) {
    const double re = get_lane(determinant.re, l), im = get_lane(determinant.im, l);
    const double angle = arc_cosine(re > 1 ? 1 : re < -1 ? -1 : re) / (3 * pi);  // over pi
    set_lane(phase.re, l, Element<R>(cosine_pi(angle)));
    set_lane(phase.im, l, Element<R>(im > 0 ? -sine_pi(angle) : sine_pi(angle)));
  }
  return map(u, [&](const Complex<R>& z) { return phase * z; });
}

/// Squares of distances from which one more step of Newton's iteration goes as far as rounding lets it.
inline constexpr double last_step = 1e-17;

/// One step of Newton's iteration for the U in SU(3) that maximises Re tr x, x = U^+ M. There x is Hermitian, h, but
/// for a multiple of i. U exp(a) is tried, {a, h}/2 = t + i mu with the anti-Hermitian part t of x and the mu that
/// makes the determinant 1; Cayley's form of exp(a) is unitary, too. *far: about the square of the distance before the
/// step; at least 1 where this is no maximum: rotations by a change Re tr x by -tr a^2 h / 2. Lanes that have gone the
/// last step stay as they are.
template <class R>
QUARKSMITH_FUNCTION Link<R> step_to_closest_su3(const Link<R>& u, const Link<R>& m, R* far) {
  const R half = broadcast<R>(0.5), one = broadcast<R>(1);
  const Link<R> x = adj(u) * m;
  const Link<R> h = mirrored<1>(half * (x + adj(x)));
  const Invariants<R> of(h);
  const Link<R> y = half_of_anticommutator(h, of, x - adj(x));
  const R error = determinant(u).im, nu = (error + trace(y).im) * reciprocal(of.e2);
  const Link<R> a = half * (y - times_i(nu * of.adjugate));
  const R size = norm2(a), limit = broadcast<R>(0.25), last = broadcast<R>(last_step);
  const R shorter = *far < last ? R{} : square_root(limit / maximum(size, limit));
  const R distance = norm2(traceless_antihermitian(x)) * reciprocal(of.e1 * of.e1) + error * error;
  const R no_maximum = where_less(R{}, maximum(maximum(-of.e1, -of.e2), of.e3 - of.e1 * of.e2), one);
  *far = *far < last ? *far : distance + no_maximum;
  const Link<R> v = plus_multiple_of_unit(shorter * a, one);
  return u * (v * adjoint_inverse(v));
}

/// closest_su3_of for all lanes. Of three colours by Newton's iteration, and by passes where it has found nothing.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> closest_su3(const Link<R, N>& m) {
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  Link<R, N> u = m;
  R far = broadcast<R>(1);
  const auto found = [&far](int lane) { return get_lane(far, lane) < last_step; };
  if constexpr (N == 3 && sizeof(Element<R>) == 8) {
    u = nearest_unitary(m);
    u = roughly_special(u, determinant(u));
    int left = 8;  // all of 160,000 random matrices were there; sums of staples take four
    QUARKSMITH_ROLLED
    for (bool all = false; !all && left > 0; --left) {
      u = step_to_closest_su3(u, m, &far);
      all = true;
      for (int l = 0; l < lanes; ++l) all = all && found(l);
    }
    const Complex<R> third = {broadcast<R>(1), broadcast<R>(-1.0 / 3) * determinant(u).im};  // of what rounding left
    u = map(u, [&](const Complex<R>& z) { return third * z; });
  }
  for (int l = 0; l < lanes; ++l)
    if (!found(l)) set_lane_of(u, l, closest_su3_of(lane_of(m, l)));
  return u;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
