#include "solvers/actions/slice_transform.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// Slices that a kernel can keep: on GPUs those of 32 sites fill the shared memory of a block.
int slices_at_most(const Device& device, const PrecisionInfo& precision) {
  if (!device.short_vectors()) return most_slices;
  constexpr int shared_bytes = 227 << 10, site_reals = 24;
  return std::min(most_slices, shared_bytes / (site_block * site_reals * precision.element_bytes));
}

}  // namespace

SliceTransform::SliceTransform(const std::shared_ptr<Device>& device, const PrecisionInfo& precision,
                               const BasisInfo& basis, const SliceChain& chain)
    : slices_(chain.slices()) {
  if (const int most = slices_at_most(*device, precision); slices_ > most)
    throw UsageError(fmt::format("a fifth dimension of {} slices in {} precision; {} takes {} at most", slices_,
                                 precision.name, device->name(), most));
  const bool is_complex = chain.is_complex();
  for (const bool dagger : {false, true}) {
    table_[dagger] = store(dagger ? chain.adjoint() : chain, device, precision, is_complex);
    for (const bool axpby : {false, true})
      kernel_[dagger][axpby] = &find(device->kernels(), {.operation = "domain_wall",
                                                         .precision = precision.name,
                                                         .basis = basis.name,
                                                         .dagger = dagger,
                                                         .epilogue = axpby ? "axpby" : "none",
                                                         .complex_coefficients = is_complex});
  }
}

void SliceTransform::run(const Kernel& kernel, Arguments a, SpinorField& out, const SpinorField* x,
                         const SpinorField& in, Parity parity, Dagger dagger) const {
  if (in.slices() != slices_ || out.slices() != slices_ || out.rhs() != in.rhs())
    throw UsageError(fmt::format("a matrix over {} slices on {} vectors of {} into {} of {}", slices_, in.rhs(),
                                 in.slices(), out.rhs(), out.slices()));
  a.geometry = in.domain().layout(in.lanes()).geometry();
  a.rhs = in.rhs();
  a.slices = slices_;
  a.chain = table_[dagger == Dagger::yes].data();
  a.parity = int(parity);
  a.out = out.by_slice().operand(parity);
  a.in = in.by_slice().operand(parity);
  if (x != nullptr) a.x = x->by_slice().operand(parity);
  in.device().run(kernel, a);
}

void SliceTransform::apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  run(*kernel_[dagger == Dagger::yes][false], {}, out, nullptr, in, parity, dagger);
}

void SliceTransform::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                           Parity parity, Dagger dagger) const {
  Arguments a;
  a.a.re = alpha;
  a.b.re = beta;
  run(*kernel_[dagger == Dagger::yes][true], a, out, &x, in, parity, dagger);
}

double SliceTransform::flops(bool axpby, long long sites) const {
  return kernel_[0][axpby]->flops * double(sites) * slices_;
}

}  // namespace quarksmith
