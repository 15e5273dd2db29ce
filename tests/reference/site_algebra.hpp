/// \file
/// Matrices in spin and colour at every site, and their products, dense and in plain complex double.
#pragma once

#include <stdexcept>

#include "tests/reference/lattice_expression.hpp"

namespace reference {

class SiteAlgebra {
 public:
  explicit SiteAlgebra(const quarksmith::Lattice& lattice) : lattice_(lattice) {}

 protected:
  using Complex64 = quarksmith::Complex64;
  [[noreturn]] static void misfit() { throw std::runtime_error("operands do not fit each other"); }

  /// f(site) of every site as a matrix.
  template <class F>
  SiteValues make(int rows, int columns, const F& f) const {
    SiteValues r{rows, columns, std::vector<Complex64>(lattice_.sites() * rows * columns), false, false};
    for (long long i = 0; i < lattice_.sites(); ++i)
      for (int a = 0; a < rows; ++a)
        for (int b = 0; b < columns; ++b) r.at(i, a, b) = f(i, a, b);
    return r;
  }

  /// Terms of a sum: numbers beside matrices in spin are multiples of 1; what acts on spins and colours is 12x12.
  void make_alike(SiteValues& a, SiteValues& b) const {
    if (a.spin == b.spin && a.rows == b.rows) return;
    if (a.rows == 1 && b.spin && b.rows == 4) a = times_one(a);
    if (b.rows == 1 && a.spin && a.rows == 4) b = times_one(b);
    if (a.rows != b.rows || a.spin != b.spin) a = on_spins_and_colours(a), b = on_spins_and_colours(b);
  }
  /// Spin outside colour: row 3 s + c.
  SiteValues on_spins_and_colours(const SiteValues& a) const {
    if (a.rows == 12) return a;
    const bool colour = a.rows == 3 && a.columns == 3 && !a.fermion;
    if (a.rows != 1 && !colour && !a.spin) misfit();
    SiteValues m = make(12, 12, [&](long long i, int r, int c) {
      if (a.rows == 1) return r == c ? a.element[i] : Complex64(0);
      if (a.spin) return r % 3 == c % 3 ? a.at(i, r / 3, c / 3) : Complex64(0);
      return r / 3 == c / 3 ? a.at(i, r % 3, c % 3) : Complex64(0);
    });
    m.spin = true;
    return m;
  }
  /// A number beside a matrix in spin: times 1.
  SiteValues times_one(const SiteValues& a) const {
    if (a.rows != 1 || a.columns != 1) misfit();
    return spins([&](long long i, int r, int c) { return r == c ? a.element[i] : 0.0; });
  }
  template <class F>
  SiteValues spins(const F& f) const {
    SiteValues m = make(4, 4, f);
    m.spin = true;
    return m;
  }
  /// DeGrand-Rossi: off-diagonal blocks i s_1, -i s_2, i s_3 with Pauli matrices s and their conjugates; 1 and 1.
  SiteValues gamma(int mu) const {
    const Complex64 i(0, 1);
    const Complex64 block[4][4] = {{0, i, i, 0}, {0, -1, 1, 0}, {i, 0, 0, -i}, {1, 0, 0, 1}};
    return spins([&](long long, int r, int c) {
      if ((r < 2) == (c < 2)) return Complex64(0);
      return r < 2 ? block[mu][2 * r + c - 2] : std::conj(block[mu][2 * c + r - 2]);
    });
  }

  SiteValues multiplied(const SiteValues& a, const SiteValues& b) const {
    if (a.rows == 1 && a.columns == 1) {
      SiteValues scaled =
          make(b.rows, b.columns, [&](long long i, int r, int c) { return a.element[i] * b.at(i, r, c); });
      scaled.spin = b.spin;
      return scaled;
    }
    if (b.rows == 1 && b.columns == 1) return multiplied(b, a);
    const bool on_matrix = b.rows == b.columns && (b.spin || !is_spinor(b));
    if (on_matrix && (a.spin || b.spin)) {
      const bool alike = a.spin && b.spin && a.rows == b.rows;
      SiteValues c = alike ? product_of(a, b) : product_of(on_spins_and_colours(a), on_spins_and_colours(b));
      c.spin = true;
      return c;
    }
    if (a.rows == 12)
      return make(b.rows, b.columns, [&](long long i, int colour, int s) {
        Complex64 z = 0;
        for (int k = 0; k < 12; ++k) z += a.at(i, 3 * s + colour, k) * b.at(i, k % 3, k / 3);
        return z;
      });
    // Spinors are stored with colours as rows, spins as columns.
    if (a.spin)
      return make(b.rows, b.columns, [&](long long i, int colour, int s) {
        Complex64 z = 0;
        for (int k = 0; k < 4; ++k) z += a.at(i, s, k) * b.at(i, colour, k);
        return z;
      });
    return product_of(a, b);
  }

  /// Four spins as columns; a spinor of one spin is no matrix either.
  static bool is_spinor(const SiteValues& a) { return a.rows == 3 && a.columns != 3; }

  SiteValues product_of(const SiteValues& a, const SiteValues& b) const {
    if (a.columns != b.rows) misfit();
    return make(a.rows, b.columns, [&](long long i, int r, int c) {
      Complex64 z = 0;
      for (int k = 0; k < a.columns; ++k) z += a.at(i, r, k) * b.at(i, k, c);
      return z;
    });
  }

  static Complex64 traced(const SiteValues& a, long long i) {
    Complex64 sum = 0;
    for (int n = 0; n < a.rows; ++n) sum += a.at(i, n, n);
    return sum;
  }

  /// sum of eps_ijk eps_lmn a_il b_jm over all but k and n.
  static Complex64 epsilon(const SiteValues& a, const SiteValues& b, long long site, int k, int n) {
    const auto sign = [](int p, int q, int r) { return (q - p) * (r - p) * (r - q) / 2; };
    Complex64 sum = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int l = 0; l < 3; ++l)
          for (int m = 0; m < 3; ++m)
            sum += double(sign(i, j, k) * sign(l, m, n)) * a.at(site, i, l) * b.at(site, j, m);
    return sum;
  }

  const quarksmith::Lattice& lattice_;
};

}  // namespace reference
