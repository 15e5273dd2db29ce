/// \file
/// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, "Parallel random numbers: as easy as
/// 1, 2, 3"). Host and kernels share it. The numbers of a site depend only on seed, counter and the number of the site
/// in the whole lattice.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

class Random {
 public:
  QUARKSMITH_ANYWHERE Random(const RandomState& state, unsigned site) : state_(state), site_(site) {}

  /// Uniform in (0, 1), 53 bits.
  QUARKSMITH_ANYWHERE double uniform() {
    if (left_ == 0) refill();
    --left_;
    const unsigned long long bits = (static_cast<unsigned long long>(word_[2 * left_ + 1]) << 32) | word_[2 * left_];
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  }

 private:
  QUARKSMITH_ANYWHERE void refill() {
    unsigned c0 = site_, c1 = draw_++, c2 = unsigned(state_.counter), c3 = unsigned(state_.counter >> 32);
    unsigned k0 = unsigned(state_.seed), k1 = unsigned(state_.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const unsigned long long p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
      c0 = unsigned(p1 >> 32) ^ c1 ^ k0;
      c2 = unsigned(p0 >> 32) ^ c3 ^ k1;
      c1 = unsigned(p1);
      c3 = unsigned(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    word_[0] = c0, word_[1] = c1, word_[2] = c2, word_[3] = c3;
    left_ = 2;
  }

  RandomState state_;
  unsigned site_;
  unsigned draw_ = 0;
  unsigned word_[4] = {};
  int left_ = 0;
};

}  // namespace quarksmith
