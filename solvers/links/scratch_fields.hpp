/// \file
/// Temporary link fields.
#pragma once

#include <memory>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A pool of link fields in double, of matrices or momenta: memory is reused when the last holder of a field releases
/// it.
class ScratchFields {
 public:
  /// A field of matrices, not initialised.
  std::shared_ptr<LinkField> field(const DomainPointer& domain, int colours) const {
    return stored(domain, full_storage(colours));
  }
  /// A field of zeros.
  std::shared_ptr<LinkField> zero(const DomainPointer& domain, int colours) const {
    return zeros(domain, full_storage(colours));
  }
  /// A field of momenta or forces, not initialised; the second function: zero.
  std::shared_ptr<LinkField> momenta(const DomainPointer& domain, int colours) const {
    return stored(domain, algebra_storage(colours));
  }
  std::shared_ptr<LinkField> zero_momenta(const DomainPointer& domain, int colours) const {
    return zeros(domain, algebra_storage(colours));
  }

 private:
  std::shared_ptr<LinkField> stored(const DomainPointer& domain, const StorageInfo& storage) const;
  std::shared_ptr<LinkField> zeros(const DomainPointer& domain, const StorageInfo& storage) const;
  using Idle = std::vector<std::unique_ptr<LinkField>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace quarksmith
