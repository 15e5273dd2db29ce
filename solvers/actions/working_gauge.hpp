/// \file
/// Temporal gauge around a solve.
#pragma once

#include <optional>

#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// The gauge in which a solver works, and how fields get there.
struct WorkingGauge {
  WorkingGauge(const HostGauge& original, const DomainPointer& domain, const StorageInfo& storage) : gauge(original) {
    if (!storage.temporal) return;
    TemporalGauge fixed = fix_temporal_gauge(original, domain->communicator());
    HostGauge g(original.lattice);
    for (std::size_t x = 0; x < g.site.size(); ++x) g.site[x].fill(fixed.transformation[x]);
    gauge = std::move(fixed.rotated);
    temporal = std::move(fixed.gauge);
    transformation.emplace(upload(g, domain, find_precision("double"), find_storage("r18")));
    kernel = &find(domain->device().kernels(), {.operation = "rotate_colour", .precision = "double"});
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

  /// What the storage holds of `gauge`.
  const HostGauge& stored() const { return temporal ? *temporal : gauge; }

  HostGauge gauge;
  std::optional<HostGauge> temporal;  ///< with time links of exactly 1
  std::optional<LinkField> transformation;
  const Kernel* kernel = nullptr;
};

}  // namespace quarksmith
