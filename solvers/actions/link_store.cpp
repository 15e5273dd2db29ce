#include "solvers/actions/link_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith {

LinkDeviation deviation_of(const LinkField& stored, const HostGauge& given) {
  const Lattice& lattice = given.lattice;
  std::vector<double> sites(static_cast<std::size_t>(lattice.sites())), largest = sites;
  for_each_link_of(stored, [&](long long i, const Complex64* found) {
    sites[i] = largest[i] = 0;
    for (std::size_t n = 0; n < given.site.each(); ++n) {
      const double d = std::norm(found[n] - given.site.at(i)[n]);
      largest[i] = std::max(largest[i], d);
      sites[i] += d;
    }
  });
  if (KernelRehearsal::under_way()) return stored.storage().exact ? LinkDeviation{} : LinkDeviation{1, 1};
  Communicator& ranks = stored.domain().communicator();
  std::vector<double> sums = {std::accumulate(sites.begin(), sites.end(), 0.0), double(lattice.sites())};
  ranks.sum(sums);
  // Of n^2 elements n act on each colour.
  const double typical = std::sqrt(sums[0] / (given.colours() * directions * sums[1]));
  return {ranks.largest(std::sqrt(*std::max_element(largest.begin(), largest.end()))) / stored.scale(),
          typical / stored.scale()};
}

LinkStore::LinkStore(const HostGauge& gauge, DomainPointer domain, std::string storage, std::string basis,
                     const HostGauge* temporal)
    : gauge_(&gauge),
      temporal_(temporal != nullptr ? temporal : &gauge),
      domain_(std::move(domain)),
      storage_(std::move(storage)),
      basis_(&find_basis(basis)) {}

LinkStore::LinkStore(std::shared_ptr<const LinkField> links, std::string storage, std::string basis)
    : gauge_(nullptr),
      temporal_(nullptr),
      domain_(links->domain_pointer()),
      storage_(std::move(storage)),
      basis_(&find_basis(basis)) {
  kept_->plain = std::move(links);
}

LinkStore LinkStore::with(std::string_view storage) const {
  LinkStore other = *this;
  other.storage_ = storage;
  return other;
}

const HostGauge& LinkStore::gauge() const {
  if (gauge_ != nullptr) return *gauge_;
  if (!kept_->gauge) kept_->gauge = std::make_shared<const HostGauge>(download(*kept_->plain));
  return *kept_->gauge;
}

void LinkStore::release() const {
  std::shared_ptr<const LinkField> given = gauge_ == nullptr ? kept_->plain : nullptr;
  *kept_ = {};
  kept_->plain = std::move(given);
}

std::shared_ptr<const LinkField> LinkStore::store(std::string_view precision, std::string_view storage) const {
  const bool high = precision == "double", plain = high && storage == full_storage(colours()).name;
  if (plain && kept_->plain) return kept_->plain;
  if (high && kept_->stored && kept_->stored->storage().name == storage) return kept_->stored;
  const StorageInfo& info = find_storage(storage);
  if (info.temporal && temporal_ == nullptr)
    throw UsageError(fmt::format("links '{}': temporal gauge is not for links that change; use r12", storage));
  const PrecisionInfo& in = find_precision(precision);
  if (gauge_ != nullptr) {
    if (info.temporal) return std::make_shared<const LinkField>(upload(*temporal_, domain_, in, info));
    if (!plain) require_links_for(info);
    if (!kept_->plain)
      kept_->plain = std::make_shared<const LinkField>(
          upload(*gauge_, domain_, find_precision("double"), full_storage(colours())));
  }
  if (plain) return kept_->plain;
  auto encoded = std::make_shared<const LinkField>(encode_links(*kept_->plain, in, info));
  if (high) kept_->stored = encoded;
  return encoded;
}

void LinkStore::require_links_for(const StorageInfo& storage) const {
  if (kept_->fits == storage.group) return;
  require_group(*gauge_, storage, domain_->communicator());
  kept_->fits = storage.group;
}

LinkDeviation LinkStore::deviation() const {
  if (find_storage(storage_).group == "any") return {};
  return deviation_of(*store("double"), gauge());
}

std::shared_ptr<const LinkField> LinkStore::plain() const {
  store("double", full_storage(colours()).name);
  return kept_->plain;
}

std::string links_text(const std::string& residuals, const std::string& iterations) {
  return residuals == iterations ? residuals : residuals + "-" + iterations;
}

std::string text_of(const LinkDeviation& deviation, const std::string& storage) {
  if (deviation.negligible()) return "";
  return fmt::format("{} reals miss these links by up to {:.1e}: residuals are computed with all {}",
                     find_storage(storage).reals, deviation.largest, full_storage(find_storage(storage).colours).reals);
}

}  // namespace quarksmith
