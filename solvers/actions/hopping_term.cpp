#include "solvers/actions/hopping_term.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {
std::shared_ptr<const StoredTerm> HoppingTerm::stored_term(const ActionFields& fields, const PrecisionInfo& precision) {
  const ActionValues& values = fields.values();
  if (fields.term() == nullptr && !StoredTerm::is_part_of(values)) return nullptr;
  if (fields.links().colours() != 3)
    throw UsageError(fmt::format(
        "action {}: its site term is made of links of three colours, these have {}; take an action without one",
        values.info().name, fields.links().colours()));
  // That in double, while an operator has it, serves all operators with these values on these links.
  using Term = std::shared_ptr<const StoredTerm>;
  const StatementFields& made = fields.in_double();
  const auto known = fields.links().derived<std::shared_ptr<Term::weak_type>>(
      fmt::format("site term of {}{}: {} {}", values.info().name, values.info().digest, values.text(),
                  static_cast<const void*>(&made)),
      [] { return std::make_shared<Term::weak_type>(); });
  const PrecisionInfo& high = find_precision("double");
  Term term = known->lock();
  if (term == nullptr)
    *known = term = std::make_shared<const StoredTerm>(values, made, high, SiteTerm::shift_of(values), fields.term(),
                                                       fields.links().domain());
  return precision.links == high.links ? term
                                       : std::make_shared<const StoredTerm>(*term, find_precision(precision.links));
}

HoppingTerm::HoppingTerm(const ActionFields& fields, const PrecisionInfo& precision, const BoundaryPhases& boundary)
    : links_(fields.stored(fields.hops(1), precision,
                           fields.info().reach > 1 ? fields.links().exact().storage() : fields.links().storage())),
      long_links_(fields.info().reach == 1
                      ? nullptr
                      : fields.stored(fields.hops(3), precision, fields.links().storage(), fields.info().reach)),
      domain_(links_->domain_pointer()),
      precision_(&precision),
      basis_(&fields.links().basis()),
      values_(fields.values()),
      term_(values_, stored_term(fields, precision), domain_, precision, *basis_) {
  set_hops(boundary);
  bool complex_phase = false;
  for (const Complex64& phase : boundary) complex_phase = complex_phase || phase.imag() != 0;
  std::vector<Epilogue> epilogues = {Epilogue::none, Epilogue::axpby};
  if (has_term()) epilogues.insert(epilogues.end(), {Epilogue::taxpby, Epilogue::tinv, Epilogue::axpby_tinv});
  for (const bool dagger : {false, true})
    for (const Epilogue epilogue : epilogues)
      if (!(dagger && lacks_dagger())) kernel_[dagger][epilogue] = kernels_of(epilogue, dagger, complex_phase);
  domain_->require_reach(*kernel_[0][Epilogue::none].back());
  if (!has_term()) return;
  apply_term_ = &find(domain_->device().kernels(), {.operation = values_.info().apply_inverse,
                                                    .precision = precision.name,
                                                    .basis = basis_->name,
                                                    .tile = slices(),
                                                    .colours = components().colours});
}

HoppingTerm HoppingTerm::with(const ActionValues& values) const {
  HoppingTerm other = *this;
  other.values_ = values;
  other.term_ = SiteTerm(values, nullptr, domain_, *precision_, *basis_);
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

/// The kernel for the smallest tile that there can be, which must be there, and those for larger ones.
HoppingTerm::Tiles HoppingTerm::kernels_of(Epilogue epilogue, bool dagger, bool complex_phase) const {
  const ActionInfo& info = values_.info();
  const bool plain = epilogue == Epilogue::none || epilogue == Epilogue::axpby;
  const bool split = domain_->lattice().ranks() > 1;
  const auto kernels = domain_->device().kernels();
  KernelQuery query = {.operation = plain ? info.hopping : info.with_term,
                       .precision = precision_->name,
                       .links = (long_links_ ? long_links_ : links_)->storage().name,
                       .basis = info.has_basis ? basis_->name : "",
                       .dagger = dagger,
                       .epilogue = name_of(epilogue),
                       .complex_coefficients = complex_phase,
                       .tile = plain ? 1 : slices(),
                       .spins = info.spins};
  Tiles found = {&find(kernels, query)};
  for (const Kernel& kernel : kernels) {
    query.tile = kernel.tile;
    if (kernel.tile <= found[0]->tile) continue;
    if ((kernel.ranks || !split) && fits(kernel, query)) found.push_back(&kernel);
  }
  std::sort(found.begin(), found.end(), [](const Kernel* a, const Kernel* b) { return a->tile > b->tile; });
  return found;
}

HoppingTerm HoppingTerm::dirichlet() const {
  HoppingTerm part = *this;
  const Lattice& lattice = domain_->lattice();
  part.domain_ = std::make_shared<Domain>(Lattice(lattice.extent()), domain_->device_pointer());
  for (int mu = 0; mu < directions; ++mu)
    for (const int back : {0, 1})
      for (Hops& hops : part.hops_)
        if (lattice.split(mu)) hops.edge_re[mu][back] = hops.edge_im[mu][back] = 0;
  return part;
}

int HoppingTerm::sum_groups() const {
  if (!domain_->device().asynchronous() || slices() > 1) return 0;
  if (domain_->lattice().ranks() > 1 && !domain_->halos().in_one_launch()) return 0;
  const int sites = domain_->layout(domain_->lanes(precision_->element_bytes)).geometry().half_sites;
  return sites % site_block == 0 ? sites / site_block : 0;
}

void HoppingTerm::run(Epilogue epilogue, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in,
                      Parity parity, Dagger dagger, const ProductSums* sums) const {
  if (out.rhs() != in.rhs() || out.slices() != slices() || in.slices() != slices())
    throw UsageError(fmt::format("hopping term of {} flavours on {} right-hand sides of {} into {} of {}", slices(),
                                 in.rhs(), in.slices(), out.rhs(), out.slices()));
  const int conjugate = dagger == Dagger::yes && !lacks_dagger();
  const SpinorField to = out.by_slice(), from = in.by_slice();
  a.geometry = domain()->layout(out.lanes()).geometry();
  a.parity = int(parity);
  a.links = links_->operand();
  a.hops = hops_[conjugate];
  a.long_hops = more_hops_[conjugate];
  if (long_links_) a.long_links = long_links_->operand();
  const HoppingLinks links = long_links_ ? HoppingLinks(*links_, *long_links_) : HoppingLinks(*links_);
  int done = 0;
  for (const Kernel* kernel : kernel_[conjugate].at(epilogue)) {  // what is left by smaller tiles
    a.rhs = (from.rhs() - done) / kernel->tile * kernel->tile;
    if (a.rhs == 0) continue;
    a.out = to.select(to.operand(parity), done);
    a.in = from.select(from.operand(opposite(parity)), done);
    if (x != nullptr) a.x = to.select(x->by_slice().operand(parity), done);
    if (sums != nullptr) {
      a.scalars = sums->scalars + static_cast<long long>(done) * sums->scalar_stride;
      a.scalar_stride = sums->scalar_stride;
      a.mask = active_slot;
    }
    if (sums != nullptr && x != nullptr) {
      a.products.all = sums->kind == ProductSums::Kind::all;
      a.products.shadow = to.select(sums->shadow->operand(parity), done);
      a.products.rows = sums->rows + static_cast<long long>(done) * sum_groups() * product_numbers(a.products.all);
    }
    apply_hopping(*domain(), *kernel, a, links);
    done += a.rhs;
  }
}

void HoppingTerm::apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger,
                        const ProductSums* sums) const {
  if (dagger == Dagger::yes && lacks_dagger())
    throw UsageError(fmt::format("D^+ of {} is -D; apply a x + b D with -b", values_.info().name));
  run(Epilogue::none, {}, out, nullptr, in, parity, dagger, sums);
}

void HoppingTerm::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                        Parity parity, Dagger dagger, const ProductSums* sums) const {
  Arguments a;
  a.a.re = alpha;
  a.b.re = sign(dagger) * beta;
  run(Epilogue::axpby, a, out, &x, in, parity, dagger, sums);
}

void HoppingTerm::apply_t(SpinorField& out, const SpinorField& x, double beta, const SpinorField& in, Parity parity,
                          Dagger dagger, const ProductSums* sums) const {
  if (!has_term()) return apply(out, term_.diagonal(), x, beta, in, parity, dagger, sums);
  Arguments a;
  term_.set(a, 1, dagger);
  a.b.re = sign(dagger) * beta;
  run(Epilogue::taxpby, a, out, &x, in, parity, dagger, sums);
}

void HoppingTerm::apply_inverse(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger,
                                const ProductSums* sums) const {
  has_term() ? apply_inverse(out, 1, in, parity, dagger, sums) : apply(out, in, parity, dagger, sums);
}

void HoppingTerm::apply_inverse(SpinorField& out, double beta, const SpinorField& in, Parity parity, Dagger dagger,
                                const ProductSums* sums) const {
  Arguments a;
  term_.set_inverse(a, sign(dagger) * beta, dagger);
  run(Epilogue::tinv, a, out, nullptr, in, parity, dagger, sums);
}

void HoppingTerm::apply_inverse(SpinorField& out, double alpha, const SpinorField& x, double beta,
                                const SpinorField& in, Parity parity, Dagger dagger, const ProductSums* sums) const {
  if (!has_term()) return apply(out, alpha, x, beta, in, parity, dagger, sums);
  Arguments a;
  a.a.re = alpha;
  term_.set_inverse(a, sign(dagger) * beta, dagger);
  run(Epilogue::axpby_tinv, a, out, &x, in, parity, dagger, sums);
}

Arguments HoppingTerm::arguments_of_term(SpinorField& out, const SpinorField& x, Parity parity) const {
  const SpinorField to = out.by_slice();
  Arguments a = arguments_for(*domain(), to.lanes(), to.rhs());
  a.parity = int(parity);
  a.out = to.operand(parity);
  a.x = x.by_slice().operand(parity);
  return a;
}

void HoppingTerm::apply_term(SpinorField& out, const SpinorField& x, Parity parity) const {
  Arguments a = arguments_of_term(out, x, parity);
  term_.set_alone(a);
  domain()->device().run(*apply_term_, a);
}

void HoppingTerm::apply_inverse_term(SpinorField& out, double beta, const SpinorField& x, Parity parity,
                                     Dagger dagger) const {
  Arguments a = arguments_of_term(out, x, parity);
  term_.set_inverse(a, beta, dagger);
  domain()->device().run(*apply_term_, a);
}

double HoppingTerm::flops(Epilogue epilogue) const {
  return kernel_[0].at(epilogue).back()->flops * slices() * double(domain()->lattice().global_sites() / 2);
}

double HoppingTerm::bytes_sent() const {
  if (domain_->lattice().ranks() == 1) return 0;
  return static_cast<double>(domain_->halos().bytes_of(*kernel_[0].at(Epilogue::none).back(), slices()));
}

void HoppingMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  for (const Parity parity : {Parity::even, Parity::odd}) hopping_->apply_t(out, in, hopping_->h(), in, parity, dagger);
}

void HoppingMatrix::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  force.add_hops(x, y, weight);
  if (hopping_->term().stored() != nullptr) force.add_site_term(x, y, weight);
}

double HoppingMatrix::flops() const {
  return 2 * hopping_->flops(hopping_->has_term() ? Epilogue::taxpby : Epilogue::axpby);
}

}  // namespace quarksmith
