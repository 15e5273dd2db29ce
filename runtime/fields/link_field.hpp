/// \file
/// Links for kernels.
#pragma once

#include <memory>

#include "runtime/ranks/bordered.hpp"
#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// Links for kernels: both parities, four directions; of a part of a lattice also those that lead into it from the
/// parts behind.
///
/// Where the numbers lie is a cache (Places) and no part of the value: to read them may copy them, or move them between
/// memory of the field and the box of a part (BorderedPart), and what Operands, copies or ghosts were given before may
/// then be stale. Reading is `const` for that, but is for one thread at a time, as all that uses the device is.
class LinkField {
 public:
  /// \param depth slices of the parts behind that hops over these links reach: 1, or 3 for long links.
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
  /// What the coefficients of hops carry, since links are stored divided by it.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  Operand operand() const;
  /// Their memory, to tell fields apart.
  const void* memory() const;
  /// Leaves the box of a part, so that the parities lie one after the other in memory.
  void stand_alone() const;
  /// The links of direction mu on the last slices of the part behind; data null where the lattice is not split.
  /// Fetched from the other ranks, all of which ask, if the links have changed.
  Operand ghosts(int mu) const;
  /// Fetches these now.
  void exchange_ghosts() const;
  /// Tells that kernels have written into the links: what was copied of them is old.
  void changed();
  /// Sets every byte.
  void fill(int byte);
  /// \throws UsageError the kinds differ.
  void copy_from(const LinkField& other);

  /// The copy of the links in the box of a part, with what `beyond` asks for in its border. Collective if so. It is
  /// kept for as long as the field and the part live; the links move into it if they can lie there.
  const LinkField& read_in(const BorderedPart& part, bool beyond) const;
  /// Memory of the links in the box for kernels to write into, with what the links hold if `keep`, and what is done
  /// after they have.
  LinkField& write_in(const BorderedPart& part, bool keep = false);
  void written_in(const BorderedPart& part);

 private:
  struct InBox;
  struct Places;
  InBox& copy_in(const BorderedPart& part) const;

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  const StorageInfo* storage_;
  int lanes_, depth_;
  double scale_ = 1;
  std::unique_ptr<Places> places_;
};

}  // namespace quarksmith
