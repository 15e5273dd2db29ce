/// \file
/// Sums over sites that follow a hopping term: products of what it has written, of the x of its epilogue and of another
/// field. A group of threads adds up its sites; the numbers of all groups are added up by the kernel that needs them.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// The sums over site_block threads of N numbers, a power of two. Each step leaves half of the numbers with one half of
/// the threads, the others with the other: of number n thread n of each N has the sum over every N-th thread, then over
/// all.
template <int N>
QUARKSMITH_INLINE double sum_transposed(double (&v)[N]) {
  const int lane = threadIdx.x % site_block;
  QUARKSMITH_UNROLL
  for (int half = N / 2; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
    QUARKSMITH_UNROLL
    for (int n = 0; n < half; ++n) {
      const double sent = upper ? v[n] : v[n + half], kept = upper ? v[n + half] : v[n];
      v[n] = kept + of_partner<site_block>(sent, half);
    }
  }
  double sum = v[0];
  QUARKSMITH_UNROLL
  for (int distance = N; distance < site_block; distance *= 2) sum += of_partner<site_block>(sum, distance);
  return sum;
}

/// Adds a product, conj(u) v, and a square.
template <class R, int N>
QUARKSMITH_INLINE void add_product(const Colour<R, N>& u, const Colour<R, N>& v, R* sum) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    sum[0] += u.c[n].re * v.c[n].re + u.c[n].im * v.c[n].im;
    sum[1] += u.c[n].re * v.c[n].im - u.c[n].im * v.c[n].re;
  }
}
template <class R, int N>
QUARKSMITH_INLINE void add_square(const Colour<R, N>& u, R* sum) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) *sum += u.c[n].re * u.c[n].re + u.c[n].im * u.c[n].im;
}

/// The numbers of a.products for right-hand sides rhs ... rhs + K::tile - 1 at a site, and of the other threads of the
/// group, all of which come here. A site adds up in the numbers that the kernel computes in, groups in double.
template <class K>
QUARKSMITH_INLINE void add_products(const Arguments& a, int index, int rhs, int number) {
  const ProductArguments& p = a.products;
  if (p.rows == nullptr) return;
  using Spinors = SpinorView<typename K::Format, K::HalfSpinor::spins, 1>;
  using R = typename Spinors::Real;
  const Place place = make_site(a.geometry, a.parity, index, rhs).place;
  const int lane = threadIdx.x % site_block;
  const long long groups = a.geometry.half_sites / site_block;
  for (int r = rhs; r < rhs + K::tile; ++r) {
    const auto out = Spinors::load(a.out, place, r), x = Spinors::load(a.x, place, r),
               shadow = Spinors::load(p.shadow, place, r);
    const long long group = r * groups + number / site_block;
    if (p.all) {
      R sums[8] = {};
      QUARKSMITH_UNROLL
      for (int s = 0; s < K::HalfSpinor::spins; ++s) {
        add_product(out[s], x[s], sums);
        add_square(out[s], sums + 2);
        add_square(x[s], sums + 3);
        add_product(shadow[s], x[s], sums + 4);
        add_product(shadow[s], out[s], sums + 6);
      }
      double v[8];
      QUARKSMITH_UNROLL
      for (int n = 0; n < 8; ++n) v[n] = sums[n];
      const double sum = sum_transposed(v);
      if (lane < product_numbers(true)) p.rows[group * product_numbers(true) + lane] = sum;
    } else {
      R sums[3] = {};
      QUARKSMITH_UNROLL
      for (int s = 0; s < K::HalfSpinor::spins; ++s) {
        add_product(shadow[s], out[s], sums);
        add_square(x[s], sums + 2);
      }
      double v[4] = {sums[0], sums[1], sums[2], 0};
      const double sum = sum_transposed(v);
      if (lane < product_numbers(false)) p.rows[group * product_numbers(false) + lane] = sum;
    }
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
