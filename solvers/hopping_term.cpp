#include "solvers/hopping_term.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/halo.hpp"

namespace quarksmith {
namespace {

constexpr int tile_sizes[] = {8, 4, 2, 1};
constexpr std::string_view epilogues[] = {"none", "axpby", "taxpby", "tinv", "axpby_tinv"};

SiteTerm term_of(const ActionValues& values, const PrecisionInfo& spinors, const LinkField* plain_links) {
  const ActionInfo& info = values.info();
  const double diagonal = values(info.diagonal);
  const Twist twist{values(info.twist), values(info.splitting), info.flavours};
  if (diagonal == 0 && (twist.any() || HoppingTerm::stores(values)))  // they are kept as multiples of it
    throw UsageError(fmt::format("{}: the diagonal of the Dirac operator vanishes; use another mass", values.text()));
  if (!HoppingTerm::stores(values)) return SiteTerm(diagonal, twist, nullptr);
  return SiteTerm(diagonal, twist,
                  std::make_shared<CloverTerm>(*plain_links, values(info.clover_space), values(info.clover_time),
                                               diagonal, find_precision(spinors.links),
                                               twist.any() ? std::optional(twist.shift()) : std::nullopt));
}

}  // namespace

bool HoppingTerm::stores(const ActionValues& values) {
  return values(values.info().clover_space) != 0 || values(values.info().clover_time) != 0;
}

HoppingTerm::HoppingTerm(std::shared_ptr<const LinkField> links, const PrecisionInfo& spinors, const BasisInfo& basis,
                         const ActionValues& values, const BoundaryPhases& boundary, const LinkField* plain_links,
                         std::shared_ptr<const LinkField> long_links)
    : links_(std::move(links)),
      long_links_(std::move(long_links)),
      domain_(links_->domain_pointer()),
      precision_(&spinors),
      basis_(&basis),
      values_(values),
      term_(term_of(values, spinors, plain_links)) {
  set_hops(boundary);
  bool complex_phase = false;
  for (const Complex64& phase : boundary) complex_phase = complex_phase || phase.imag() != 0;
  for (const bool dagger : {false, true})
    for (int form = 0; form < (has_term() ? forms : 2) && !(dagger && lacks_dagger()); ++form)
      kernel_[dagger][form] = kernels_of(Form(form), dagger, complex_phase);
  domain_->require_reach(*kernel_[0][0][tiles - 1]);
  if (!has_term()) return;
  apply_term_ = &find(
      domain_->device().kernels(),
      {.operation = values_.info().apply_inverse, .precision = spinors.name, .basis = basis.name, .tile = slices()});
}

HoppingTerm HoppingTerm::with(const ActionValues& values) const {
  HoppingTerm other = *this;
  other.values_ = values;
  other.term_ = term_of(values, *precision_, nullptr);
  return other;
}

/// Coefficients of hops. In D^+ the weight of a forward hop is that of the backward one in D.
void HoppingTerm::set_hops(const BoundaryPhases& boundary) {
  const ActionInfo& info = values_.info();
  for (const int dagger : {0, 1}) {
    std::array<double, directions> forward{}, further{};
    for (int mu = 0; mu < directions; ++mu) {
      const double ahead = values_(info.weight[mu][dagger]), behind = values_(info.weight[mu][1 - dagger]);
      forward[mu] = ahead * links_->scale();
      if (long_links_) further[mu] = ahead * long_links_->scale();
      if ((info.directed >> mu & 1) == 0) continue;
      if (ahead == 0)
        throw UsageError(
            fmt::format("{}: hops of {} in one of two directions vanish; use other values", values_.text(), info.name));
      more_hops_[dagger].bulk[mu] = behind / ahead;
    }
    hops_[dagger] = hops_of(domain_->lattice(), forward, boundary);
    if (long_links_) more_hops_[dagger] = hops_of(domain_->lattice(), further, boundary);
  }
}

/// Kernels for tiles of 8, 4, 2, 1; the smallest that a form can have must be there.
HoppingTerm::Tiles HoppingTerm::kernels_of(Form form, bool dagger, bool complex_phase) const {
  const ActionInfo& info = values_.info();
  const bool plain = form == Form::plain || form == Form::axpby;
  const int smallest = plain ? 1 : slices();
  const bool split = domain_->lattice().parts() > 1;
  Tiles found{};
  for (int t = 0; t < tiles && tile_sizes[t] >= smallest; ++t) {
    const KernelQuery query = {.operation = plain ? info.hopping : info.with_term,
                               .precision = precision_->name,
                               .links = (long_links_ ? long_links_ : links_)->storage().name,
                               .basis = info.has_basis ? basis_->name : "",
                               .dagger = dagger,
                               .epilogue = epilogues[int(form)],
                               .complex_coefficients = complex_phase,
                               .tile = tile_sizes[t],
                               .spins = info.spins};
    const auto kernels = domain_->device().kernels();
    found[t] = tile_sizes[t] == smallest ? &find(kernels, query) : try_find(kernels, query);
    if (split && tile_sizes[t] > smallest && found[t] != nullptr && !found[t]->ranks) found[t] = nullptr;
  }
  return found;
}

HoppingTerm HoppingTerm::cut() const {
  HoppingTerm part = *this;
  const Lattice& lattice = domain_->lattice();
  part.domain_ = std::make_shared<Domain>(Lattice(lattice.extent()), domain_->device_pointer());
  for (int mu = 0; mu < directions; ++mu)
    for (const int back : {0, 1})
      for (Hops& hops : part.hops_)
        if (lattice.split(mu)) hops.edge_re[mu][back] = hops.edge_im[mu][back] = 0;
  return part;
}

void HoppingTerm::run(Form form, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in,
                      Parity parity, Dagger dagger) const {
  if (out.rhs() != in.rhs() || out.slices() != slices() || in.slices() != slices())
    throw UsageError(fmt::format("hopping term of {} flavours on {} right-hand sides of {} into {} of {}", slices(),
                                 in.rhs(), in.slices(), out.rhs(), out.slices()));
  const int conjugate = dagger == Dagger::yes && !lacks_dagger();
  const Tiles& kernels = kernel_[conjugate][int(form)];
  const SpinorField to = out.by_slice(), from = in.by_slice();
  a.geometry = domain()->layout(out.lanes()).geometry();
  a.parity = int(parity);
  a.links = links_->operand();
  a.hops = hops_[conjugate];
  a.long_hops = more_hops_[conjugate];
  if (long_links_) a.long_links = long_links_->operand();
  const HoppingLinks links = long_links_ ? HoppingLinks(*links_, *long_links_) : HoppingLinks(*links_);
  int done = 0;
  for (int t = 0; t < tiles; ++t) {  // the largest tile first, then the rest by smaller ones
    if (kernels[t] == nullptr) continue;
    a.rhs = (from.rhs() - done) / tile_sizes[t] * tile_sizes[t];
    if (a.rhs == 0) continue;
    a.out = to.select(to.operand(parity), done);
    a.in = from.select(from.operand(opposite(parity)), done);
    if (x != nullptr) a.x = to.select(x->by_slice().operand(parity), done);
    apply_hopping(*domain(), *kernels[t], a, links);
    done += a.rhs;
  }
}

void HoppingTerm::apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  if (dagger == Dagger::yes && lacks_dagger())
    throw UsageError(fmt::format("D^+ of {} is -D; apply a x + b D with -b", values_.info().name));
  run(Form::plain, {}, out, nullptr, in, parity, dagger);
}

void HoppingTerm::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                        Parity parity, Dagger dagger) const {
  Arguments a;
  a.a.re = alpha;
  a.b.re = sign(dagger) * beta;
  run(Form::axpby, a, out, &x, in, parity, dagger);
}

void HoppingTerm::apply_t(SpinorField& out, const SpinorField& x, double beta, const SpinorField& in, Parity parity,
                          Dagger dagger) const {
  if (!has_term()) return apply(out, term_.diagonal(), x, beta, in, parity, dagger);
  Arguments a;
  term_.set(a, 1, dagger);
  a.b.re = sign(dagger) * beta;
  run(Form::taxpby, a, out, &x, in, parity, dagger);
}

void HoppingTerm::apply_inverse(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  if (!has_term()) return apply(out, in, parity, dagger);
  Arguments a;
  term_.set_inverse(a, sign(dagger), dagger);
  run(Form::tinv, a, out, nullptr, in, parity, dagger);
}

void HoppingTerm::apply_inverse(SpinorField& out, double alpha, const SpinorField& x, double beta,
                                const SpinorField& in, Parity parity, Dagger dagger) const {
  if (!has_term()) return apply(out, alpha, x, beta, in, parity, dagger);
  Arguments a;
  a.a.re = alpha;
  term_.set_inverse(a, sign(dagger) * beta, dagger);
  run(Form::axpby_tinv, a, out, &x, in, parity, dagger);
}

void HoppingTerm::apply_inverse_term(SpinorField& out, double beta, const SpinorField& x, Parity parity,
                                     Dagger dagger) const {
  const SpinorField to = out.by_slice();
  Arguments a = arguments_for(*domain(), to.lanes(), to.rhs());
  a.parity = int(parity);
  a.out = to.operand(parity);
  a.x = x.by_slice().operand(parity);
  term_.set_inverse(a, beta, dagger);
  domain()->device().run(*apply_term_, a);
}

double HoppingTerm::flops(Form form) const {
  const Tiles& kernels = kernel_[0][int(form)];
  int smallest = tiles - 1;
  while (kernels[smallest] == nullptr) --smallest;
  return kernels[smallest]->flops * slices() * double(domain()->lattice().global_sites() / 2);
}

double HoppingTerm::bytes_sent() const {
  if (domain_->lattice().parts() == 1) return 0;
  return static_cast<double>(domain_->halos().bytes_of(*kernel_[0][0][tiles - 1], slices()));
}

void HoppingMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  for (const Parity parity : {Parity::even, Parity::odd}) hopping_->apply_t(out, in, hopping_->h(), in, parity, dagger);
}

double HoppingMatrix::flops() const {
  using Form = HoppingTerm::Form;
  return 2 * hopping_->flops(hopping_->has_term() ? Form::taxpby : Form::axpby);
}

}  // namespace quarksmith
