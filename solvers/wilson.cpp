#include "solvers/wilson.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

constexpr int tiles[] = {4, 2, 1};

}  // namespace

WilsonHopping::WilsonHopping(std::shared_ptr<const LinkField> links, const BasisInfo& basis,
                             const WilsonParameters& parameters)
    : links_(std::move(links)), basis_(&basis), parameters_(parameters) {
  if (parameters.diagonal() == 0)
    throw UsageError(
        fmt::format("mass {}: the diagonal of the Dirac operator vanishes; use another mass", parameters.mass));
  bool complex_phase = false;
  for (int mu = 0; mu < directions; ++mu) {
    const double bulk = mu == 3 ? 1 : parameters.nu / parameters.xi0;
    hops_.bulk[mu] = bulk;
    hops_.edge_re[mu] = bulk * parameters.boundary[mu].real();
    hops_.edge_im[mu] = bulk * parameters.boundary[mu].imag();
    complex_phase = complex_phase || parameters.boundary[mu].imag() != 0;
  }
  const auto kernels = domain()->device().kernels();
  for (const bool dagger : {false, true})
    for (int epilogue = 0; epilogue < 2; ++epilogue)
      for (int t = 0; t < 3; ++t) {
        const KernelQuery query = {.operation = "wilson",
                                   .precision = precision().name,
                                   .links = links_->storage().name,
                                   .basis = basis.name,
                                   .dagger = dagger,
                                   .epilogue = epilogue == 0 ? "none" : "axpby",
                                   .complex_coefficients = complex_phase,
                                   .tile = tiles[t]};
        kernel_[dagger][epilogue][t] = tiles[t] == 1 ? &find(kernels, query) : try_find(kernels, query);
      }
}

void WilsonHopping::run(const Kernel* const (&kernels)[3], Arguments& a, SpinorField& out, const SpinorField* x,
                        const SpinorField& in, Parity parity) const {
  if (out.rhs() != in.rhs())
    throw UsageError(fmt::format("hopping term on {} right-hand sides into {}", in.rhs(), out.rhs()));
  a.parity = int(parity);
  a.links = links_->operand();
  a.hops = hops_;
  int done = 0;
  for (int t = 0; t < 3; ++t) {  // the largest tile first, then the rest by smaller ones
    if (kernels[t] == nullptr) continue;
    a.rhs = (in.rhs() - done) / tiles[t] * tiles[t];
    if (a.rhs == 0) continue;
    a.out = out.select(out.operand(parity), done);
    a.in = in.select(in.operand(opposite(parity)), done);
    if (x != nullptr) a.x = x->select(x->operand(parity), done);
    domain()->device().run(*kernels[t], a);
    done += a.rhs;
  }
}

void WilsonHopping::apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  Arguments a = arguments_for(*domain(), out.lanes());
  run(kernel_[dagger == Dagger::yes][0], a, out, nullptr, in, parity);
}

void WilsonHopping::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                          Parity parity, Dagger dagger) const {
  Arguments a = arguments_for(*domain(), out.lanes());
  a.a.re = alpha;
  a.b.re = beta;
  run(kernel_[dagger == Dagger::yes][1], a, out, &x, in, parity);
}

double WilsonHopping::flops(bool axpby) const { return kernel_[0][axpby][2]->flops * domain()->lattice().half_sites(); }

void WilsonMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  for (const Parity parity : {Parity::even, Parity::odd})
    hopping_->apply(out, hopping_->parameters().diagonal(), in, -0.5, in, parity, dagger);
}

WilsonEvenOdd::WilsonEvenOdd(const WilsonHopping& hopping, EvenOdd form, int rhs)
    : hopping_(&hopping), form_(form), odd_(hopping.domain(), hopping.precision(), Subset::odd, rhs) {}

void WilsonEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const double t = hopping_->parameters().diagonal();
  // T is a number, so that the conjugate only exchanges D_eo and D_oe for their conjugates.
  hopping_->apply(odd_, in, Parity::odd, dagger);
  if (form_ == EvenOdd::symmetric) {
    hopping_->apply(out, 1, in, -1 / (4 * t * t), odd_, Parity::even, dagger);
  } else {
    hopping_->apply(out, t, in, -1 / (4 * t), odd_, Parity::even, dagger);
  }
}

void WilsonEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  const double t = hopping_->parameters().diagonal(), scale = form_ == EvenOdd::symmetric ? 1 / t : 1;
  hopping_->apply(reduced, scale, b, scale / (2 * t), b, Parity::even, Dagger::no);
}

void WilsonEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const double t = hopping_->parameters().diagonal();
  hopping_->apply(x, 1 / t, b, 1 / (2 * t), reduced, Parity::odd, Dagger::no);
  x.copy_half(Parity::even, reduced);
}

}  // namespace quarksmith
