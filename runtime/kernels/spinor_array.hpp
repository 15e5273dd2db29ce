/// \file
/// Spinors and matrices in arrays of other codes, and their copies to and from fields; shared by hosts and GPUs.
#pragma once

#include "runtime/kernels/site_draws.hpp"

namespace quarksmith {

/// Where an array of another code holds the numbers of each site, which are double or float.
struct SitePlaces {
  bool single = false;
  long long step[directions] = {};  ///< places to the next site along x, y, z, t
  bool halves = false;              ///< sites of a parity follow each other: place n above is number n / 2 of them
  long long odd = 0;                ///< then, places before the odd sites
  long long place_bytes = 0;        ///< from one place to the next

  /// The place of a site. \param x coordinates in the local lattice, four.
  template <class X>
  QUARKSMITH_ANYWHERE long long of(const X& x) const {
    long long place = 0, sum = 0;
    for (int mu = 0; mu < directions; ++mu) {
      place += x[mu] * step[mu];
      sum += x[mu];
    }
    return halves ? place / 2 + (sum % 2 != 0 ? odd : 0) : place;
  }
};

/// An array that holds a spinor at each of its places, [spin][colour] or [colour][spin], as pairs of numbers; or a
/// matrix, whose rows are spins here.
struct SpinorArray : SitePlaces {
  char* data = nullptr;
  long long spin = 3, colour = 1;  ///< complex numbers to the next spin, colour
  bool rotated = false;
  double rotation[32] = {};  ///< if rotated, M, unitary, 4x4: a field holds M psi
  bool spread = false;       ///< the field holds exp(i pi sum turn_mu x_mu) times that, x in the whole lattice
  double turn[directions] = {};
  bool phased = false;  ///< the array holds (-1)^s times that, s the sum of the coordinates of these directions (bits),
  unsigned signs = 0;
  int along = 0, beyond = 0;  ///< and, from this coordinate of the whole lattice on along a direction, times `across`
  double across[2] = {1, 0};
};

/// Copies between an array and one right-hand side of a field of doubles, or its matrices of one direction.
struct ArrayMove {
  SpinorArray array;
  StoredSites field;
  const unsigned long long* numbers = nullptr;  ///< of slots in the whole lattice, as those of SiteDraws
  int slots = 0;
  int extent[directions] = {}, origin[directions] = {};  ///< of the whole lattice; of the local one in it
  int spins = 4, colours = 3;
  bool to_array = false;
};

/// The complex numbers of one place.
class PlaceNumbers {
 public:
  QUARKSMITH_ANYWHERE PlaceNumbers(const SpinorArray& a, long long place)
      : first_(a.data + place * a.place_bytes), single_(a.single) {}
  QUARKSMITH_ANYWHERE double real(long long n) const {
    return single_ ? reinterpret_cast<const float*>(first_)[n] : reinterpret_cast<const double*>(first_)[n];
  }
  QUARKSMITH_ANYWHERE void set_real(long long n, double value) const {
    if (single_)
      reinterpret_cast<float*>(first_)[n] = static_cast<float>(value);
    else
      reinterpret_cast<double*>(first_)[n] = value;
  }

 private:
  char* first_;
  bool single_;
};

/// The factor from the numbers of an array to those of a field, or back, at a site.
struct SiteTurn {
  bool any;
  double real, imaginary;

  /// \param x coordinates in the whole lattice. \param angle sum turn_mu x_mu.
  QUARKSMITH_ANYWHERE SiteTurn(const SpinorArray& a, const int* x, double angle, bool to_array)
      : any(a.spread || a.phased) {
    const double pi = 3.14159265358979323846;
    real = a.spread ? cos(pi * angle) : 1;
    imaginary = a.spread ? sin(pi * angle) : 0;
    if (a.phased) {
      int sum = 0;
      for (int mu = 0; mu < directions; ++mu)
        if ((a.signs >> mu & 1) != 0) sum += x[mu];
      const bool over = x[a.along] >= a.beyond;
      real = (sum % 2 == 0 ? 1 : -1) * (over ? a.across[0] : 1);
      imaginary = over ? (sum % 2 == 0 ? -1 : 1) * a.across[1] : 0;
    }
    if (to_array) imaginary = -imaginary;
  }
};

/// Copies the site of a slot, if it has one.
QUARKSMITH_ANYWHERE void move_site(const ArrayMove& m, int slot) {
  const SpinorArray& a = m.array;
  unsigned long long rest = m.numbers[slot];
  if (rest == SiteDraws::nowhere) return;
  int x[directions], all[directions];
  double angle = 0;
  for (int mu = 0; mu < directions; ++mu) {
    all[mu] = static_cast<int>(rest % m.extent[mu]);
    x[mu] = all[mu] - m.origin[mu];
    angle += a.turn[mu] * static_cast<double>(all[mu]);
    rest /= m.extent[mu];
  }
  const SiteTurn turn(a, all, angle, m.to_array);
  const PlaceNumbers given(a, a.of(x));
  const SiteWords words(m.field, slot, 0);
  for (int c = 0; c < m.colours; ++c)
    for (int r = 0; r < m.spins; ++r) {
      double re = 0, im = 0;
      for (int s = a.rotated ? 0 : r; s < (a.rotated ? m.spins : r + 1); ++s) {
        const double one[2] = {1, 0};
        const double* e = a.rotated ? a.rotation + 2 * (m.to_array ? 4 * s + r : 4 * r + s) : one;
        if (e[0] == 0 && e[1] == 0) continue;
        const double g = m.to_array ? -e[1] : e[1];
        const int own = 2 * (m.colours * s + c);
        const long long n = 2 * (s * a.spin + c * a.colour);
        const double u = m.to_array ? words[own] : given.real(n);
        const double v = m.to_array ? words[own + 1] : given.real(n + 1);
        re += e[0] * u - g * v;
        im += e[0] * v + g * u;
      }
      if (turn.any) {
        const double turned = turn.real * re - turn.imaginary * im;
        im = turn.real * im + turn.imaginary * re;
        re = turned;
      }
      if (m.to_array) {
        const long long n = 2 * (r * a.spin + c * a.colour);
        given.set_real(n, re);
        given.set_real(n + 1, im);
      } else {
        words[2 * (m.colours * r + c)] = re;
        words[2 * (m.colours * r + c) + 1] = im;
      }
    }
}

}  // namespace quarksmith
