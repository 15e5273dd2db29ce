#include "runtime/fields/site_sums.hpp"

#include "runtime/ranks/bordered.hpp"
#include "runtime/fields/exact_sum.hpp"

namespace quarksmith {

SiteSums::SiteSums(DomainPointer domain, int lanes, int sums, int rhs)
    : domain_(std::move(domain)), lanes_(lanes), sums_(sums), rhs_(rhs) {
  data_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(order().words()) * rhs * sizeof(double));
  domain_->device().fill(data_.data(), 0, data_.bytes());
}

MemoryOrder SiteSums::order() const {
  return {domain_->device().short_vectors(),        sums_, 1,     sizeof(double),
          domain_->lattice().half_sites() / lanes_, 2,     lanes_};
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
  std::vector<double> words(static_cast<std::size_t>(order.words()) * rhs_), terms;
  domain_->device().download(words.data(), data_.data(), data_.bytes());
  std::vector<double> totals;
  terms.reserve(static_cast<std::size_t>(domain_->lattice().sites()));
  for (int r = 0; r < rhs_; ++r)
    for (int n = 0; n < sums_; ++n) {
      terms.clear();
      for (long long block = 0; block < 2 * order.blocks; ++block)
        for (int lane = 0; lane < lanes_; ++lane)
          terms.push_back(words[r * order.words() + order.word(block, lane, n)]);
      totals.push_back(exact_sum(terms, domain_->communicator()));
    }
  return totals;
}

}  // namespace quarksmith
