#include "solvers/links/scratch_fields.hpp"

#include <algorithm>

namespace quarksmith {

std::shared_ptr<LinkField> ScratchFields::stored(const DomainPointer& domain, const StorageInfo& storage) const {
  const auto found = std::find_if(idle_->begin(), idle_->end(), [&](const auto& f) {
    return f->domain_pointer() == domain && &f->storage() == &storage;
  });
  std::unique_ptr<LinkField> field;
  if (found != idle_->end()) {
    field = std::move(*found);
    idle_->erase(found);
  } else {
    field = std::make_unique<LinkField>(domain, find_precision("double"), storage);
  }
  return {field.release(), [idle = std::weak_ptr(idle_)](LinkField* f) {
            std::unique_ptr<LinkField> done(f);
            if (const auto kept = idle.lock()) kept->push_back(std::move(done));
          }};
}

std::shared_ptr<LinkField> ScratchFields::zeros(const DomainPointer& domain, const StorageInfo& storage) const {
  auto matrices = stored(domain, storage);
  matrices->fill(0);
  return matrices;
}

}  // namespace quarksmith
