/// \file
/// Sums over the sites of a lattice, whose bits do not depend on the grid of ranks.
#pragma once

#include <span>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/lattice/memory_order.hpp"

namespace quarksmith {

/// Units with which sums of `terms` terms, each at most sqrt(2) `largest`, are exact.
SumUnits units_for(double largest, double terms);

/// The contribution of each local site to the sums of a lattice expression, in device memory
/// (runtime/kernels/site_values.hpp).
class SiteSums {
 public:
  /// \param lanes as of the fields from which the numbers are made.
  SiteSums(DomainPointer domain, int lanes, int sums, int rhs);

  int sums() const { return sums_; }
  const Lattice& lattice() const { return domain_->lattice(); }
  /// Of both parities.
  Operand operand() const;
  StoredSites stored() const;
  /// Number n of right-hand side r, added up over all ranks, at r * sums + n. Collective.
  std::vector<double> totals() const;
  /// Sums over time slices with phases, of pairs of numbers (2 k, 2 k + 1) as complex ones: [right-hand side][t of the
  /// whole lattice][momentum][k]. \param phases of all sites of a slice of this part, [momentum][x fastest]. The same
  /// bits for any number of ranks and threads. Collective; all ranks get the same.
  std::vector<Complex64> over_slices(std::span<const Complex64> phases) const;
  /// The largest |value| of a site, in the same order. Collective.
  std::vector<double> largest() const;

 private:
  /// Calls visit(numbers) for each.
  template <class Visit>
  void for_each(const Visit& visit) const;
  MemoryOrder order() const;
  /// Where the first number of each site lies.
  std::vector<long long> places() const;

  DomainPointer domain_;
  int lanes_, sums_, rhs_;
  Memory data_;
};

}  // namespace quarksmith
