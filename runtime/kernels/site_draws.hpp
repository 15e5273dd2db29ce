/// \file
/// Gaussian noise of fields, drawn where they are: hosts and GPUs share it.
#pragma once

#include <cmath>

#include "runtime/kernels/random.hpp"
#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith {

/// Normal of variance 1: G. E. P. Box and M. E. Muller, Ann. Math. Statist. 29 (1958) 610.
QUARKSMITH_ANYWHERE double gaussian(Random& random) {
  const double radius = sqrt(-2 * log(random.uniform()));
  return radius * cos(6.283185307179586476925 * random.uniform());
}

/// What a field of doubles gets at each site, from a stream of the site's own: the same however a lattice is spread.
struct SiteDraws {
  enum class Kind { algebra, complex_numbers };

  StoredSites to;
  const unsigned long long* numbers = nullptr;  ///< of the slots in the whole lattice; `nowhere`: no site is there
  int slots = 0;
  RandomState random;
  /// Matrices i p_a lambda_a / 2 with independent p_a of variance 1, or z with <|z|^2> = 1.
  Kind kind = Kind::complex_numbers;
  int spins = 1;
  double rotation[32] = {};  ///< what turns four spins, row by row

  static constexpr unsigned long long nowhere = ~0ull;
};

/// The streams of a site number: beyond 2^32 the high half goes into the counter, which others use from the low end.
QUARKSMITH_ANYWHERE Random stream_of(RandomState state, unsigned long long number) {
  state.counter ^= number >> 32 << 32;
  return {state, static_cast<unsigned>(number)};
}

/// Words of one site and right-hand side of a field.
class SiteWords {
 public:
  QUARKSMITH_ANYWHERE SiteWords(const StoredSites& f, int slot, int rhs)
      : first_(reinterpret_cast<double*>(f.data + rhs * f.rhs_bytes)),
        vector_(f.piece_bytes / static_cast<int>(sizeof(double))),
        row_(f.row) {
    first_ += (static_cast<long long>(slot / row_) * f.pieces * row_ + slot % row_) * vector_;
  }
  QUARKSMITH_ANYWHERE double& operator[](int n) const {
    return first_[static_cast<long long>(n / vector_) * row_ * vector_ + n % vector_];
  }

 private:
  double* first_;
  int vector_, row_;
};

/// i sum_a p_a lambda_a / 2 with the Gell-Mann matrices, from word `at` on.
QUARKSMITH_ANYWHERE void draw_algebra(Random& random, const SiteWords& words, int at) {
  double p[8];
  for (double& component : p) component = gaussian(random) / 2;
  const double d = p[7] / 1.732050807568877293527;
  const double matrix[18] = {0,        p[2] + d, p[1], p[0],  p[4], p[3],  -p[1], p[0], 0,
                             d - p[2], p[6],     p[5], -p[4], p[3], -p[6], p[5],  0,    -2 * d};
  for (int n = 0; n < 18; ++n) words[at + n] = matrix[n];
}

/// \param psi complex numbers of a site, as they are drawn.
QUARKSMITH_ANYWHERE void turn_spins(const double* rotation, const double* psi, const SiteWords& words) {
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c) {
      double re = 0, im = 0;
      for (int s = 0; s < 4; ++s) {
        const double *e = rotation + 2 * (4 * r + s), *z = psi + 2 * (3 * s + c);
        re += e[0] * z[0] - e[1] * z[1];
        im += e[0] * z[1] + e[1] * z[0];
      }
      words[2 * (3 * r + c)] = re;
      words[2 * (3 * r + c) + 1] = im;
    }
}

QUARKSMITH_ANYWHERE void draw_site(const SiteDraws& d, int slot) {
  if (d.numbers[slot] == SiteDraws::nowhere) return;
  Random random = stream_of(d.random, d.numbers[slot]);
  for (int rhs = 0; rhs < d.to.rhs; ++rhs) {
    const SiteWords words(d.to, slot, rhs);
    if (d.kind == SiteDraws::Kind::algebra) {
      for (int mu = 0; mu < directions; ++mu) draw_algebra(random, words, 18 * mu);
      continue;
    }
    double psi[24];
    for (int n = 0; n < 6 * d.spins; ++n) psi[n] = gaussian(random) * 0.7071067811865475244008;
    if (d.spins == 4)
      turn_spins(d.rotation, psi, words);
    else
      for (int n = 0; n < 6 * d.spins; ++n) words[n] = psi[n];
  }
}

}  // namespace quarksmith
