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

std::vector<double> SiteSums::totals() const {
  const std::vector<double> largest = this->largest();
  std::vector<double> all;
  for_each([&](const SiteNumbers& numbers) {
    all.push_back(domain_->device().sum(numbers, largest[all.size()]).total(domain_->communicator()));
  });
  return all;
}

}  // namespace quarksmith
