#include "solvers/staggered.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/halo.hpp"

namespace quarksmith {
namespace {

constexpr int tile_sizes[] = {8, 4, 2, 1};

Hops scaled_hops(const LinkField& links, const std::array<Complex64, directions>& boundary) {
  const double c = links.scale();
  return hops_of(links.domain().lattice(), {c, c, c, c}, boundary);
}

}  // namespace

StaggeredHopping::StaggeredHopping(std::shared_ptr<const LinkField> links, std::shared_ptr<const LinkField> long_links,
                                   const PrecisionInfo& precision, const std::array<Complex64, directions>& boundary)
    : links_(std::move(links)), long_links_(std::move(long_links)), precision_(&precision) {
  hops_ = scaled_hops(*links_, boundary);
  if (long_links_) long_hops_ = scaled_hops(*long_links_, boundary);
  bool complex_phase = false;
  for (const Complex64& phase : boundary) complex_phase = complex_phase || phase.imag() != 0;
  const bool split = domain()->lattice().parts() > 1;
  const auto kernels = domain()->device().kernels();
  const auto fill = [&](Tiles& row, std::string_view epilogue) {
    for (int t = 0; t < tiles; ++t) {
      const KernelQuery query = {.operation = long_links_ ? "improved_staggered" : "staggered",
                                 .precision = precision.name,
                                 .links = (long_links_ ? long_links_ : links_)->storage().name,
                                 .epilogue = epilogue,
                                 .complex_coefficients = complex_phase,
                                 .tile = tile_sizes[t],
                                 .spins = 1};
      row[t] = tile_sizes[t] == 1 ? &find(kernels, query) : try_find(kernels, query);
      if (split && row[t] != nullptr && !row[t]->ranks && tile_sizes[t] > 1) row[t] = nullptr;
    }
  };
  fill(plain_, "none");
  fill(axpby_, "axpby");
  domain()->require_reach(*plain_[tiles - 1]);
}

void StaggeredHopping::run(const Tiles& kernels, Arguments a, SpinorField& out, const SpinorField* x,
                           const SpinorField& in, Parity parity) const {
  if (out.rhs() != in.rhs())
    throw UsageError(fmt::format("hopping term on {} right-hand sides into {}", in.rhs(), out.rhs()));
  a.geometry = domain()->layout(out.lanes()).geometry();
  a.parity = int(parity);
  a.links = links_->operand();
  a.hops = hops_;
  a.long_hops = long_hops_;
  if (long_links_) a.long_links = long_links_->operand();
  const HoppingLinks links = long_links_ ? HoppingLinks(*links_, *long_links_) : HoppingLinks(*links_);
  int done = 0;
  for (int t = 0; t < tiles; ++t) {  // the largest tile first, then the rest by smaller ones
    if (kernels[t] == nullptr) continue;
    a.rhs = (in.rhs() - done) / tile_sizes[t] * tile_sizes[t];
    if (a.rhs == 0) continue;
    a.out = out.select(out.operand(parity), done);
    a.in = in.select(in.operand(opposite(parity)), done);
    if (x != nullptr) a.x = x->select(x->operand(parity), done);
    apply_hopping(*domain(), *kernels[t], a, links);
    done += a.rhs;
  }
}

void StaggeredHopping::apply(SpinorField& out, const SpinorField& in, Parity parity) const {
  run(plain_, {}, out, nullptr, in, parity);
}

void StaggeredHopping::apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
                             Parity parity) const {
  Arguments a;
  a.a.re = alpha;
  a.b.re = beta;
  run(axpby_, a, out, &x, in, parity);
}

double StaggeredHopping::flops(bool axpby) const {
  return (axpby ? axpby_ : plain_)[tiles - 1]->flops * double(domain()->lattice().global_sites() / 2);
}

double StaggeredHopping::bytes_sent() const {
  if (domain()->lattice().parts() == 1) return 0;
  return static_cast<double>(domain()->halos().bytes_of(*plain_[tiles - 1], 1));
}

void StaggeredMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const double sign = dagger == Dagger::yes ? -1 : 1;
  for (const Parity parity : {Parity::even, Parity::odd}) hopping_->apply(out, 2 * mass_, in, sign, in, parity);
}

StaggeredEvenOdd::StaggeredEvenOdd(const StaggeredHopping& hopping, double mass, int rhs, Parity parity)
    : StaggeredVectors(hopping),
      mass_(mass),
      parity_(parity),
      other_(hopping.domain(), hopping.precision(), parity == Parity::even ? Subset::odd : Subset::even, rhs, 1) {}

void StaggeredEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger) const {
  SpinorField other = other_.slice(0, in.rhs());
  hopping_->apply(other, in, opposite(parity_));
  hopping_->apply(out, 4 * mass_ * mass_, in, -1, other, parity_);
}

void StaggeredEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  hopping_->apply(reduced, 2 * mass_, b, -1, b, parity_);
}

void StaggeredEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const double s = 1 / (2 * mass_);
  hopping_->apply(x, s, b, -s, reduced, opposite(parity_));
  x.copy_half(parity_, reduced);
}

std::unique_ptr<ReducedOperator> StaggeredDirac::reduced(Reduction, int rhs) const {
  return std::make_unique<StaggeredEvenOdd>(*hopping_, mass_, rhs);
}

StaggeredAction::StaggeredAction(const StaggeredParameters& parameters) : StaggeredAction(parameters, nullptr) {}

StaggeredAction::StaggeredAction(const StaggeredParameters& parameters, std::shared_ptr<const ImprovedLinks> links)
    : parameters_(parameters), given_(std::move(links)) {
  if (!(parameters.mass > 0))
    throw UsageError(fmt::format("mass {} of staggered quarks: M = 2m + D; use m > 0", parameters.mass));
}

std::string StaggeredAction::name() const {
  using Kind = StaggeredParameters::Kind;
  return parameters_.kind == Kind::thin ? "staggered" : parameters_.kind == Kind::asqtad ? "asqtad" : "hisq";
}

/// Fat and long links, made once for all precisions.
const ImprovedLinks& StaggeredAction::improved(const LinkStore& links) const {
  if (find_storage(links.storage()).group == "SU(3)")
    throw UsageError(
        fmt::format("links '{}': long links are a number times U(3); use r13, r9 or r18", links.storage()));
  if (given_) return *given_;
  return links.derived<ImprovedLinks>("improved", [&] {
    return parameters_.kind == StaggeredParameters::Kind::asqtad
               ? asqtad_links(links.gauge(), links.domain(), parameters_.u0)
               : hisq_links(links.gauge(), links.domain(), parameters_.naik_epsilon);
  });
}

LinkDeviation StaggeredAction::deviation(const LinkStore& links) const {
  if (parameters_.kind == StaggeredParameters::Kind::thin) return links.deviation();
  const StorageInfo& storage = find_storage(links.storage());
  const HostGauge& longs = improved(links).longs;
  if (storage.group == "any") return {};
  return deviation_of(upload_scaled(longs, links.domain(), find_precision("double"), storage, reach()), longs);
}

StaggeredHopping StaggeredAction::hopping(const LinkStore& links, const PrecisionInfo& precision) const {
  if (parameters_.kind == StaggeredParameters::Kind::thin)
    return {links.store(precision.links), nullptr, precision, parameters_.boundary};
  const ImprovedLinks& made = improved(links);
  const PrecisionInfo& stored = find_precision(precision.links);
  const auto store = [&](const HostGauge& gauge, std::string_view storage, int depth) {
    return std::make_shared<LinkField>(upload_scaled(gauge, links.domain(), stored, find_storage(storage), depth));
  };
  return {store(made.fat, "r18", 1), store(made.longs, links.storage(), reach()), precision, parameters_.boundary};
}

std::unique_ptr<DiracOperator> StaggeredAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<StaggeredDirac>(hopping(links, precision), parameters_.mass);
}

}  // namespace quarksmith
