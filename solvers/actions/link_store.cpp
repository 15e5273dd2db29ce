#include "solvers/actions/link_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/link_check.hpp"
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

LinkDeviation deviation_of(const LinkField& stored, const LinkField& given) {
  const double scale = stored.scale();
  if (!KernelRehearsal::under_way() && (scale == 1 || has_kernels(stored.domain().device(), {"set_links"}))) {
    LinkField found = decode_links(stored);
    if (scale != 1) evaluate("set_links", {found, scale}, {found});
    const auto [largest, whole] = difference_of(std::move(found), given);  // of a site they bound those of its elements
    const double vectors = double(given.colours()) * directions * double(given.domain().lattice().global_sites());
    if (const LinkDeviation bound{largest / scale, whole / std::sqrt(vectors) / scale}; bound.negligible())
      return bound;
  }
  return deviation_of(stored, download(given));
}

LinkStore::LinkStore(GaugeLinks links, DomainPointer domain, std::string storage, std::string basis,
                     const HostGauge* temporal)
    : links_(std::move(links)),
      temporal_(temporal),
      domain_(std::move(domain)),
      storage_(std::move(storage)),
      basis_(&find_basis(basis)) {}

LinkStore LinkStore::with(std::string_view storage) const {
  LinkStore other = *this;
  other.storage_ = storage;
  return other;
}

void LinkStore::release() const { *kept_ = {}; }

std::shared_ptr<const LinkField> LinkStore::store(std::string_view precision, std::string_view storage) const {
  const bool high = precision == "double";
  if (high && storage == full_storage(colours()).name) return plain();
  if (high && kept_->stored && kept_->stored->storage().name == storage) return kept_->stored;
  const StorageInfo& info = find_storage(storage);
  const PrecisionInfo& in = find_precision(precision);
  if (info.temporal) {
    if (temporal_ == nullptr && links_.of_device())
      throw UsageError(fmt::format("links '{}': temporal gauge is not for links that change; use r12", storage));
    return std::make_shared<const LinkField>(
        upload(temporal_ != nullptr ? *temporal_ : links_.host(), domain_, in, info));
  }
  require_links_for(info);
  auto encoded = std::make_shared<const LinkField>(encode_links(*plain(), in, info));
  if (high) kept_->stored = encoded;
  return encoded;
}

void LinkStore::require_links_for(const StorageInfo& storage) const {
  if (links_.of_device() || kept_->fits == storage.group) return;
  require_group(links_.host(), storage, domain_->communicator());
  kept_->fits = storage.group;
}

LinkDeviation LinkStore::deviation() const {
  if (find_storage(storage_).group == "any") return {};
  const auto stored = store("double");
  return links_.on_host() ? deviation_of(*stored, links_.host()) : deviation_of(*stored, *plain());
}

std::shared_ptr<const LinkField> LinkStore::plain() const {
  if (!kept_->plain) kept_->plain = links_.on(domain_);
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
