#include "runtime/fields/site_sums.hpp"

#include "runtime/fields/exact_sum.hpp"
#include "runtime/ranks/bordered.hpp"

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

std::vector<double> SiteSums::totals() const {
  Device& device = domain_->device();
  Communicator& communicator = domain_->communicator();
  const MemoryOrder order = this->order();
  const int boxes = domain_->layout(lanes_).boxes();
  const double* words = static_cast<const double*>(data_.data());
  std::vector<double> totals;
  for (int r = 0; r < rhs_; ++r, words += order.words())
    for (int n = 0; n < sums_; ++n) {
      const SiteNumbers numbers = order.numbers(words, n, boxes);
      totals.push_back(device.sum(numbers, communicator.largest(device.largest(numbers))).total(communicator));
    }
  return totals;
}

}  // namespace quarksmith
