/// \file
/// Links for kernels.
#pragma once

#include <memory>

#include "runtime/ranks/domain.hpp"
#include "runtime/ranks/padded_lattice.hpp"

namespace quarksmith {

/// Links for kernels: both parities, four directions; on several ranks also the links that lead into the local lattice
/// from the neighbours behind (ghosts).
///
/// Where the numbers lie is a cache (Places), not part of the value: reading may copy or move them between memory of
/// the field and the padded lattice, after which earlier Operands, copies or ghosts may be stale. Reading is `const`
/// nevertheless, but not thread-safe, like all use of the device.
class LinkField {
 public:
  /// \param depth slices of the neighbours behind that hops over these links reach: 1, or 3 for long links.
  LinkField(DomainPointer domain, const PrecisionInfo& precision, const StorageInfo& storage, int depth = 1);
  ~LinkField();
  LinkField(LinkField&&) noexcept;
  LinkField& operator=(LinkField&&) noexcept;

  const Domain& domain() const { return *domain_; }
  const DomainPointer& domain_pointer() const { return domain_; }
  const PrecisionInfo& precision() const { return *precision_; }
  const StorageInfo& storage() const { return *storage_; }
  int colours() const { return storage_->colours; }
  int lanes() const { return lanes_; }
  int depth() const { return depth_; }
  /// Factor by which the links were divided when stored; coefficients of hops include it.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  Operand operand() const;
  /// Address of the links' memory, to tell fields apart.
  const void* memory() const;
  /// Moves the links out of a padded lattice, so that the parities lie one after the other in memory.
  void stand_alone() const;
  /// The links of direction mu on the last slices of the neighbour behind; data null where the lattice is not split.
  /// Collective: fetched if the links have changed.
  Operand ghosts(int mu) const;
  void exchange_ghosts() const;
  /// To be called after kernels have written into the links: marks all copies as outdated.
  void changed();
  /// Sets every byte.
  void fill(int byte);
  /// \throws UsageError the kinds differ.
  void copy_from(const LinkField& other);

  /// The copy of the links in a padded lattice, with the border filled if `beyond` (then collective). Kept while field
  /// and padded lattice live; the links move into it if they can.
  const LinkField& read_in(const PaddedLattice& padded, bool beyond) const;
  /// Memory of the links in a padded lattice for kernels to write into, with what the links hold if `keep`;
  /// written_in() is to be called afterwards.
  LinkField& write_in(const PaddedLattice& padded, bool keep = false);
  void written_in(const PaddedLattice& padded);

 private:
  struct PaddedCopy;
  struct Places;
  PaddedCopy& copy_in(const PaddedLattice& padded) const;

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  const StorageInfo* storage_;
  int lanes_, depth_;
  double scale_ = 1;
  std::unique_ptr<Places> places_;
};

}  // namespace quarksmith
