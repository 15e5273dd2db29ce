#include "runtime/fields/site_sums.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/lattice/exact_sum.hpp"
#include "runtime/ranks/padded_lattice.hpp"

namespace quarksmith {

SiteSums::SiteSums(DomainPointer domain, int lanes, int sums, int rhs)
    : domain_(std::move(domain)), lanes_(lanes), sums_(sums), rhs_(rhs) {
  data_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(order().words()) * rhs * sizeof(double));
  domain_->device().fill(data_.data(), 0, data_.bytes());
}

MemoryOrder SiteSums::order() const {
  return {domain_->device().short_vectors(),
          sums_,
          1,
          sizeof(double),
          domain_->layout(lanes_).geometry().half_sites,
          2,
          lanes_};
}

Operand SiteSums::operand() const {
  Operand f;
  f.data = data_.data();
  f.rhs_stride = order().words();
  f.parity_stride = order().parity_words();
  f.lanes = lanes_;
  return f;
}

StoredSites SiteSums::stored() const {
  StoredSites s = stored_sites(order(), operand(), sizeof(double));
  s.rhs = rhs_;
  return s;
}

template <class Visit>
void SiteSums::for_each(const Visit& visit) const {
  const MemoryOrder order = this->order();
  const int boxes = domain_->layout(lanes_).boxes();
  const double* words = static_cast<const double*>(data_.data());
  for (int r = 0; r < rhs_; ++r, words += order.words())
    for (int n = 0; n < sums_; ++n) visit(order.numbers(words, n, boxes));
}

std::vector<double> SiteSums::largest() const {
  std::vector<double> all;
  for_each([&](const SiteNumbers& numbers) {
    all.push_back(domain_->communicator().largest(domain_->device().largest(numbers)));
  });
  return all;
}

std::vector<long long> SiteSums::places() const {
  const Lattice& lattice = domain_->lattice();
  const LaneLayout& layout = domain_->layout(lanes_);
  const MemoryOrder order = this->order();
  std::vector<long long> all(static_cast<std::size_t>(lattice.sites()));
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const auto [block, lane] = layout.position(x);
    const int odd = (x[0] + x[1] + x[2] + x[3]) % 2;
    all[i] = odd * order.parity_words() + order.word(block, lane, 0);
  }
  return all;
}

SumUnits units_for(double largest, double terms) {
  int exponent = 0, bits = 0;
  std::frexp(2 * largest, &exponent);
  std::frexp(terms, &bits);
  return {std::ldexp(1.5, exponent + bits), std::ldexp(1.5, exponent + 2 * bits - 53)};
}

std::vector<Complex64> SiteSums::over_slices(std::span<const Complex64> phases) const {
  const Lattice& lattice = domain_->lattice();
  Device& device = domain_->device();
  const MemoryOrder order = this->order();
  const std::vector<long long> places = this->places();
  const Memory first(domain_->device_pointer(), places.size() * sizeof(long long)),
      turns(domain_->device_pointer(), phases.size_bytes());
  device.upload(first.data(), places.data(), places.size() * sizeof(long long));
  device.upload(turns.data(), phases.data(), phases.size_bytes());
  SliceNumbers numbers;
  numbers.first = static_cast<const long long*>(first.data());
  numbers.slices = lattice.extent(3);
  numbers.sites = lattice.space_sites();
  numbers.count = sums_ / 2;
  numbers.stride = order.word(0, 0, 2) - order.word(0, 0, 0);
  numbers.imaginary = static_cast<int>(order.word(0, 0, 1) - order.word(0, 0, 0));
  const int momenta = static_cast<int>(phases.size() / static_cast<std::size_t>(numbers.sites));
  const std::size_t each = static_cast<std::size_t>(momenta) * numbers.count, slices = lattice.global_extent(3);
  double terms = 1;
  for (int mu = 0; mu < 3; ++mu) terms *= lattice.global_extent(mu);
  std::vector<Complex64> all;
  for (int r = 0; r < rhs_; ++r) {
    numbers.data = static_cast<const double*>(data_.data()) + r * order.words();
    std::vector<double> largest(slices * numbers.count);
    std::ranges::copy(device.largest_in_slices(numbers), largest.begin() + lattice.origin(3) * numbers.count);
    domain_->communicator().largest(largest);
    std::vector<SumUnits> units;
    for (long long n = 0; n < numbers.results(); ++n)
      units.push_back(units_for(largest[lattice.origin(3) * numbers.count + n], terms));
    std::vector<double> sums(4 * slices * each);
    std::ranges::copy(device.sums_over_slices(numbers, units, static_cast<const double*>(turns.data()), momenta),
                      sums.begin() + 4 * lattice.origin(3) * each);
    domain_->communicator().sum(sums);  // exact as well
    for (std::size_t n = 0; n < sums.size(); n += 4) all.emplace_back(sums[n] + sums[n + 2], sums[n + 1] + sums[n + 3]);
  }
  return all;
}

std::vector<double> SiteSums::totals() const {
  const std::vector<double> largest = this->largest();
  std::vector<double> all;
  for_each([&](const SiteNumbers& numbers) {
    all.push_back(domain_->device().sum(numbers, largest[all.size()]).total(domain_->communicator()));
  });
  return all;
}

}  // namespace quarksmith
