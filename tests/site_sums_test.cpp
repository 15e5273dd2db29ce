// Sums over sites on each device against long double and against other orders of the terms.
#include "runtime/fields/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/device.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class SumsOverSites : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  /// Sum of number n of rows of sites, of which `used` count, with `apart` numbers each.
  double total(const std::vector<double>& words, int row, int used, int apart, int n) {
    const auto device = GetParam();
    const Memory memory(device, words.size() * sizeof(double));
    device->upload(memory.data(), words.data(), memory.bytes());
    const long long stride = static_cast<long long>(row) * apart;
    const SiteNumbers numbers{static_cast<const double*>(memory.data()) + n,
                              static_cast<long long>(words.size()) / stride, used, apart, stride};
    const auto alone = Communicator::self();
    return device->sum(numbers, device->largest(numbers)).total(*alone);
  }
};

std::vector<double> numbers_of_many_sizes(std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> gauss;
  std::vector<double> words(count);
  for (double& w : words) w = gauss(random) * std::exp(3 * gauss(random));
  return words;
}

TEST_P(SumsOverSites, AreThoseOfLongDouble) {
  const std::vector<double> words = numbers_of_many_sizes(3 * 8 * 41000);
  for (const int used : {8, 2})
    for (const int n : {0, 2}) {
      long double expected = 0, size = 0;
      for (std::size_t at = n; at < words.size(); at += 3) {
        if (at / 3 % 8 >= static_cast<std::size_t>(used)) continue;
        expected += words[at];
        size = std::max(size, std::abs(static_cast<long double>(words[at])));
      }
      EXPECT_NEAR(total(words, 8, used, 3, n), double(expected), double(size) * 1e-13) << used << " of 8, number " << n;
    }
}

TEST_P(SumsOverSites, HaveTheSameBitsInAnyOrder) {
  std::vector<double> words = numbers_of_many_sizes(100000);
  const double before = total(words, 32, 32, 1, 0);
  std::shuffle(words.begin(), words.end(), std::mt19937_64(3));
  EXPECT_EQ(total(words, 32, 32, 1, 0), before);
  EXPECT_EQ(total(words, 1, 1, 1, 0), before);
}

TEST_P(SumsOverSites, CancelExactly) {
  std::vector<double> words = numbers_of_many_sizes(64000);
  for (std::size_t n = 0; n < words.size(); n += 2) words[n + 1] = -words[n];
  EXPECT_EQ(total(words, 32, 32, 1, 0), 0);
  words[640] = 1e-9;
  words[641] = 0;
  EXPECT_NEAR(total(words, 32, 32, 1, 0), 1e-9, 1e-13);
}

TEST_P(SumsOverSites, AreNoNumberIfOneIsNot) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> words = numbers_of_many_sizes(64000);
    words[12345] = bad;
    EXPECT_TRUE(std::isnan(total(words, 32, 32, 1, 0)));
  }
  EXPECT_EQ(total(std::vector<double>(64, 0.0), 32, 32, 1, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, SumsOverSites, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
