#include "solvers/hmc/fermion_force.hpp"

#include <utility>

#include "runtime/error.hpp"
#include "solvers/actions/formula.hpp"
#include "solvers/actions/stored_term.hpp"
#include "solvers/hmc/path_force.hpp"

namespace quarksmith {

/// The forces of operators that make the same fields of the links.
class FermionForce::Part {
 public:
  Part(const ActionFields& fields, const LinkField& u, LinkField& z, const ScratchFields& scratch)
      : fields_(&fields), u_(u), z_(z), scratch_(scratch), back_(fields.program(), fields.in_double(), scratch) {}

  /// Switches to an operator with these fields and parameters.
  void go_on_with(const ActionFields& fields, const BoundaryPhases& boundary) {
    std::vector<double> numbers;
    for (const SiteBlock& block : fields.info().blocks) numbers.push_back(fields.values()(block.number));
    numbers.push_back(fields.values()(fields.info().exponential));
    if (numbers != numbers_) take_site_term();  // with the numbers for which it was added up
    numbers_ = std::move(numbers);
    fields_ = &fields;
    settings_ = {boundary, fields.links().basis().name};
  }

  void add_hops(const SpinorField& psi, const SpinorField& chi, double weight) {
    const SpinorField x = psi.by_slice(), y = chi.by_slice();
    if (!info().fields[std::size_t(fields_->hops(1))].moves) return;
    const ExpressionSettings settings = with_basis(info().has_basis);
    std::vector<ExpressionArgument> inputs;
    std::vector<ExpressionOutput> outputs;
    std::string kernel = "derivative_";
    if (info().turns && info().reach == 1) {
      const int field = fields_->hops(1);
      LinkField& force = field == 0 ? z_ : turned(field);
      kernel = "force_";
      inputs = {link(field), x, y, force};
      outputs = {force};
    } else {
      inputs = {x, y};
      for (const int length : info().reach > 1 ? std::vector{1, info().reach} : std::vector{1}) {
        inputs.emplace_back(back_.by(fields_->hops(length)));
        outputs.emplace_back(back_.by(fields_->hops(length)));
      }
    }
    for (const int backward : {0, 1})
      for (int mu = 0; mu < directions; ++mu) {
        const ActionNumber& number = info().weight[mu][backward];
        const bool apart = (info().directed >> mu & 1) != 0;
        if (number && (backward == 0 || apart)) inputs.emplace_back(weight * info().h * fields_->values()(number));
      }
    evaluate(kernel + std::string(info().hopping), inputs, outputs, settings);
  }

  void add_site_term(const SpinorField& psi, const SpinorField& chi, double weight) {
    if (info().blocks.empty()) return;
    const SpinorField x = psi.by_slice(), y = chi.by_slice();
    const bool first = !site_term_;
    if (first) site_term_.emplace(u_.domain_pointer(), find_precision("double"));
    TermField& sum = *site_term_;
    const Domain& domain = sum.domain();
    const Kernel& kernel =
        find(domain.device().kernels(), {.operation = "add_outer", .precision = "double", .basis = settings_.basis});
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(domain, sum.lanes());
      a.parity = int(parity);
      a.columns = x.rhs();
      a.in = x.operand(parity);
      a.x = y.operand(parity);
      a.out = sum.operand(parity);
      if (!first) a.y = a.out;
      a.a.re = weight;
      domain.device().run(kernel, a);
    }
  }

  /// dS = -factor Re tr T^-1 dT; of T^-1 with a twisted mass the Hermitian part alone counts.
  void add_log_det(const StoredTerm& term, Parity parity, double factor) {
    TermField& sum = site_term();
    const Domain& domain = sum.domain();
    Arguments a = arguments_for(domain, sum.lanes());
    a.parity = int(parity);
    a.term = term.inverse().operand(parity);
    a.out = sum.operand(parity);
    a.a.re = -factor / 2 * term.inverse().scale();
    domain.device().run(find(domain.device().kernels(), {.operation = "add_term", .precision = "double"}), a);
  }

  void add_formula(const SpinorField& psi, const SpinorField& chi, double weight) {
    const SpinorField x = psi.by_slice(), y = chi.by_slice();
    if (!info().path_steps.empty()) return add_path_force(info(), u_, x, y, weight, z_, with_basis(info().has_basis));
    const auto all = info().fields;
    if (std::none_of(all.begin(), all.end(), [](const ActionField& f) { return f.moves && !f.group.empty(); })) return;
    const NamedArguments named(*fields_, find_precision("double"), u_.storage().name);
    const std::string operation = "force_" + std::string(info().own_kernels());
    const ExpressionSettings settings = with_basis(info().has_basis);
    const Kernel& kernel =
        find(u_.domain().device().kernels(), {.operation = operation,
                                              .precision = "double",
                                              .links = all[0].moves && !all[0].group.empty() ? u_.storage().name : "",
                                              .basis = settings.basis,
                                              .spins = info().spins,
                                              .colours = u_.colours(),
                                              .expression = true});
    std::vector<ExpressionArgument> inputs;
    std::vector<ExpressionOutput> outputs;
    // Names of the kernel beside those of the statement: p, weight, by_FIELD, out, FIELD_out
    // (operators/quark_forces.py), which end with underscores where the statement has these.
    const SpinorField* next = &x;
    for (const ExpressionParameter& p : parameters_of(kernel)) {
      const std::string_view name = p.name.substr(0, p.name.find_last_not_of('_') + 1);
      if (p.is_output() && p.kind == "algebra")
        outputs.emplace_back(z_);
      else if (p.is_output())
        outputs.emplace_back(back_.by(field(name.substr(0, name.size() - 4))));
      else if (const auto known = named.find(p.name))
        inputs.push_back(*known);
      else if (p.is_spinor())
        inputs.emplace_back(*std::exchange(next, &y));
      else if (p.kind == "algebra")
        inputs.emplace_back(z_);
      else if (p.is_number())
        inputs.emplace_back(weight);
      else
        inputs.emplace_back(back_.by(field(name.substr(3))));
    }
    evaluate(operation, inputs, outputs, settings);
  }

  /// Adds all of it to the force on the links of a configuration.
  long long finish() {
    take_site_term();
    for (auto& [field, force] : turned_) {
      const auto derivative = scratch_.field(u_.domain_pointer(), u_.colours());
      evaluate("derivative_of_force", {link(field), *force}, {*derivative});
      evaluate("add_matrices", {back_.by(field), *derivative, 1}, {back_.by(field)});
    }
    turned_.clear();
    const long long damped = back_.back(z_);
    if (back_.has(0) && info().fields[0].moves) evaluate("force_link", {u_, back_.by(0), z_}, {z_});
    return damped;
  }

 private:
  const ActionInfo& info() const { return fields_->info(); }
  const LinkField& link(int n) const { return *fields_->in_double()[std::size_t(n)]; }
  int field(std::string_view name) const {
    const auto all = info().fields;
    return int(std::find_if(all.begin(), all.end(), [&](const ActionField& f) { return f.name == name; }) -
               all.begin());
  }
  ExpressionSettings with_basis(bool there) const {
    ExpressionSettings settings = settings_;
    if (!there) settings.basis = "";
    return settings;
  }
  /// The force on links that are made, as on those of a configuration.
  LinkField& turned(int field) {
    auto& force = turned_[field];
    if (force == nullptr) force = scratch_.zero_momenta(u_.domain_pointer(), u_.colours());
    return *force;
  }
  TermField& site_term() {
    if (!site_term_) site_term_.emplace(u_.domain_pointer(), find_precision("double")).fill(0);
    return *site_term_;
  }

  /// Whether all matrices of a field are in blocks, so that the kernel of their derivatives sets each.
  bool are_in_blocks(int field) const {
    unsigned found = 0;
    for (const SiteBlock& block : info().blocks)
      if (block.field == field) found |= 1u << block.direction;
    return found == info().fields[std::size_t(field)].slots;
  }

  /// Turns the derivative by the site term into those by the matrices of its blocks.
  void take_site_term() {
    if (!site_term_) return;
    const Domain& domain = site_term_->domain();
    Device& device = domain.device();
    if (info().exponential) take_exponential();
    const std::vector<int> fields = fields_of_blocks(info());
    std::vector<std::shared_ptr<LinkField>> apart(fields.size());
    std::vector<const LinkField*> operands;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const bool first = info().fields[std::size_t(fields[k])].moves && !back_.has(fields[k]);
      const bool whole = are_in_blocks(fields[k]);
      if (!first)
        apart[k] = whole ? scratch_.field(u_.domain_pointer(), u_.colours())
                         : scratch_.zero(u_.domain_pointer(), u_.colours());
      operands.push_back(!first ? apart[k].get() : whole ? &back_.set_by(fields[k]) : &back_.by(fields[k]));
    }
    Arguments a = arguments_for(domain, site_term_->lanes());
    set_blocks(a, fields_->values(), operands);
    a.term = site_term_->operand();
    device.run(find(device.kernels(), {.operation = "source_" + std::string(info().blocks_of), .precision = "double"}),
               a);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (!info().fields[std::size_t(fields[k])].moves) continue;
      LinkField& sum = back_.by(fields[k]);
      if (!apart[k]) {
        sum.changed();
        continue;
      }
      apart[k]->changed();
      evaluate("add_matrices", {sum, *apart[k], 1}, {sum});
    }
    site_term_.reset();
  }
  /// Turns the derivative by d exp(A) + c into that by A.
  void take_exponential() {
    const Domain& domain = site_term_->domain();
    const StoredTerm term(fields_->values(), fields_->in_double(), find_precision("double"));
    const Kernel& kernel = find(domain.device().kernels(), {.operation = "exp_term_adjoint", .precision = "double"});
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(domain, site_term_->lanes());
      a.parity = int(parity);
      a.term = term.exponent().operand(parity);
      a.x = a.out = site_term_->operand(parity);
      a.a.re = fields_->values()(info().exponential);
      domain.device().run(kernel, a);
    }
  }

  const ActionFields* fields_;
  const LinkField& u_;
  LinkField& z_;
  const ScratchFields& scratch_;
  LinkForce back_;
  ExpressionSettings settings_;
  std::vector<double> numbers_;  ///< of the site term
  std::optional<TermField> site_term_;
  std::map<int, std::shared_ptr<LinkField>> turned_;
};

FermionForce::FermionForce(const FermionOperator& fermion, const EvolvingLinks& links)
    : links_(&links),
      smearing_(fermion.parameters().smearing),
      u_(links.store(smearing_).plain()),
      z_(links.scratch().zero_momenta(links.domain(), u_->colours())) {
  go_on_with(fermion);
}
FermionForce::~FermionForce() = default;

void FermionForce::go_on_with(const FermionOperator& fermion) {
  if (fermion_ != nullptr && !alike(fermion, *fermion_))
    throw UsageError("forces of operators on links that are smeared in different ways; take one for each");
  fermion_ = &fermion;
  const ActionFields& fields = fermion.dirac().fields();
  auto& part = parts_[fields.program().text()];
  if (part == nullptr) part = std::make_unique<Part>(fields, *u_, *z_, links_->scratch());
  part_ = part.get();
  part_->go_on_with(fields, fermion.parameters().action.setting().boundary);
}

void FermionForce::add_hops(const SpinorField& psi, const SpinorField& chi, double weight) {
  part_->add_hops(psi, chi, weight);
}
void FermionForce::add_site_term(const SpinorField& psi, const SpinorField& chi, double weight) {
  part_->add_site_term(psi, chi, weight);
}
void FermionForce::add_log_det(const StoredTerm& term, Parity parity, double factor) {
  part_->add_log_det(term, parity, factor);
}
void FermionForce::add_formula(const SpinorField& psi, const SpinorField& chi, double weight) {
  part_->add_formula(psi, chi, weight);
}

void FermionForce::add_log_det(Parity parity, double flavours) {
  const StoredTerm* term = fermion_->dirac().stored_term();
  if (term != nullptr && !fermion_->dirac().values().info().blocks.empty())
    add_log_det(*term, parity, flavours * fermion_->dirac().matrix().slices());
}

void FermionForce::add_log_det(double flavours) {
  const EvenOddForm form = fermion_->parameters().even_odd_form;
  if (form != EvenOddForm::none) add_log_det(Parity::odd, flavours);
  if (form == EvenOddForm::symmetric) add_log_det(Parity::even, flavours);
}

void FermionForce::take_through_smearing() {
  const auto& steps = links_->steps(smearing_);
  for (std::size_t n = steps.size(); n-- > 0;) {
    const LinkProgram program = program_of(smearing_);
    const int made = smeared_field(program.info());
    LinkForce back(program, steps[n], links_->scratch());
    evaluate("derivative_of_force", {*steps[n][std::size_t(made)], *z_}, {back.by(made)});
    z_->fill(0);
    back.back(*z_);
    evaluate("force_link", {*steps[n][0], back.by(0), *z_}, {*z_});
  }
}

long long FermionForce::finish(LinkField& out, double step) {
  long long damped = 0;
  for (auto& [name, part] : parts_) damped += part->finish();
  if (smearing_.representation != Representation::fundamental) {
    auto force = links_->scratch().zero_momenta(links_->domain(), links_->field().colours());
    take_back(*z_, smearing_.representation, *force);
    z_ = std::move(force);
  }
  take_through_smearing();
  evaluate("kick", {out, *z_, step}, {out});
  return damped;
}

}  // namespace quarksmith
