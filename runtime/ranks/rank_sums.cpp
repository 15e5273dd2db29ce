#include "runtime/ranks/rank_sums.hpp"

#include <algorithm>
#include <vector>

namespace quarksmith {

namespace {

/// Adds up pairs of numbers, a sum and what it was rounded by, as kernels do (runtime/targets/cpu/sums.hpp).
void sum_pairs(void* context, double* pairs, int count) {
  Communicator& communicator = *static_cast<Communicator*>(context);
  std::vector<double> all(static_cast<std::size_t>(count) * communicator.size());
  std::copy_n(pairs, count, all.begin() + static_cast<std::ptrdiff_t>(count) * communicator.rank());
  communicator.sum(all);  // each number stands beside zeros
  std::fill_n(pairs, count, 0.0);
  for (std::size_t n = 0; n < all.size(); n += 2) {
    double* const pair = pairs + n % count;
    const double total = pair[0] + all[n], added = total - pair[0];
    pair[1] += (pair[0] - (total - added)) + (all[n] - added) + all[n + 1];
    pair[0] = total;
  }
}

}  // namespace

RankSums::RankSums(const std::shared_ptr<Device>& device, Communicator& communicator) {
  host_.ranks = communicator.size();
  host_.rank = communicator.rank();
  if (!device->asynchronous()) {
    host_.context = &communicator;
    host_.sum = sum_pairs;
    team_ = &host_;
    return;
  }
  if (static_cast<int>(communicator.host_ranks().size()) != communicator.size()) return;
  constexpr std::size_t words = 2ull * Team::most_rhs * most_peers * 2 * Team::most_sums;
  partial_sums_ = device->allocate_shared(words * sizeof(unsigned long long), communicator);
  if (partial_sums_ == nullptr) return;
  for (std::size_t n = 0; n < communicator.host_ranks().size(); ++n)
    host_.box[communicator.host_ranks()[n]] =
        static_cast<unsigned long long*>(partial_sums_->part(static_cast<int>(n)));
  exchanges_ = Memory(device, sizeof(unsigned) * Team::most_rhs);
  device->fill(exchanges_.data(), 0, exchanges_.bytes());
  host_.exchanges = static_cast<unsigned*>(exchanges_.data());
  on_device_ = Memory(device, sizeof(Team));
  device->upload(on_device_.data(), &host_, sizeof(Team));
  team_ = static_cast<const Team*>(on_device_.data());
  communicator.barrier();  // all boxes are there before a kernel stores into one
}

}  // namespace quarksmith
