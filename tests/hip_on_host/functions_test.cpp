// Functions of the HIP target, each against plain arithmetic, on the host (hip/hip_runtime.h of this folder).
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include "runtime/targets/hip/kernel.hpp"
// (the target comes first)
#include "runtime/kernels/kernel.hpp"
#include "runtime/targets/gpu/batch.hpp"
#include "runtime/targets/gpu/halo.hpp"

namespace quarksmith::QUARKSMITH_TARGET {
namespace {

/// Runs `work` in so many threads of one block.
template <class Work>
void in_threads(int count, const Work& work) {
  blockDim = dim3(static_cast<unsigned>(count));
  model::block.work = work;
  model::block.run(count);
}

TEST(HipArithmetic, ApproximationsAreRefinedToTheLastDigits) {
  for (int exponent = -300; exponent <= 300; exponent += 3) {
    for (const double mantissa : {1.0, 1.3, 2.9, 7.77}) {
      const double a = std::ldexp(mantissa, exponent);
      EXPECT_NEAR(reciprocal(a) * a, 1.0, 5e-16) << a;
      EXPECT_NEAR(reciprocal(-a) * a, -1.0, 5e-16) << a;
      EXPECT_NEAR(square_root(a) / std::sqrt(a), 1.0, 5e-16) << a;
      if (std::abs(exponent) > 100) continue;
      const float f = static_cast<float>(a);
      EXPECT_NEAR(reciprocal(f) * f, 1.0f, 2.5e-7f) << f;
      EXPECT_NEAR(square_root(f) / std::sqrt(f), 1.0f, 2.5e-7f) << f;
    }
  }
  EXPECT_LT(square_root(0.0), 1e-144);
}

TEST(HipArithmetic, BytesAreChosenByNibblesOfTheSelector) {
  const unsigned a = 0x33221100u, b = 0x77665544u;
  for (unsigned selector = 0; selector < 0x8000u; ++selector) {
    if ((selector & 0x8888u) != 0) continue;
    unsigned expected = 0;
    for (int n = 0; n < 4; ++n) expected |= (selector >> 4 * n & 7u) * 0x11u << 8 * n;
    ASSERT_EQ(choose_bytes(a, b, selector), expected) << std::hex << selector;
  }
}

TEST(HipArithmetic, ANumberIsHiddenAndNotChanged) {
  int number = 42;
  hide(number);
  EXPECT_EQ(number, 42);
}

TEST(HipLaunch, BoundsAreWavefrontsOfASimdUnit) {
  EXPECT_EQ(waves_of_unit(32), 1);
  EXPECT_EQ(waves_of_unit(256), 1);
  EXPECT_EQ(waves_of_unit(257), 2);
  EXPECT_EQ(waves_of_unit(128 * 4), 2);
  EXPECT_EQ(waves_of_unit(4096), 8);
}

/// Integers count from zero: a word of 16 bits stands for word - 2^15, one of 8 bits for word - 2^7.
template <class Word>
void integers_come_back() {
  constexpr int N = 12, half = 1 << (8 * sizeof(Word) - 1);
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    Words<Word, 1, N> words;
    for (Word& w : words.w) w = static_cast<Word>(random());
    if (trial == 0) words.w[0] = 0, words.w[1] = static_cast<Word>(2 * half - 1), words.w[2] = half;
    const float scale = 1.0f / (half - 1);
    const Words<float, 1, N> reals = integers<1>(words, scale);
    for (int n = 0; n < N; ++n) ASSERT_NEAR(reals.w[n], (int(words.w[n]) - half) * scale, 1e-6f) << int(words.w[n]);
    Words<float, 1, N> integral;
    for (int n = 0; n < N; ++n) integral.w[n] = static_cast<float>(int(words.w[n]) - half);
    const Words<Word, 1, N> again = to_integers<Word>(integral, 1.0f);
    for (int n = 0; n < N; ++n) ASSERT_EQ(again.w[n], words.w[n]);
    const Words<Summand, 1, N> terms = summands<1>(words);
    for (int n = 0; n + 1 < N; ++n) {
      ASSERT_EQ(value(terms.w[n]), integral.w[n]);
      ASSERT_EQ(value(terms.w[n] + terms.w[n + 1]), integral.w[n] + integral.w[n + 1]);
      ASSERT_EQ(value(terms.w[n] - terms.w[n + 1]), integral.w[n] - integral.w[n + 1]);
    }
  }
}

TEST(HipWords, IntegersOfOneAndTwoBytesComeBack) {
  integers_come_back<std::uint8_t>();
  integers_come_back<std::uint16_t>();
}

/// Packets of 16, 8, 4 bytes: a site's words lie side by side within a packet, sites of a block side by side between.
template <class Word, int N>
void words_lie_in_packets() {
  constexpr int sites = 3 * site_block, bytes = vector_bytes_of<int(N * sizeof(Word))>,
                each = bytes / int(sizeof(Word));
  alignas(64) static Word memory[sites * N];
  Operand f;
  f.data = memory;
  for (int s = 0; s < sites; ++s) {
    Words<Word, 1, N> words;
    for (int n = 0; n < N; ++n) words.w[n] = static_cast<Word>(s * N + n);
    store_words<Word, 1, N, 1>(f, Place{s}, 0, 0, words);
  }
  for (int s = 0; s < sites; ++s) {
    const Words<Word, 1, N> words = load_words<Word, 1, N, 1>(f, Place{s}, 0, 0);
    const Words<Word, 1, N> once = load_words<Word, 1, N, 1, true>(f, Place{s}, 0, 0);
    for (int n = 0; n < N; ++n) {
      const int at = (s / site_block * (N / each) + n / each) * site_block * each + s % site_block * each + n % each;
      ASSERT_EQ(words.w[n], memory[at]);
      ASSERT_EQ(once.w[n], words.w[n]);
      ASSERT_EQ(words.w[n], static_cast<Word>(s * N + n));
    }
  }
}

TEST(HipWords, LieInPacketsOfABlockOfSites) {
  words_lie_in_packets<double, 24>();
  words_lie_in_packets<float, 18>();
  words_lie_in_packets<std::uint16_t, 18>();
  words_lie_in_packets<std::uint16_t, 24>();
}

TEST(HipMemory, IsCopiedToLds) {
  alignas(16) const char from[17] = "0123456789abcdef";
  alignas(16) char to[16];
  copy_to_shared<16>(to, from);
  wait_for_copies();
  EXPECT_EQ(std::memcmp(to, from, 16), 0);
}

TEST(HipThreads, SumsOfAWavefrontsGroupsAreTheirThreads) {
  std::vector<double> eight(128), two(128);
  in_threads(128, [&] {
    eight[threadIdx.x] = sum_of_threads<8>(double(threadIdx.x));
    two[threadIdx.x] = sum_of_threads<2>(double(threadIdx.x));
  });
  for (int n = 0; n < 128; ++n) {
    EXPECT_EQ(eight[n], n / 8 * 64 + 28) << n;
    EXPECT_EQ(two[n], n / 2 * 4 + 1) << n;
  }
}

/// N numbers of each thread, more than are added up at once or fewer.
template <int N>
void block_adds_up() {
  for (const int threads : {model::wave, 64, 128, 192, 256, 1024}) {
    std::array<double, N> sums;
    in_threads(threads, [&] {
      double values[N], totals[N];
      for (int k = 0; k < N; ++k) values[k] = k + threadIdx.x * threadIdx.x;
      sum_block<N>(values, totals);
      if (threadIdx.x == 0) std::copy_n(totals, N, sums.data());
    });
    for (int k = 0; k < N; ++k) {
      double expected = 0;
      for (int n = 0; n < threads; ++n) expected += k + n * n;
      EXPECT_EQ(sums[k], expected) << threads << " threads, number " << k;
    }
  }
}

TEST(HipThreads, ABlockAddsUpWhateverTheWidthOfAWavefront) {
  block_adds_up<1>();
  block_adds_up<3>();
  block_adds_up<sums_at_once>();
  block_adds_up<2 * sums_at_once + 1>();
}

/// A row with two sums, each over some sites.
struct Counting {
  static constexpr int sums = 2, tile = 1;
  static int count(const Arguments& a) { return static_cast<int>(a.count); }
  template <int W>
  static void site(const Arguments&, int index, int rhs, double* sums) {
    sums[0] += index + rhs;
    sums[1] += index % 3;
  }
};

TEST(HipThreads, ReductionsOverBlocksGiveTheSameSumsAgain) {
  const int sites = 5000, rhs = 3;
  std::vector<double> sums(2 * rhs), partial(reducing_blocks * 2 * rhs), again;
  std::vector<unsigned> ticket(rhs, 0);
  Arguments a;
  a.count = sites;
  a.rhs = rhs;
  a.sums = sums.data();
  a.partial = partial.data();
  a.ticket = ticket.data();
  for (int time = 0; time < 2; ++time) {
    std::fill(sums.begin(), sums.end(), 0);
    apply<Counting, 256, 2>(a, {});
    for (int r = 0; r < rhs; ++r) {
      EXPECT_EQ(sums[2 * r], sites * (sites - 1) / 2 + r * sites);
      EXPECT_EQ(sums[2 * r + 1], sites / 3 * 3 + (sites % 3 == 2 ? 1 : 0));
      EXPECT_EQ(ticket[r], 0u);
    }
  }
}

TEST(HipPeers, WordsAndCountersArriveWhole) {
  unsigned long long word = 0;
  store_for_peer(&word, 0x123456789abcdef0ull);
  EXPECT_EQ(load_of_peer(&word), 0x123456789abcdef0ull);
  unsigned counter = 5;
  before_signal();
  add_released(&counter, 7);
  EXPECT_EQ(load_counter(&counter), 12u);
  after_signal();
}

}  // namespace
}  // namespace quarksmith::QUARKSMITH_TARGET
