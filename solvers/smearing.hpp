/// \file
/// Gauge-covariant Gaussian smearing of quark fields in space.
#pragma once

#include <memory>

#include "runtime/field.hpp"

namespace quarksmith {

/// psi -> (1 + w^2/(4N) Laplace)^N psi with the covariant Laplace operator of three dimensions on the stored links,
/// boundary phases left out (S. Guesken et al., Phys. Lett. B 227 (1989) 266; the form of Chroma's GAUGE_INV_GAUSSIAN).
class GaussianSmearing {
 public:
  /// \param links double precision.
  /// \throws UsageError width not positive, no steps, or the build lacks the kernel laplace3_axpby_double.
  GaussianSmearing(std::shared_ptr<const LinkField> links, double width, int steps);

  /// Smears a field of double precision on all sites, in any basis; `work` is a field of the same kind.
  void apply(SpinorField& psi, SpinorField& work) const;

 private:
  std::shared_ptr<const LinkField> links_;
  const Kernel* kernel_;
  double width_;
  int steps_;
};

}  // namespace quarksmith
