/// \file
/// The links of a configuration in all storages in which operators take them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/registry.hpp"

namespace quarksmith {

/// How far links that were stored and read back are from those that were given, over all links and ranks.
struct LinkDeviation {
  double largest = 0;  ///< |difference| of an element
  double typical = 0;  ///< root mean square of what it does to colour vectors of unit length
  /// Rounding and no more, which eight reals multiply for a few links: residuals do not feel that.
  bool negligible() const { return largest <= 1e-13 && typical <= 3e-15; }
};
/// Relative to the scale of the stored links. \param stored double. Collective.
LinkDeviation deviation_of(const LinkField& stored, const HostGauge& given);
/// What a user should know of a deviation: a clause; empty if there is nothing to know.
std::string text_of(const LinkDeviation& deviation, const std::string& storage);
/// Which links a solve used, as reports have it: `r12`, or where they differ those of residuals and those of
/// iterations: `r18-r12`.
std::string links_text(const std::string& residuals, const std::string& iterations);

/// The links of a solver, in the gauge in which it works.
class LinkStore {
 public:
  /// \param gauge outlives this.
  /// \param storage,basis of the kernels.
  /// \param temporal what storages for temporal gauge hold of `gauge`; null: `gauge` itself. It outlives this too.
  LinkStore(const HostGauge& gauge, DomainPointer domain, std::string storage, std::string basis,
            const HostGauge* temporal = nullptr);
  /// Links that are on the device already, with all reals in double, in SU(N).
  LinkStore(std::shared_ptr<const LinkField> links, std::string storage, std::string basis);
  const HostGauge& gauge() const;
  const DomainPointer& domain() const { return domain_; }
  const std::string& storage() const { return storage_; }
  const BasisInfo& basis() const { return *basis_; }
  /// The same links in another storage. What is kept is shared.
  LinkStore with(std::string_view storage) const;
  LinkStore exact() const { return with(full_storage(colours()).name); }
  int colours() const { return gauge_ != nullptr ? gauge_->colours() : kept_->plain->colours(); }
  /// As the storage or another one says; made anew at each call, but for the last one in double, which is kept until
  /// `release`.
  std::shared_ptr<const LinkField> store(std::string_view precision, std::string_view storage) const;
  std::shared_ptr<const LinkField> store(std::string_view precision) const { return store(precision, storage_); }
  /// By how much the storage misses the links; collective.
  LinkDeviation deviation() const;
  /// With all reals in double, kept until `release`: what site terms and other links are made from.
  std::shared_ptr<const LinkField> plain() const;
  /// What make() returns, made when first asked for by that name and kept until `release`: fields that actions derive
  /// from the links once for all precisions.
  template <class Made, class Make>
  const Made& derived(const std::string& name, const Make& make) const {
    std::shared_ptr<void>& kept = kept_->derived[name];
    if (!kept) kept = std::make_shared<Made>(make());
    return *static_cast<const Made*>(kept.get());
  }
  void release() const;

 private:
  /// \throws NotSU3 the storage is for other links. Asked once for each group.
  void require_links_for(const StorageInfo& storage) const;

  struct Kept {
    std::shared_ptr<const LinkField> plain, stored;
    std::string_view fits;  ///< the group in which the links were found to be
    std::shared_ptr<const HostGauge> gauge;
    std::map<std::string, std::shared_ptr<void>> derived;
  };
  const HostGauge *gauge_, *temporal_;  // null: they are those of kept_->plain
  DomainPointer domain_;
  std::string storage_;
  const BasisInfo* basis_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

/// The operator in double with all reals of the links: that of true residuals where the storage misses them.
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
