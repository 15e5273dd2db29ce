#include "solvers/links/scratch_fields.hpp"

#include <algorithm>

namespace quarksmith {

std::shared_ptr<LinkField> ScratchFields::field(const DomainPointer& domain, int colours) const {
  const auto found = std::find_if(idle_->begin(), idle_->end(), [&](const auto& f) {
    return f->domain_pointer() == domain && f->colours() == colours;
  });
  std::unique_ptr<LinkField> field;
  if (found != idle_->end()) {
    field = std::move(*found);
    idle_->erase(found);
  } else {
    field = std::make_unique<LinkField>(domain, find_precision("double"), full_storage(colours));
  }
  return {field.release(), [idle = std::weak_ptr(idle_)](LinkField* f) {
            std::unique_ptr<LinkField> done(f);
            if (const auto kept = idle.lock()) kept->push_back(std::move(done));
          }};
}

std::shared_ptr<LinkField> ScratchFields::zero(const DomainPointer& domain, int colours) const {
  auto matrices = field(domain, colours);
  matrices->fill(0);
  return matrices;
}

}  // namespace quarksmith
