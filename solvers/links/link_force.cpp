#include "solvers/links/link_force.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <bit>
#include <optional>
#include <set>

#include "runtime/fields/enclosure.hpp"

namespace quarksmith {
namespace {

/// Most operands of a sum: where several outputs of one kernel belong to the same field, each has its own memory.
constexpr int most_operands = 8;

}  // namespace

/// One stage backwards. Derivatives are kept as memory times a factor, so that what a term of a sum passes on is the
/// derivative by the sum as it stands, times the weight of the term.
class LinkForce::Stage {
 public:
  Stage(LinkForce& force, const LinkStage& stage, LinkField& z)
      : force_(force),
        program_(force.program_),
        fields_(program_.info().fields),
        stage_(stage),
        around_(force.fields_[0]->domain_pointer(), depth(), fmt::format("the force of {}", program_.info().name)),
        z_(z) {}

  long long run() {
    const auto launches = stage_.launches;
    for (left_ = launches.size(); left_-- > 0;) {
      const LinkLaunch& launch = launches[left_];
      if (moves(launch)) go_back(launch);
      for (const int field : {launch.kept, launch.field})
        if (field >= 0 && !fields_[field].kept && !made_before(field)) values_.erase(field), by_.erase(field);
    }
    give_back();
    return damped_;
  }

 private:
  struct Derivative {
    std::shared_ptr<LinkField> memory;  // null: that of a field of the lattice
    LinkField* field = nullptr;
    double factor = 1;
  };

  /// Derivatives by fields that are made on the way are needed in the border, too. Where all go from what the stage has
  /// made to the momenta at once, kernels say how far they read.
  BorderDepth depth() const {
    BorderDepth all;
    for (const LinkLaunch& launch : stage_.launches) {
      if (!moves(launch)) continue;
      if (!kicks_alone(launch)) {
        all = {stage_.reach, true};
        for (int& sites : all.sites) sites *= 2;
        return all;
      }
      all = deeper(all, depth_of(parameters_of(force_.fields_[0]->domain().device(), force_of(launch))));
    }
    return all;
  }
  bool kicks_alone(const LinkLaunch& launch) const {
    const auto known = [&](int field) { return fields_[field].kept || fields_[field].origin != Origin::made; };
    for (int k = 0; k < launch.operands.size(); ++k)
      if (!known(launch.operands[k])) return false;
    return launch.kicks && std::ranges::none_of(stage_.launches, [&](const LinkLaunch& other) {
             return other.reads(launch.field) || other.reads(launch.kept);
           });
  }
  static std::string force_of(const LinkLaunch& launch) { return "force_" + std::string(launch.core); }
  bool moves(const LinkLaunch& launch) const {
    for (int k = 0; k < launch.operands.size(); ++k)
      if (fields_[launch.operands[k]].moves) return true;
    return false;
  }
  bool is_made_here(int field) const {
    return std::any_of(stage_.launches.begin(), stage_.launches.end(),
                       [&](const LinkLaunch& l) { return l.writes(field); });
  }
  /// Whether launches before the present one make it, of whose way back its value or derivative is part.
  bool made_before(int field) const {
    return std::any_of(stage_.launches.begin(), stage_.launches.begin() + long(left_),
                       [&](const LinkLaunch& l) { return l.writes(field); });
  }
  /// Whether no launch before the present one adds to the derivative by a field.
  bool is_complete(int field) const {
    return std::none_of(stage_.launches.begin(), stage_.launches.begin() + long(left_),
                        [&](const LinkLaunch& l) { return l.reads(field); });
  }

  /// The value of a field; one that is made on the way is made again.
  const LinkField& value(int field) {
    if (fields_[field].kept || fields_[field].origin != Origin::made) return around_.read(*force_.fields_[field]);
    if (const auto known = values_.find(field); known != values_.end()) return *known->second;
    auto made = force_.scratch_.field(around_.domain(), force_.colours());
    for (const LinkLaunch& launch : stage_.launches) {
      if (!launch.writes(field)) continue;
      const auto operands = values_of(launch);
      if (launch.kept == field) {
        program_.run_core(launch, operands, *made);
      } else if (launch.kept >= 0) {
        const auto core = force_.scratch_.field(around_.domain(), force_.colours());
        program_.run(launch, operands, *made, core.get());
      } else {
        program_.run(launch, operands, *made, nullptr);
      }
    }
    return *values_.emplace(field, std::move(made)).first->second;
  }
  std::vector<const LinkField*> values_of(const LinkLaunch& launch) {
    std::vector<const LinkField*> operands;
    for (int k = 0; k < launch.operands.size(); ++k) operands.push_back(&value(launch.operands[k]));
    return operands;
  }

  /// The derivatives by a field so far, one for each operand of a launch that it may be; empty: none.
  std::vector<std::optional<Derivative>>& derivatives(int field) {
    auto& found = by_[field];
    if (found.empty()) {
      found.resize(most_operands);
      if (is_made_here(field) && force_.has(field)) found[0] = with_border(field);
    }
    return found;
  }
  /// The derivative by a result of this stage, as other stages have contributed to it.
  Derivative with_border(int field) {
    LinkField& by = force_.by(field);
    if (around_.domain() == by.domain_pointer()) return {nullptr, &by, 1};
    if (LinkField* inside = around_.taken_in(by)) return {nullptr, inside, 1};
    auto memory = force_.scratch_.field(around_.domain(), force_.colours());
    around_.read(by, *memory);
    LinkField* copy = memory.get();
    return {std::move(memory), copy, 1};
  }
  /// The derivative that is accumulated on the lattice itself.
  Derivative of_lattice(int field) { return {nullptr, &around_.write(force_.by(field), true), 1}; }
  Derivative zero() {
    auto memory = force_.scratch_.zero(around_.domain(), force_.colours());
    LinkField* field = memory.get();
    return {std::move(memory), field, 1};
  }
  /// The whole derivative by a field; none if nothing depends on it.
  std::optional<Derivative> total(int field) {
    auto& all = derivatives(field);
    for (std::size_t k = 1; k < all.size(); ++k) {
      if (!all[k]) continue;
      if (!all[0])
        all[0] = std::move(all[k]);
      else
        evaluate("add_matrices", {*all[0]->field, *all[k]->field, all[k]->factor / all[0]->factor}, {*all[0]->field});
      all[k].reset();
    }
    return all[0];
  }

  void go_back(const LinkLaunch& launch) {
    const double weight = program_.number(launch.weight).real();
    std::optional<Derivative> core;  // the derivative by the core beside what the sum passes on
    if (launch.kept >= 0) core = total(launch.kept);
    const auto sum = total(launch.field);
    if (sum && !has_sum(launch, core)) pass_on(launch, {sum->memory, sum->field, weight * sum->factor});
    if (core) pass_on(launch, *core);
    if (launch.projects && fields_[launch.operands[0]].kept)
      damped_ += std::llround(evaluate("damped_projections", {*force_.fields_[launch.operands[0]]})[0]);
  }
  /// Whether the derivative by a core was begun with what the sum passes on.
  bool has_sum(const LinkLaunch& launch, const std::optional<Derivative>& core) const {
    return core && begun_.contains(launch.kept);
  }

  /// Adds what g by a core gives by its operands.
  void pass_on(const LinkLaunch& launch, const Derivative& g) {
    if (g.factor == 0) return;
    const auto operands = values_of(launch);
    if (launch.kicks) return kick(launch, *operands[0], g);
    std::vector<ExpressionArgument> inputs;
    std::vector<ExpressionOutput> outputs;
    for (const LinkField* operand : operands) inputs.emplace_back(*operand);
    inputs.emplace_back(*g.field);
    std::vector<double> weights;
    std::vector<std::shared_ptr<LinkField>> not_kept;
    std::map<int, std::size_t> used;
    for (int k = 0; k < launch.operands.size(); ++k) {
      const int field = launch.operands[k];
      if (fields_[field].kind == "scalars" || fields_[field].kind == "phases") continue;
      if (!fields_[field].moves) {  // the kernel gives it, nobody wants it
        not_kept.push_back(force_.scratch_.field(around_.domain(), force_.colours()));
        inputs.emplace_back(*not_kept.back());
        outputs.emplace_back(*not_kept.back());
        weights.push_back(0);
        continue;
      }
      std::optional<Derivative>& to = derivatives(field)[used[field]++];
      if (!to) to = begin(launch, field, used[field] - 1);
      inputs.emplace_back(*to->field);
      weights.push_back(g.factor / to->factor);
      if (begun_.contains(field) && to->memory == nullptr) {  // the sum's own derivative stays as it is
        to->memory = force_.scratch_.field(around_.domain(), force_.colours());
        to->field = to->memory.get();
      }
      outputs.emplace_back(*to->field);
    }
    for (const ExpressionArgument& n : program_.numbers_of(launch)) inputs.push_back(n);
    for (const double w : weights) inputs.emplace_back(w);
    for (const ExpressionArgument& d : LinkProgram::directions_of(launch)) inputs.push_back(d);
    evaluate("back_" + std::string(launch.core), inputs, outputs);
  }

  /// Where a derivative begins: of a matrix that is also a term of a sum, whose derivative is known, with that times
  /// the weight of the term; else with zero, or on the lattice.
  Derivative begin(const LinkLaunch& launch, int field, std::size_t number) {
    if (number == 0 && !is_made_here(field)) return of_lattice(field);
    if (number == 0 && is_one_matrix(field) && launch.direction >= 0) {
      for (const LinkLaunch& l : stage_.launches) {
        if (l.kept != field || !is_complete(l.field)) continue;
        const auto sum = total(l.field);
        const double weight = program_.number(l.weight).real();
        if (!sum || weight * sum->factor == 0) break;
        begun_.insert(field);
        return {nullptr, sum->field, weight * sum->factor};
      }
    }
    return zero();
  }
  bool is_one_matrix(int field) const { return std::has_single_bit(fields_[field].slots); }

  void kick(const LinkLaunch& launch, const LinkField& u, const Derivative& g) {
    const std::string operation = force_of(launch);
    const auto& parameters = parameters_of(u.domain().device(), operation);
    const bool others_beyond = std::ranges::all_of(
        parameters, [](const auto& p) { return !p.is_field() || p.kind == "algebra" || p.reaches_beyond(); });
    LinkField& z = others_beyond ? around_.add_to(z_) : around_.write(z_, true);
    std::vector<ExpressionArgument> inputs = {u, *g.field, z};
    for (const ExpressionArgument& n : program_.numbers_of(launch)) inputs.push_back(n);
    inputs.emplace_back(g.factor);
    for (const ExpressionArgument& d : LinkProgram::directions_of(launch)) inputs.push_back(d);
    const std::vector<ExpressionOutput> outputs = {z};
    evaluate(operation, inputs, outputs);
    others_beyond ? around_.added_to(z_) : around_.written(z_);
  }

  /// Adds contributions to fields of other stages where these keep them.
  void give_back() {
    for (const auto& [field, all] : by_) {
      if (is_made_here(field)) continue;
      total(field);
      around_.written(force_.by(field));
    }
  }

  LinkForce& force_;
  const LinkProgram& program_;
  std::span<const ActionField> fields_;
  const LinkStage& stage_;
  Enclosure around_;
  LinkField& z_;
  std::size_t left_ = 0;
  std::map<int, std::shared_ptr<LinkField>> values_;
  std::map<int, std::vector<std::optional<Derivative>>> by_;
  std::set<int> begun_;
  long long damped_ = 0;
};

LinkForce::LinkForce(const LinkProgram& program, const StatementFields& fields, const ScratchFields& scratch)
    : program_(program), fields_(fields), scratch_(scratch), by_(program.info().fields.size()) {}

LinkField& LinkForce::by(int field) {
  if (by_[field] == nullptr) by_[field] = scratch_.zero(fields_[0]->domain_pointer(), colours());
  return *by_[field];
}

LinkField& LinkForce::set_by(int field) {
  return *(by_[field] = scratch_.field(fields_[0]->domain_pointer(), colours()));
}

long long LinkForce::back(LinkField& z) {
  long long damped = 0;
  const auto stages = program_.info().stages;
  for (std::size_t n = stages.size(); n-- > 0;) damped += Stage(*this, stages[n], z).run();
  return damped;
}

}  // namespace quarksmith
