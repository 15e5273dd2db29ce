#include "tests/support.hpp"

namespace support {

Deviation compare(const HostSpinor& result, const HostSpinor& expected, Subset subset) {
  double difference = 0, size = 0, largest = 0;
  long long count = 0;
  for (long long x = 0; x < expected.lattice.sites(); ++x) {
    if (subset != Subset::full && int(Lattice::parity(expected.lattice.coordinates(x))) != int(subset)) continue;
    for (int k = 0; k < 12; ++k) {
      const double d = std::norm(result.site[x][k] - expected.site[x][k]);
      difference += d;
      size += std::norm(expected.site[x][k]);
      if (!(d <= largest)) largest = d;  // a NaN sticks
      ++count;
    }
  }
  const double mean = size / count;
  return {std::sqrt(difference / size), std::sqrt(largest / mean)};
}

double largest_difference(const HostGauge& a, const HostGauge& b) {
  double largest = 0;
  for (std::size_t x = 0; x < a.site.size(); ++x)
    for (int mu = 0; mu < 4; ++mu)
      for (int n = 0; n < 9; ++n) {
        const double d = std::abs(a.site[x][mu][n] - b.site[x][mu][n]);
        if (!(d <= largest)) largest = d;  // a NaN sticks
      }
  return largest;
}

std::vector<std::array<Complex64, 144>> whole_term(const std::vector<HostTerm>& blocks) {
  std::vector<std::array<Complex64, 144>> terms(blocks.size());
  for (std::size_t x = 0; x < blocks.size(); ++x)
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) terms[x][12 * (6 * b + i) + 6 * b + j] = blocks[x][b][6 * i + j];
  return terms;
}

}  // namespace support
