#include "runtime/fields/site_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "runtime/ranks/bordered.hpp"
#include "runtime/fields/exact_sum.hpp"

namespace quarksmith {
namespace {

/// The sum of value(0) ... value(count - 1) of all ranks, of any size: with one thread it would take as long as the
/// force whose norm it is. Collective.
template <class Value>
double exact_sum_of(long long count, const Value& value, Communicator& communicator) {
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (long long n = 0; n < count; ++n)
    if (const double size = std::abs(value(n)); size <= std::numeric_limits<double>::max())
      largest = std::max(largest, size);
  const ExactSum none(communicator.largest(largest));
  ExactSum sum = none;
#pragma omp parallel
  {
    ExactSum mine = none;
#pragma omp for schedule(static) nowait
    for (long long n = 0; n < count; ++n) mine.add(value(n));
#pragma omp critical
    sum.add(mine);
  }
  return sum.total(communicator);
}

}  // namespace

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

std::vector<double> SiteSums::totals() const {
  const MemoryOrder order = this->order();
  const auto copy = std::make_unique_for_overwrite<double[]>(data_.bytes() / sizeof(double));
  domain_->device().download(copy.get(), data_.data(), data_.bytes());
  const double* words = copy.get();
  const int boxes = domain_->layout(lanes_).boxes();  // other lanes are copies
  std::vector<double> totals;
  for (int r = 0; r < rhs_; ++r, words += order.words())
    for (int n = 0; n < sums_; ++n)
      totals.push_back(exact_sum_of(
          2 * order.blocks * boxes,
          [&](long long site) { return words[order.word(site / boxes, static_cast<int>(site % boxes), n)]; },
          domain_->communicator()));
  return totals;
}

}  // namespace quarksmith
