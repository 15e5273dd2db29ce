// Fields that kernels are timed and compared on.
#include <algorithm>
#include <tuple>

#include "runs/workload.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"
#include "solvers/actions/action_fields.hpp"
#include "solvers/actions/stored_term.hpp"

namespace quarksmith::runs {

Fields::Fields(DomainPointer domain, const HostGauge& gauge)
    : domain_(std::move(domain)), gauge_(&gauge), psi_(gauge.lattice) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < psi_.site.size(); ++i) {
    Random random = random_at(gauge.lattice, static_cast<long long>(i), {17, 0});
    for (Complex64& z : psi_.site[i]) {
      const double re = 2 * random.uniform() - 1;
      z = {re, 2 * random.uniform() - 1};
    }
  }
}

const DomainPointer& Fields::domain(int reach) const {
  if (reach <= domain_->reach()) return domain_;
  if (!wide_ || wide_->reach() < reach)
    wide_ =
        std::make_shared<Domain>(domain_->lattice(), domain_->device_pointer(), domain_->communicator_pointer(), reach);
  return wide_;
}

SpinorField Fields::spinor(std::string_view precision, Subset subset, int rhs, int spins, int reach) const {
  SpinorField field(domain(reach), find_precision(precision), subset, rhs, spins);
  const SpinorField& columns = columns_like(field);
  for (int r = 0; r < rhs; ++r) field.columns(r, 1).copy_from(columns.columns(r % columns.rhs(), 1));
  return field;
}

const SpinorField& Fields::columns_like(const SpinorField& field) const {
  // Right-hand sides differ where results are compared; on large lattices, which are timed alone, the first is copied.
  const int distinct = domain_->lattice().sites() <= 1 << 16 ? field.rhs() : 1;
  const auto kind = [](const SpinorField& f) {
    return std::tuple(&f.domain(), &f.precision(), f.subset(), f.components().spins, f.components().colours);
  };
  if (!columns_ || columns_->rhs() != distinct || kind(*columns_) != kind(field)) {
    columns_.reset();
    columns_.emplace(field.domain_pointer(), field.precision(), field.subset(), distinct, field.components());
    HostSpinor psi = psi_;
    for (int r = 0; r < distinct; ++r) {
      SpinorField one = columns_->columns(r, 1);
      upload(psi, one, find_basis("degrand_rossi"));
      std::rotate(psi.site.begin(), psi.site.begin() + 2, psi.site.end());
    }
  }
  return *columns_;
}

const LinkField& Fields::keep(std::optional<Links>& kept, std::string_view precision, std::string_view storage,
                              int reach, int depth) {
  if (!kept || kept->precision != precision || kept->storage != storage || kept->reach != reach) {
    kept.reset();
    const StorageInfo& kind = find_storage(storage);
    const HostGauge fixed = kind.temporal ? fix_temporal_gauge(*gauge_, domain_->communicator()).gauge : *gauge_;
    kept.emplace(std::string(precision), std::string(storage), reach,
                 upload(fixed, domain(reach), find_precision(precision), kind, depth));
  }
  return kept->field;
}

const LinkField& Fields::links(std::string_view precision, std::string_view storage, int reach) {
  return keep(links_, precision, storage, reach, 1);
}

const LinkField& Fields::long_links(std::string_view precision, std::string_view storage, int length) {
  return keep(long_links_, precision, storage, length, length);
}

HoppingLinks Fields::links_of(const Kernel& kernel) {
  const std::string_view precision = find_precision(kernel.precision).links;
  if (kernel.reach == 1) return links(precision, kernel.links);
  return {links(precision, full_storage(kernel.colours).name, kernel.reach),
          long_links(precision, kernel.links, kernel.reach)};
}

LinkField Fields::copy_of_links(std::string_view precision, std::string_view storage) {
  LinkField copy(domain_, find_precision(precision), find_storage(storage));
  copy.copy_from(links(precision, storage));
  return copy;
}

const TermField& Fields::term(std::string_view precision, int number) {
  const auto key = std::pair(std::string(precision), number);
  auto found = terms_.find(key);
  if (found == terms_.end()) {
    const std::map<std::string, double> parameters = {{"mass", 0.5}, {"csw_r", 1.0}, {"csw_t", 1.0}};
    const ActionValues values(find_action("clover"), parameters);
    const ActionFields fields(values, {}, LinkStore(*gauge_, domain_, "r18", "degrand_rossi"));
    const StoredTerm term(values, fields.in_double(), find_precision("double"));
    found = terms_.emplace(key, encode_term(decode_term(term.term()), find_precision(precision))).first;
  }
  return found->second;
}

}  // namespace quarksmith::runs
