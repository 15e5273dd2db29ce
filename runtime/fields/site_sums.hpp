/// \file
/// Sums over the sites of a lattice, whose bits do not depend on how it is spread.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/fields/memory_order.hpp"

namespace quarksmith {

/// What every site of a part adds to the sums of a lattice expression, in the memory of its device
/// (runtime/kernels/site_values.hpp).
class SiteSums {
 public:
  /// \param lanes as of the fields from which the numbers are made.
  SiteSums(DomainPointer domain, int lanes, int sums, int rhs);

  /// Of both parities.
  Operand operand() const;
  StoredSites stored() const;
  /// Number n of right-hand side r, added up over all ranks, at r * sums + n. Collective.
  std::vector<double> totals() const;
  /// The largest |value| of a site, in the same order. Collective.
  std::vector<double> largest() const;

 private:
  /// Calls visit(numbers) for each.
  template <class Visit>
  void for_each(const Visit& visit) const;
  MemoryOrder order() const;

  DomainPointer domain_;
  int lanes_, sums_, rhs_;
  Memory data_;
};

}  // namespace quarksmith
