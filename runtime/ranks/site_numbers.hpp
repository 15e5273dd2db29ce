/// \file
/// Numbers of sites for each slot of a field.
#pragma once

#include <functional>

#include "runtime/lattice/memory_order.hpp"
#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// The order of slots in fields of all sites, which does not depend on what a site holds.
inline MemoryOrder order_of_sites(const Domain& domain, int lanes) {
  return {domain.device().short_vectors(), 1, 1, 8, domain.layout(lanes).geometry().half_sites, 2, lanes};
}

/// One number for each slot of a field of all sites: that of its site, or SiteDraws::nowhere.
Memory numbers_by_slot(const Domain& domain, int lanes, const std::function<long long(const Coordinates&)>& number_of);

}  // namespace quarksmith
