/// \file
/// The links of a configuration in all storages in which operators take them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/fields/gauge_links.hpp"
#include "runtime/registry.hpp"

namespace quarksmith {

/// Deviation of stored links from the given ones, over all links and ranks.
struct LinkDeviation {
  double largest = 0;  ///< |difference| of an element
  double typical = 0;  ///< root mean square of the change of colour vectors of unit length
  /// Whether the deviation is only rounding, which reconstruct-8 amplifies for a few links; it does not affect
  /// residuals.
  bool negligible() const { return largest <= 1e-13 && typical <= 3e-15; }
};
/// Deviation relative to the scale of the stored links. \param stored double. Collective.
LinkDeviation deviation_of(const LinkField& stored, const HostGauge& given);
/// The same, or a negligible bound of it, which the device finds. \param given with all reals in double.
LinkDeviation deviation_of(const LinkField& stored, const LinkField& given);
/// A clause for users about a deviation; empty if it is negligible.
std::string text_of(const LinkDeviation& deviation, const std::string& storage);
/// The storages that a solve used, for reports: `r12`, or `r18-r12` if residuals and iterations used different ones.
std::string links_text(const std::string& residuals, const std::string& iterations);

/// The links of a solver, in the gauge in which it works.
class LinkStore {
 public:
  /// \param links those of a device are in SU(N).
  /// \param storage,basis of the kernels.
  /// \param temporal `links` transformed to temporal gauge, for storages that need it; null: links of the host
  /// themselves. It must outlive this.
  LinkStore(GaugeLinks links, DomainPointer domain, std::string storage, std::string basis,
            const HostGauge* temporal = nullptr);
  LinkStore(const std::shared_ptr<const LinkField>& links, std::string storage, std::string basis)
      : LinkStore(GaugeLinks(links), links->domain_pointer(), std::move(storage), std::move(basis)) {}
  const DomainPointer& domain() const { return domain_; }
  const std::string& storage() const { return storage_; }
  const BasisInfo& basis() const { return *basis_; }
  /// A store of the same links in another storage, which shares the kept fields.
  LinkStore with(std::string_view storage) const;
  LinkStore exact() const { return with(full_storage(colours()).name); }
  int colours() const { return links_.colours(); }
  /// The links in a precision and storage, made anew at each call; only the last one in double is kept, until
  /// `release`.
  std::shared_ptr<const LinkField> store(std::string_view precision, std::string_view storage) const;
  std::shared_ptr<const LinkField> store(std::string_view precision) const { return store(precision, storage_); }
  /// Deviation of the stored links from those given. Collective.
  LinkDeviation deviation() const;
  /// The links with all reals in double, from which site terms and other links are made; kept until `release`.
  std::shared_ptr<const LinkField> plain() const;
  /// The result of make(), made on first use under this name and kept until `release`: fields that actions derive from
  /// the links once for all precisions.
  template <class Made, class Make>
  const Made& derived(const std::string& name, const Make& make) const {
    std::shared_ptr<void>& kept = kept_->derived[name];
    if (!kept) kept = std::make_shared<Made>(make());
    return *static_cast<const Made*>(kept.get());
  }
  void release() const;

 private:
  /// \throws NotSU3 links of the host are not in the group that the storage assumes. Checked once for each group.
  void require_links_for(const StorageInfo& storage) const;

  struct Kept {
    std::shared_ptr<const LinkField> plain, stored;
    std::string_view fits;  ///< the group in which the links were found to be
    std::map<std::string, std::shared_ptr<void>> derived;
  };
  GaugeLinks links_;
  const HostGauge* temporal_;
  DomainPointer domain_;
  std::string storage_;
  const BasisInfo* basis_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

/// The operator in double with all reals of the links, for true residuals if the storage deviates from the links.
/// \param make gives it for links and a precision.
/// \throws MissingKernel the build lacks one of its kernels; the message says why it is needed.
template <class Make>
auto make_exact(const LinkStore& links, const LinkDeviation& deviation, const Make& make) {
  try {
    return make(links.exact(), find_precision("double"));
  } catch (const MissingKernel& e) {
    throw MissingKernel(text_of(deviation, links.storage()) + "; " + e.what());
  }
}

}  // namespace quarksmith
