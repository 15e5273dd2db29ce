/// \file
/// Matrices along the fifth dimension, applied to fields.
#pragma once

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/actions/slice_chain.hpp"

namespace quarksmith {

/// A chain and its conjugate on a device, for fields of one precision and basis.
class SliceTransform {
 public:
  /// \throws UsageError the build lacks a kernel (the message is the profile row to add), or the device cannot keep so
  /// many slices.
  SliceTransform(const std::shared_ptr<Device>& device, const PrecisionInfo& precision, const BasisInfo& basis,
                 const SliceChain& chain);

  /// out = K in (or K^+ in) at the sites of `parity`; `out` may be `in`.
  void apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const;
  /// out = a x + b K in; `out` may be `in` or `x`.
  void apply(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
             Dagger dagger) const;
  /// Flops for a vector on so many sites: of K, or of a x + b K.
  double flops(bool axpby, long long sites) const;

 private:
  void run(const Kernel& kernel, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in,
           Parity parity, Dagger dagger) const;

  int slices_;
  std::array<Memory, 2> table_;                         // [dagger]
  std::array<std::array<const Kernel*, 2>, 2> kernel_;  // [dagger][axpby]
};

}  // namespace quarksmith
