#include "solvers/wilson.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/halo.hpp"

namespace quarksmith {
namespace {

constexpr int tile_sizes[] = {4, 2, 1};
constexpr std::string_view epilogues[] = {"none", "axpby", "taxpby", "tinv", "axpby_tinv"};

SiteTerm term_of(const WilsonParameters& p, const PrecisionInfo& spinors, const LinkField* plain_links) {
  if (p.diagonal() == 0)
    throw UsageError(fmt::format("mass {}: the diagonal of the Dirac operator vanishes; use another mass", p.mass));
  if (p.twist.flavours < 1 || p.twist.flavours > 2 || (p.twist.flavours == 1 && p.twist.epsilon != 0))
    throw UsageError(
        fmt::format("{} flavours with epsilon {}: use 1 without epsilon, or 2", p.twist.flavours, p.twist.epsilon));
  if (!p.has_clover()) return SiteTerm(p.diagonal(), p.twist, nullptr);
  return SiteTerm(
      p.diagonal(), p.twist,
      std::make_shared<CloverTerm>(*plain_links, p.csw_r / p.xi0, p.csw_t, p.diagonal(), find_precision(spinors.links),
                                   p.twist.any() ? std::optional(p.twist.shift()) : std::nullopt));
}

}  // namespace

Complex64 WilsonParameters::phase_of(double angle) {
  if (angle == std::floor(angle)) return std::fmod(angle, 2) == 0 ? 1 : -1;
  return std::polar(1.0, std::numbers::pi * angle);
}

WilsonHopping::WilsonHopping(std::shared_ptr<const LinkField> links, const PrecisionInfo& spinors,
                             const BasisInfo& basis, const WilsonParameters& parameters, const LinkField* plain_links)
    : links_(std::move(links)),
      domain_(links_->domain_pointer()),
      precision_(&spinors),
      basis_(&basis),
      parameters_(parameters),
      term_(term_of(parameters, spinors, plain_links)) {
  bool complex_phase = false;
  for (const Complex64& phase : parameters.boundary) complex_phase = complex_phase || phase.imag() != 0;
  const double space = parameters.nu / parameters.xi0;
  hops_ = hops_of(domain()->lattice(), {space, space, space, 1}, parameters.boundary);
  for (const bool dagger : {false, true})
    for (int form = 0; form < (has_term() ? forms : 2); ++form)
      kernel_[dagger][form] = kernels_of(Form(form), dagger, complex_phase);
  if (!has_term()) return;
  apply_term_ =
      &find(domain()->device().kernels(),
            {.operation = term_.inverse_operation(), .precision = spinors.name, .basis = basis.name, .tile = slices()});
}

/// Kernels for tiles of 4, 2, 1; the smallest that a form can have must be there.
WilsonHopping::Tiles WilsonHopping::kernels_of(Form form, bool dagger, bool complex_phase) const {
  const bool plain = form == Form::plain || form == Form::axpby;
  const int smallest = plain ? 1 : slices();
  Tiles found{};
  for (int t = 0; t < tiles && tile_sizes[t] >= smallest; ++t) {
    const KernelQuery query = {.operation = plain ? "wilson" : term_.operation(),
                               .precision = precision_->name,
                               .links = links_->storage().name,
                               .basis = basis_->name,
                               .dagger = dagger,
                               .epilogue = epilogues[int(form)],
                               .complex_coefficients = complex_phase,
                               .tile = tile_sizes[t]};
    const auto kernels = domain()->device().kernels();
    found[t] = tile_sizes[t] == smallest ? &find(kernels, query) : try_find(kernels, query);
  }
  return found;
}

WilsonHopping WilsonHopping::cut() const {
  WilsonHopping part = *this;
  const Lattice& lattice = domain_->lattice();
  part.domain_ = std::make_shared<Domain>(Lattice(lattice.extent()), domain_->device_pointer());
  for (int mu = 0; mu < directions; ++mu)
    for (const int back : {0, 1})
      if (lattice.split(mu)) part.hops_.edge_re[mu][back] = part.hops_.edge_im[mu][back] = 0;
  return part;
}

void WilsonHopping::run(Form form, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in,
                        Parity parity, Dagger dagger) const {
  if (out.rhs() != in.rhs() || out.slices() != slices() || in.slices() != slices())
    throw UsageError(fmt::format("hopping term of {} flavours on {} right-hand sides of {} into {} of {}", slices(),
                                 in.rhs(), in.slices(), out.rhs(), out.slices()));
  const Tiles& kernels = kernel_[dagger == Dagger::yes][int(form)];
  const SpinorField to = out.by_slice(), from = in.by_slice();
  a.geometry = domain()->layout(out.lanes()).geometry();
  a.parity = int(parity);
  a.links = links_->operand();
  a.hops = hops_;
  int done = 0;
  for (int t = 0; t < tiles; ++t) {  // the largest tile first, then the rest by smaller ones
    if (kernels[t] == nullptr) continue;
    a.rhs = (from.rhs() - done) / tile_sizes[t] * tile_sizes[t];
    if (a.rhs == 0) continue;
    a.out = to.select(to.operand(parity), done);
    a.in = from.select(from.operand(opposite(parity)), done);
    if (x != nullptr) a.x = to.select(x->by_slice().operand(parity), done);
    apply_hopping(*domain(), *kernels[t], a, *links_);
    done += a.rhs;
  }
}

void WilsonHopping::apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  run(Form::plain, {}, out, nullptr, in, parity, dagger);
}

void WilsonHopping::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                          Parity parity, Dagger dagger) const {
  Arguments a;
  a.a.re = alpha;
  a.b.re = beta;
  run(Form::axpby, a, out, &x, in, parity, dagger);
}

void WilsonHopping::apply_t(SpinorField& out, const SpinorField& x, double beta, const SpinorField& in, Parity parity,
                            Dagger dagger) const {
  if (!has_term()) return apply(out, parameters_.diagonal(), x, beta, in, parity, dagger);
  Arguments a;
  term_.set(a, 1, dagger);
  a.b.re = beta;
  run(Form::taxpby, a, out, &x, in, parity, dagger);
}

void WilsonHopping::apply_inverse(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  if (!has_term()) return apply(out, in, parity, dagger);
  Arguments a;
  term_.set_inverse(a, 1, dagger);
  run(Form::tinv, a, out, nullptr, in, parity, dagger);
}

void WilsonHopping::apply_inverse(SpinorField& out, double alpha, const SpinorField& x, double beta,
                                  const SpinorField& in, Parity parity, Dagger dagger) const {
  if (!has_term()) return apply(out, alpha, x, beta, in, parity, dagger);
  Arguments a;
  a.a.re = alpha;
  term_.set_inverse(a, beta, dagger);
  run(Form::axpby_tinv, a, out, &x, in, parity, dagger);
}

void WilsonHopping::apply_inverse_term(SpinorField& out, double beta, const SpinorField& x, Parity parity,
                                       Dagger dagger) const {
  const SpinorField to = out.by_slice();
  Arguments a = arguments_for(*domain(), to.lanes(), to.rhs());
  a.parity = int(parity);
  a.out = to.operand(parity);
  a.x = x.by_slice().operand(parity);
  term_.set_inverse(a, beta, dagger);
  domain()->device().run(*apply_term_, a);
}

double WilsonHopping::flops(Form form) const {
  const Tiles& kernels = kernel_[0][int(form)];
  const Kernel* smallest = kernels[2] != nullptr ? kernels[2] : kernels[1];
  return smallest->flops * slices() * double(domain()->lattice().global_sites() / 2);
}

double WilsonHopping::bytes_sent() const {
  if (domain_->lattice().parts() == 1) return 0;
  return static_cast<double>(domain_->halos().bytes_of(*kernel_[0][0][2], slices()));
}

void WilsonMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  for (const Parity parity : {Parity::even, Parity::odd}) hopping_->apply_t(out, in, -0.5, in, parity, dagger);
}

double WilsonMatrix::flops() const {
  using Form = WilsonHopping::Form;
  return 2 * hopping_->flops(hopping_->has_term() ? Form::taxpby : Form::axpby);
}

WilsonEvenOdd::WilsonEvenOdd(const WilsonHopping& hopping, EvenOdd form, int rhs)
    : hopping_(&hopping), form_(form), odd_(hopping.field(Subset::odd, rhs)) {
  if (hopping.has_term()) even_.emplace(hopping.field(Subset::even, rhs));
}

void WilsonEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const double s = hopping_->inverse_scale();
  SpinorField odd = odd_.slice(0, in.rhs());
  if (form_ == EvenOdd::asymmetric) {
    hopping_->apply_inverse(odd, in, Parity::odd, dagger);          // T_oo^-1 D_oe in
    hopping_->apply_t(out, in, -s / 4, odd, Parity::even, dagger);  // T_ee in - D_eo odd / 4
  } else if (dagger == Dagger::no || !hopping_->has_term()) {
    hopping_->apply_inverse(odd, in, Parity::odd, dagger);                       // T_oo^-1 D_oe in
    hopping_->apply_inverse(out, 1, in, -s * s / 4, odd, Parity::even, dagger);  // in - T_ee^-1 D_eo odd / 4
  } else {
    SpinorField even = even_->slice(0, in.rhs());
    hopping_->apply_inverse_term(even, 1, in, Parity::even, dagger);  // the conjugate has T_ee^-1 on the right
    hopping_->apply_inverse(odd, even, Parity::odd, dagger);
    hopping_->apply(out, 1, in, -0.25, odd, Parity::even, dagger);
  }
}

double WilsonEvenOdd::flops() const {
  using Form = WilsonHopping::Form;
  if (!hopping_->has_term()) return hopping_->flops(Form::plain) + hopping_->flops(Form::axpby);
  return hopping_->flops(Form::tinv) + hopping_->flops(form_ == EvenOdd::symmetric ? Form::axpby_tinv : Form::taxpby);
}

double WilsonEvenOdd::residual_scale() const {
  const WilsonParameters& p = hopping_->parameters();
  return form_ == EvenOdd::symmetric ? std::hypot(p.diagonal(), p.twist.mu) : 1;  // |T|
}

void WilsonEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  const double s = hopping_->inverse_scale(), scale = form_ == EvenOdd::symmetric ? s : 1;
  if (!hopping_->has_term()) {
    hopping_->apply(reduced, scale, b, scale * s / 2, b, Parity::even, Dagger::no);
    return;
  }
  SpinorField odd = odd_.slice(0, b.rhs()), even = even_->slice(0, b.rhs());
  hopping_->apply_inverse_term(odd, 1, b, Parity::odd);
  SpinorField& sum = form_ == EvenOdd::symmetric ? even : reduced;
  hopping_->apply(sum, 1, b, 0.5, odd, Parity::even, Dagger::no);
  if (form_ == EvenOdd::symmetric) hopping_->apply_inverse_term(reduced, 1, even, Parity::even);
}

void WilsonEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const double s = hopping_->inverse_scale();
  if (!hopping_->has_term()) {
    hopping_->apply(x, s, b, s / 2, reduced, Parity::odd, Dagger::no);
  } else {
    SpinorField odd = odd_.slice(0, b.rhs());
    hopping_->apply(odd, 1, b, 0.5, reduced, Parity::odd, Dagger::no);
    hopping_->apply_inverse_term(x, 1, odd, Parity::odd);
  }
  x.copy_half(Parity::even, reduced);
}

std::unique_ptr<ReducedOperator> WilsonDirac::reduced(Reduction form, int rhs) const {
  return std::make_unique<WilsonEvenOdd>(hopping_,
                                         form == Reduction::symmetric ? EvenOdd::symmetric : EvenOdd::asymmetric, rhs);
}

std::unique_ptr<DiracOperator> WilsonDirac::cut() const { return std::make_unique<WilsonDirac>(hopping_.cut()); }

void WilsonDirac::embed(SpinorField& b, const SpinorField& source) const {
  if (!embeds()) return b.copy_from(source);
  b.fill(0);
  const SpinorField flavours = b.by_slice();
  for (int n = 0; n < source.rhs(); ++n)
    flavours.slice(hopping_.slices() * n + hopping_.parameters().twist.source, 1).copy_from(source.slice(n, 1));
}

void WilsonDirac::project(SpinorField& quark, const SpinorField& x) const {
  if (!embeds()) return quark.copy_from(x);
  const SpinorField flavours = x.by_slice();
  for (int n = 0; n < quark.rhs(); ++n)
    quark.slice(n, 1).copy_from(flavours.slice(hopping_.slices() * n + hopping_.parameters().twist.sink, 1));
}

std::string WilsonAction::name() const {
  const std::string kind = parameters_.has_clover() ? "clover" : parameters_.twist.any() ? "mass" : "wilson";
  if (!parameters_.twist.any()) return kind;
  return "twisted-" + kind + (parameters_.twist.flavours == 2 ? "-doublet" : "");
}

std::unique_ptr<DiracOperator> WilsonAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<WilsonDirac>(WilsonHopping(links.store(precision.links), precision, links.basis(),
                                                     parameters_, parameters_.has_clover() ? &links.plain() : nullptr));
}

}  // namespace quarksmith
