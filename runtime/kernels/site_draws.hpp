/// \file
/// Random numbers for fields, drawn in the memory where they are; shared by hosts and GPUs.
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

/// Random numbers of a field of doubles, from one stream for each site: the same on any grid of ranks.
struct SiteDraws {
  enum class Kind { algebra, complex_numbers, signs };

  StoredSites to;
  const unsigned long long* numbers = nullptr;  ///< of slots in the whole lattice; `nowhere`: there is no site
  int slots = 0;
  RandomState random;
  /// Matrices i p_a T_a, tr T_a T_b = 1/2, with independent p_a of variance 1; z with <|z|^2> = 1, of Gaussian numbers
  /// or of signs.
  Kind kind = Kind::complex_numbers;
  int spins = 1, colours = 3;
  double rotation[32] = {};  ///< matrix that rotates four spins to the gamma basis, row by row

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
    first_ += f.first_piece(slot) * vector_;
  }
  QUARKSMITH_ANYWHERE double& operator[](int n) const {
    return first_[static_cast<long long>(n / vector_) * row_ * vector_ + n % vector_];
  }

 private:
  double* first_;
  int vector_, row_;
};

/// i sum_a p_a T_a of SU(n) from word `at` on, T_a half the matrices of Gell-Mann and their like for other n: column
/// after column those above the diagonal, then the diagonal one that ends there. Stored as generator/algebra/su3.py
/// says: algebra_of.
QUARKSMITH_ANYWHERE void draw_algebra(Random& random, const SiteWords& words, int at, int n) {
  double diagonal[most_colours] = {};
  for (int j = 1; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      const double p = gaussian(random) / 2, q = gaussian(random) / 2;
      const int before = i * (2 * n - i - 1) / 2 + j - i - 1;  // elements above the diagonal
      words[at + n - 1 + 2 * before] = q;
      words[at + n + 2 * before] = p;
    }
    const double d = gaussian(random) / 2 / sqrt(0.5 * j * (j + 1));
    for (int i = 0; i < j; ++i) diagonal[i] += d;
    diagonal[j] = -j * d;
  }
  for (int i = 0; i < n - 1; ++i) words[at + i] = diagonal[i];
}

/// \param psi complex numbers of a site, as they are drawn.
QUARKSMITH_ANYWHERE void turn_spins(const double* rotation, const double* psi, const SiteWords& words, int colours) {
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < colours; ++c) {
      double re = 0, im = 0;
      for (int s = 0; s < 4; ++s) {
        const double *e = rotation + 2 * (4 * r + s), *z = psi + 2 * (colours * s + c);
        re += e[0] * z[0] - e[1] * z[1];
        im += e[0] * z[1] + e[1] * z[0];
      }
      words[2 * (colours * r + c)] = re;
      words[2 * (colours * r + c) + 1] = im;
    }
}

QUARKSMITH_ANYWHERE void draw_site(const SiteDraws& d, int slot) {
  if (d.numbers[slot] == SiteDraws::nowhere) return;
  Random random = stream_of(d.random, d.numbers[slot]);
  for (int rhs = 0; rhs < d.to.rhs; ++rhs) {
    const SiteWords words(d.to, slot, rhs);
    if (d.kind == SiteDraws::Kind::algebra) {
      for (int mu = 0; mu < directions; ++mu) draw_algebra(random, words, (d.colours * d.colours - 1) * mu, d.colours);
      continue;
    }
    double psi[8 * most_colours];
    const int reals = 2 * d.colours * d.spins;
    constexpr double size = 0.7071067811865475244008;
    double bits = 0;  // random bits of a uniform number, used one after the other
    for (int n = 0; n < reals; ++n) {
      if (d.kind == SiteDraws::Kind::complex_numbers) {
        psi[n] = gaussian(random) * size;
        continue;
      }
      bits = 2 * (n % 48 == 0 ? random.uniform() : bits);
      psi[n] = bits < 1 ? -size : size;
      bits -= bits < 1 ? 0 : 1;
    }
    if (d.spins == 4)
      turn_spins(d.rotation, psi, words, d.colours);
    else
      for (int n = 0; n < reals; ++n) words[n] = psi[n];
  }
}

}  // namespace quarksmith
