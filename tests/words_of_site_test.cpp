// What a GPU's memory gets in pieces is what its order says of each word.
#include "runtime/fields/words_of_site.hpp"

#include "runtime/fields/rows.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

double word_of(long long site, int n) { return 100.0 * double(site) + n + 1; }

/// A lattice whose parities fill blocks of sites, one whose do not, and one smaller than a block.
class StagedSites : public testing::TestWithParam<std::tuple<Coordinates, Subset>> {};

TEST_P(StagedSites, AreWhereTheOrderSays) {
  const auto [extent, subset] = GetParam();
  const Lattice lattice(extent);
  const Domain domain(lattice, Device::cpu());
  constexpr int words = 24;
  const MemoryOrder order(true, words, 1, sizeof(double), lattice.sites() / 2, subset == Subset::full ? 2 : 1, 1);
  std::vector<double> memory(std::size_t(order.words()), -1), expected(memory.size(), 0);
  // Words of the field, one by one.
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Parity parity = Lattice::parity(lattice.coordinates(i));
    if (!holds(subset, parity)) continue;
    const int held = subset == Subset::full && parity == Parity::odd ? 1 : 0;
    for (int n = 0; n < words; ++n)
      expected[std::size_t(held * order.parity_words() + order.word(i / 2, 0, n))] = word_of(i, n);
  }
  for (const std::size_t staged :
       {std::size_t(1), std::size_t(3 * 64 * words * sizeof(double)), std::size_t(16 << 20)}) {
    std::fill(memory.begin(), memory.end(), -1);
    for_each_staged_site(
        domain, subset, all_sites(lattice), Way::to_device, memory.data(), order,
        [](long long i, const WordsOfSite& at) {
          for (int n = 0; n < words; ++n) at[n] = word_of(i, n);
        },
        staged);
    EXPECT_EQ(memory, expected) << staged;
    // Of a range other sites of its first and last block become zero, others stay.
    const SiteRange range{lattice.sites() / 4, lattice.sites() / 2 + 2};
    std::fill(memory.begin(), memory.end(), -1);
    for_each_staged_site(
        domain, subset, range, Way::to_device, memory.data(), order,
        [](long long i, const WordsOfSite& at) {
          for (int n = 0; n < words; ++n) at[n] = word_of(i, n);
        },
        staged);
    for (long long i = 0; i < lattice.sites(); ++i) {
      const Parity parity = Lattice::parity(lattice.coordinates(i));
      if (!holds(subset, parity)) continue;
      const int held = subset == Subset::full && parity == Parity::odd ? 1 : 0;
      const bool inside = i >= range.first && i < range.end;
      const bool near = i >= range.first / 64 * 64 && i < (range.end + 63) / 64 * 64;
      const double found = memory[std::size_t(held * order.parity_words() + order.word(i / 2, 0, 3))];
      EXPECT_EQ(found, inside ? word_of(i, 3) : near ? 0 : -1) << i << " " << staged;
    }
    memory = expected;
    std::vector<int> seen(std::size_t(lattice.sites()), 0);
    for_each_staged_site(
        domain, subset, all_sites(lattice), Way::to_host, memory.data(), order,
        [&](long long i, const WordsOfSite& at) {
          bool same = true;
          for (int n = 0; n < words; ++n) same = same && at[n] == word_of(i, n);
          seen[std::size_t(i)] = same ? 1 : 2;
        },
        staged);
    for (long long i = 0; i < lattice.sites(); ++i)
      EXPECT_EQ(seen[std::size_t(i)], holds(subset, Lattice::parity(lattice.coordinates(i))) ? 1 : 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Lattices, StagedSites,
                         testing::Combine(testing::Values(Coordinates{8, 8, 8, 4}, Coordinates{4, 6, 2, 6},
                                                          Coordinates{2, 2, 2, 4}),
                                          testing::Values(Subset::full, Subset::even, Subset::odd)));

/// Rows that lie apart, in pieces that end with the last one, before it, or hold them all: between them nothing
/// changes.
TEST(RowsOfTheHost, LieTogetherOnTheDevice) {
  const std::shared_ptr<Device> device = Device::cpu();
  constexpr std::size_t bytes = 24, count = 101;
  for (const std::size_t stride : {bytes, bytes + 17})
    for (const std::size_t staged : {std::size_t(1), 4 * bytes, 20 * bytes, 2 * count * bytes, std::size_t(1) << 20}) {
      std::vector<char> host(count * stride), expected(count * bytes), back(host.size(), 'x');
      for (std::size_t n = 0; n < host.size(); ++n) host[n] = static_cast<char>(n * n % 113);
      for (std::size_t n = 0; n < expected.size(); ++n) expected[n] = host[n / bytes * stride + n % bytes];
      const Memory there(device, expected.size());
      upload_rows(*device, there.data(), {host.data(), bytes, stride, count}, staged);
      std::vector<char> found(expected.size());
      device->download(found.data(), there.data(), found.size());
      EXPECT_EQ(found, expected) << stride << " " << staged;
      download_rows(*device, {back.data(), bytes, stride, count}, there.data(), staged);
      for (std::size_t n = 0; n < back.size(); ++n)
        ASSERT_EQ(back[n], n % stride < bytes ? host[n] : 'x') << stride << " " << staged;
    }
}

}  // namespace
