/// \file
/// Link fields to work in.
#pragma once

#include <memory>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Link fields in double with all reals, whose memory stays for the next one when the last holder lets go.
class ScratchFields {
 public:
  /// Not initialised.
  std::shared_ptr<LinkField> field(const DomainPointer& domain, int colours) const;
  /// Of matrices that are zero.
  std::shared_ptr<LinkField> zero(const DomainPointer& domain, int colours) const;

 private:
  using Idle = std::vector<std::unique_ptr<LinkField>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace quarksmith
