#include "solvers/hmc/fermion_force.hpp"

#include "runtime/error.hpp"
#include "runtime/ranks/enclosure.hpp"
#include "solvers/actions/domain_wall.hpp"
#include "solvers/actions/improved_links.hpp"
#include "solvers/hmc/even_twist.hpp"
#include "solvers/hmc/improved_force.hpp"
#include "solvers/hmc/path_force.hpp"
#include "solvers/hmc/stout_force.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

const HoppingTerm& hopping_of(const DiracOperator& dirac) {
  if (const DomainWallHopping* walls = dirac.walls()) return walls->hopping();
  if (dirac.hops() == nullptr) throw MissingKernel("molecular dynamics has no force of actions of this shape");
  return *dirac.hops();
}

/// How the action's statement makes its links; empty if it does not.
std::string links_of(const FermionOperator& fermion) {
  const ActionValues& values = fermion.dirac().values();
  return values.info().link_stages.empty() ? "" : links_made_by(values);
}

}  // namespace

FermionForce::FermionForce(const FermionOperator& fermion, const EvolvingLinks& links)
    : links_(&links), u_(links.steps(fermion.parameters().stout).back()), z_(cleared()) {
  go_on_with(fermion);
}

void FermionForce::go_on_with(const FermionOperator& fermion) {
  const ActionValues& values = fermion.dirac().values();
  if (fermion_ != nullptr && !alike(fermion, *fermion_))
    throw UsageError("forces of operators on links that are smeared in different ways; take one for each");
  fermion_ = &fermion;
  settings_ = {fermion.parameters().boundary, "non_relativistic"};
  for (std::size_t n = 0; n < values.all().size(); ++n)
    numbers_.insert_or_assign(std::string(values.info().parameters[n].name), values.all()[n]);
}

bool FermionForce::alike(const FermionOperator& one, const FermionOperator& other) {
  return one.parameters().stout == other.parameters().stout && links_of(one) == links_of(other);
}

void FermionForce::hops(const SpinorField& psi, const SpinorField& chi, double weight) {
  const SpinorField x = psi.by_slice(), y = chi.by_slice();
  ExpressionSettings settings = settings_;
  if (psi.spins() != 4) settings.basis = "";
  if (!links_of(*fermion_).empty()) {
    if (!by_fat_) by_fat_ = cleared(), by_long_ = cleared();
    evaluate("derivative_improved_staggered", {x, y, *by_fat_, *by_long_, weight, *by_fat_, *by_long_}, settings);
    return;
  }
  const ActionValues& values = fermion_->dirac().values();
  const ActionInfo& info = values.info();
  if (!info.path_steps.empty()) return add_path_force(info, *u_, x, y, weight, *z_, settings_);
  const std::string name = "force_" + std::string(info.hopping.empty() ? info.name : info.hopping);
  std::vector<ExpressionArgument> arguments = {*u_, x, y, *z_, weight};
  for (const ActionNumber number : values.info().force_arguments) arguments.emplace_back(values(number));
  arguments.emplace_back(*z_);
  evaluate(name, arguments, settings);
}

LinkField& FermionForce::magnetic() {
  if (!magnetic_) {
    magnetic_ = cleared();
    electric_ = cleared();
  }
  return *magnetic_;
}

void FermionForce::site_term(const SpinorField& psi, const SpinorField& chi, double weight) {
  const LinkField &space = magnetic(), &time = *electric_;
  evaluate("source_clover",
           {psi.by_slice(), chi.by_slice(), space, time, weight, numbers_.at("xi0"), numbers_.at("csw_r"),
            numbers_.at("csw_t"), space, time},
           settings_);
}

/// psi_o = -T_oo^-1 M_oe psi_e, or -(T_oo^-1)^+ (M_eo)^+ psi_e.
SpinorField FermionForce::completed(const SpinorField& even, Dagger dagger) const {
  const HoppingTerm& hopping = hopping_of(fermion_->dirac());
  SpinorField odd = hopping.field(Subset::odd, even.rhs()), all = hopping.field(Subset::full, even.rhs());
  hopping.apply_inverse(odd, even, Parity::odd, dagger);
  Blas(odd).scale(-hopping.h() * hopping.inverse_scale(), odd, odd);
  all.copy_half(Parity::even, even);
  all.copy_half(Parity::odd, odd);
  return all;
}

/// Of domain walls X is what D_W acts on: B X, or of the symmetric form, whose unknown is A x_e, C X with C = B A^-1;
/// on odd sites -h C H_oe of that. Y_o = -h C^+ (H^+)_oe Y_e.
SpinorField FermionForce::completed_on_slices(const SpinorField& even, Dagger dagger) const {
  const DomainWallHopping& walls = *fermion_->dirac().walls();
  SpinorField odd(even.domain_pointer(), even.precision(), Subset::odd, even.rhs(), even.spins(), even.slices());
  SpinorField all(even.domain_pointer(), even.precision(), Subset::full, even.rhs(), even.spins(), even.slices());
  SpinorField first = even.like();
  first.copy_from(even);
  if (dagger == Dagger::no) {
    if (fermion_->parameters().reduction == Reduction::symmetric)
      walls.b_a_inverse().apply(first, even, Parity::even, dagger);
    else if (walls.has_b())
      walls.b().apply(first, even, Parity::even, dagger);
  }
  walls.hop(odd, first, Parity::odd, dagger);
  walls.b_a_inverse().apply(odd, odd, Parity::odd, dagger);
  Blas(odd).scale(-walls.h(), odd, odd);
  all.copy_half(Parity::even, first);
  all.copy_half(Parity::odd, odd);
  return all;
}

void FermionForce::add(const SpinorField& x, const SpinorField& y, double weight) {
  const FermionParameters& p = fermion_->parameters();
  if (fermion_->dirac().values().info().hopping.empty()) return hops(x, y, weight);
  const HoppingTerm& hopping = hopping_of(fermion_->dirac());
  if (const DomainWallHopping* walls = fermion_->dirac().walls()) {
    if (p.reduction != Reduction::none)
      return hops(completed_on_slices(x, Dagger::no), completed_on_slices(y, Dagger::yes), weight);
    if (!walls->has_b()) return hops(x, y, weight);
    SpinorField z = x.like();
    for (const Parity parity : {Parity::even, Parity::odd}) walls->b().apply(z, x, parity, Dagger::no);
    return hops(z, y, weight);
  }
  if (p.reduction == Reduction::none) {
    hops(x, y, weight);
    if (hopping.clover() != nullptr) site_term(x, y, weight);
    return;
  }
  SpinorField left = y.like();
  left.copy_from(y);
  if (p.reduction == Reduction::symmetric) {  // (T_ee^-1)^+ Y
    if (hopping.has_term())
      hopping.apply_inverse_term(left, 1, y, Parity::even, Dagger::yes);
    else
      Blas(left).scale(hopping.inverse_scale(), y, left);
  }
  SpinorField psi = completed(x, Dagger::no);
  SpinorField chi = completed(left, Dagger::yes);
  hops(psi, chi, weight);
  if (hopping.clover() == nullptr) return;
  const TwistedOperator* twisted = p.reduction == Reduction::symmetric ? fermion_->twisted() : nullptr;
  if (p.reduction == Reduction::symmetric) {  // T_ee stands in front of 1 - M too
    const LinearOperator& matrix = twisted != nullptr ? twisted->untwisted() : fermion_->matrix();
    SpinorField rest = x.like();
    for (int k = 0; k < x.rhs(); ++k) {
      SpinorField one = rest.columns(k, 1);
      matrix.apply(one, x.columns(k, 1), Dagger::no);
    }
    Blas(rest).axpby(1, x, -1, rest);
    psi.copy_half(Parity::even, rest);
  }
  site_term(psi, chi, weight);
  if (twisted == nullptr) return;
  psi.copy_half(Parity::even, x);  // Y^+ i twist gamma_5 dT_ee X
  chi.fill(0);
  twisted->turn(left, y, Dagger::yes);
  chi.copy_half(Parity::even, left);
  site_term(psi, chi, weight);
}

/// X on even sites, D X on odd ones.
void FermionForce::add_squared(const SpinorField& x, const std::vector<double>& residues) {
  const HoppingTerm& hopping = hopping_of(fermion_->dirac());
  SpinorField odd = hopping.field(Subset::odd, x.rhs()), psi = hopping.field(Subset::full, x.rhs()), chi = psi.like();
  hopping.apply(odd, x, Parity::odd, Dagger::no);
  for (int k = 0; k < x.rhs(); ++k) {
    SpinorField one = odd.columns(k, 1);
    Blas(one).scale(residues[k], one, one);
  }
  psi.fill(0);
  chi.fill(0);
  psi.copy_half(Parity::even, x);
  chi.copy_half(Parity::odd, odd);
  hops(psi, chi, 1);
}

/// d log |det T| = Re tr T^-1 dT. Of a twisted mass T^-1 has a part A that is Hermitian, which alone counts.
void FermionForce::add_log_det(Parity parity, double flavours) {
  const HoppingTerm& hopping = hopping_of(fermion_->dirac());
  if (hopping.clover() == nullptr) return;
  const TermField& inverse = hopping.clover()->inverse();
  const double factor = flavours / 4 * hopping.slices() * inverse.scale();
  const LinkField &space = magnetic(), &time = *electric_;
  Arguments a = arguments_for(inverse.domain(), inverse.lanes());
  a.parity = int(parity);
  a.term = inverse.operand();
  a.out = space.operand();
  a.w = time.operand();
  a.a.re = factor * numbers_.at("csw_r") / numbers_.at("xi0");
  a.b.re = factor * numbers_.at("csw_t");
  Device& device = inverse.domain().device();
  device.run(find(device.kernels(), {.operation = "source_log_det", .precision = "double"}), a);
}

void FermionForce::add_log_det(double flavours) {
  const Reduction form = fermion_->parameters().reduction;
  if (form != Reduction::none) add_log_det(Parity::odd, flavours);
  if (form == Reduction::symmetric) add_log_det(Parity::even, flavours);
}

/// The planes xy, yz, zx of the first, whose source is that of xz with the other sign, and xt, yt, zt of the second.
void FermionForce::field_strengths() {
  constexpr int time = directions - 1;
  const Enclosure around(links_->domain(), {{1, 1, 1, 1}, true}, "the force of the clover term");
  const LinkField &u = around.read(*u_), &space = around.read(*magnetic_), &with_time = around.read(*electric_);
  const LinkField& z = around.write(*z_, true);
  for (int mu = 0; mu < time; ++mu) {
    const int nu = (mu + 1) % time;
    evaluate("force_clover", {u, space, z, mu < nu ? 1.0 : -1.0, LatticeDirection{mu}, LatticeDirection{nu}, z});
    evaluate("force_clover", {u, with_time, z, 1, LatticeDirection{mu}, LatticeDirection{time}, z});
  }
  around.written(*z_);
}

std::shared_ptr<LinkField> FermionForce::cleared() const {
  auto field = links_->scratch(links_->domain());
  field->fill(0);
  return field;
}

long long FermionForce::finish(LinkField& out, double step) {
  long long damped = 0;
  if (magnetic_) field_strengths();
  const StoutLinks& stout = fermion_->parameters().stout;
  if (by_fat_)
    damped = add_improved_force(*links_, links_->store(stout), fermion_->dirac().values(), *by_fat_, *by_long_, *z_);
  const auto& steps = links_->steps(stout);
  for (int n = stout.steps - 1; n >= 0; --n) stout_force(*links_, *steps[n], stout, *z_);
  evaluate("kick", {out, *z_, step, out});
  return damped;
}

}  // namespace quarksmith
