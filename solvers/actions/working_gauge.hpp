/// \file
/// Temporal gauge around a solve.
#pragma once

#include <optional>

#include "runtime/fields/gauge.hpp"
#include "solvers/actions/link_store.hpp"

namespace quarksmith {

/// The gauge in which a solver works, and how fields get there.
struct WorkingGauge {
  /// Links of a device are copied to the host only to fix temporal gauge.
  WorkingGauge(GaugeLinks original, const DomainPointer& domain, const StorageInfo& storage)
      : links(std::move(original)) {
    if (storage.temporal) fix(domain);
  }

  /// The links in this gauge, which outlives them. \param storage that of the constructor.
  LinkStore store(const DomainPointer& domain, const std::string& storage, const std::string& basis) const {
    return {links, domain, storage, basis, temporal ? &*temporal : nullptr};
  }

  /// out = g in, or g^+ in; without a transformation out = in.
  void rotate(SpinorField& out, const SpinorField& in, Dagger dagger) const {
    if (!transformation) return out.copy_from(in);
    const SpinorField from = in.by_slice(), to = out.by_slice();
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(in.domain(), in.lanes(), from.rhs());
      a.parity = int(parity);
      a.direction = dagger == Dagger::yes;
      a.links = transformation->operand();
      a.in = from.operand(parity);
      a.out = to.operand(parity);
      in.device().run(*kernel, a);
    }
  }

  std::optional<LinkField> transformation;  ///< none: fields are as they were given

 private:
  void fix(const DomainPointer& domain) {
    TemporalGauge fixed = fix_temporal_gauge(links, domain->communicator());
    HostGauge g(links.lattice());
    for (std::size_t x = 0; x < g.site.size(); ++x) g.site[x].fill(fixed.transformation[x]);
    links = std::move(fixed.rotated);
    temporal = std::move(fixed.gauge);
    transformation.emplace(upload(g, domain, find_precision("double"), full_storage(3)));
    kernel = &find(domain->device().kernels(), {.operation = "rotate_colour", .precision = "double"});
  }

  GaugeLinks links;
  /// The links that are stored: `links` in temporal gauge, with time links of exactly 1.
  std::optional<HostGauge> temporal;
  const Kernel* kernel = nullptr;
};

}  // namespace quarksmith
