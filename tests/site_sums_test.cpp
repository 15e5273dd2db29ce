// Sums over sites on each device against long double and against other orders of the terms.
#include "runtime/lattice/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/device.hpp"
#include "runtime/fields/site_sums.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class SumsOverSites : public support::OnDevice {
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

/// Sums of `sites` complex numbers a slice with phases of two momenta, the sites in some order.
std::vector<double> over_slices(const std::shared_ptr<Device>& device, const std::vector<double>& words,
                                const std::vector<Complex64>& phases, const std::vector<int>& order) {
  const int sites = static_cast<int>(order.size()), slices = static_cast<int>(words.size()) / (2 * sites);
  std::vector<long long> places;
  std::vector<Complex64> turns(2 * order.size());
  for (int slice = 0; slice < slices; ++slice)
    for (const int site : order) places.push_back(2ll * (slice * sites + site));
  for (std::size_t n = 0; n < turns.size(); ++n) turns[n] = phases[n / sites * sites + order[n % sites]];
  const Memory data(device, words.size() * sizeof(double)), first(device, places.size() * sizeof(long long)),
      of_momenta(device, turns.size() * sizeof(Complex64));
  device->upload(data.data(), words.data(), data.bytes());
  device->upload(first.data(), places.data(), first.bytes());
  device->upload(of_momenta.data(), turns.data(), of_momenta.bytes());
  const SliceNumbers numbers{
      static_cast<const double*>(data.data()), static_cast<const long long*>(first.data()), slices, sites, 1, 0, 1};
  std::vector<SumUnits> units;
  for (const double largest : device->largest_in_slices(numbers)) units.push_back(units_for(largest, sites));
  const auto parts = device->sums_over_slices(numbers, units, static_cast<const double*>(of_momenta.data()), 2);
  std::vector<double> sums;
  for (std::size_t n = 0; n < parts.size(); n += 4)
    for (const int part : {0, 1}) sums.push_back(parts[n + part] + parts[n + part + 2]);
  return sums;
}

TEST_P(SumsOverSites, OfSlicesWithPhasesAreThoseOfLongDouble) {
  constexpr int sites = 1001, slices = 3;
  const std::vector<double> words = numbers_of_many_sizes(2 * sites * slices);
  std::vector<Complex64> phases(2 * sites);
  for (int n = 0; n < 2 * sites; ++n) phases[n] = std::polar(1.0, n < sites ? 0.0 : 0.37 * n);
  std::vector<int> order(sites);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> sums = over_slices(GetParam(), words, phases, order);
  ASSERT_EQ(sums.size(), 4u * slices);
  for (int slice = 0; slice < slices; ++slice)
    for (int p = 0; p < 2; ++p) {
      std::complex<long double> expected = 0;
      double largest = 0;
      for (int site = 0; site < sites; ++site) {
        const std::size_t at = 2 * (slice * sites + site);
        expected +=
            std::complex<long double>(phases[p * sites + site]) * std::complex<long double>(words[at], words[at + 1]);
        largest = std::max({largest, std::abs(words[at]), std::abs(words[at + 1])});
      }
      EXPECT_NEAR(sums[2 * (2 * slice + p)], double(expected.real()), 1e-14 * largest);
      EXPECT_NEAR(sums[2 * (2 * slice + p) + 1], double(expected.imag()), 1e-14 * largest);
    }
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  EXPECT_EQ(over_slices(GetParam(), words, phases, order), sums);
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

ON_EACH_DEVICE(SumsOverSites);

}  // namespace
