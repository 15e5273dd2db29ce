#include "runtime/ranks/site_numbers.hpp"

#include <vector>

#include "runtime/kernels/site_draws.hpp"
#include "runtime/lattice/stored_order.hpp"

namespace quarksmith {

Memory numbers_by_slot(const Domain& domain, int lanes, const std::function<long long(const Coordinates&)>& number_of) {
  const Lattice& lattice = domain.lattice();
  const MemoryOrder order = order_of_sites(domain, lanes);
  const LaneLayout& layout = domain.layout(lanes);
  std::vector<unsigned long long> all(order.words(), SiteDraws::nowhere);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const auto [block, first] = layout.position(x);
    for (int lane = first; lane < lanes; lane += layout.boxes())  // copies too
      all[slot_of(order, int(Lattice::parity(x)), block, lane)] = static_cast<unsigned long long>(number_of(x));
  }
  Memory numbers(domain.device_pointer(), all.size() * sizeof(all[0]));
  domain.device().upload(numbers.data(), all.data(), numbers.bytes());
  return numbers;
}

}  // namespace quarksmith
