#include "solvers/links/link_program.hpp"

#include <fmt/format.h>

#include <map>

#include "runtime/error.hpp"
#include "runtime/fields/enclosure.hpp"

namespace quarksmith {
namespace {

/// Sum over all projected links of |W W^+ - 1|^2 up to which each of them counts as unitary.
constexpr double unitary_limit = 1e-16;

/// Name of the kernel that evaluates a launch.
std::string operation_of(const LinkLaunch& launch) {
  const char* how = launch.kept >= 0 ? "keep_" : launch.how == LinkLaunch::sets ? "set_" : "add_";
  return how + std::string(launch.core);
}

/// The fields between the steps of a stage, in memory for as long as launches use them.
class Workspace {
 public:
  Workspace(const LinkStage& stage, const StatementFields& given, const ActionInfo& info, const DomainPointer& home,
            const Enclosure& around, const ScratchFields& scratch)
      : stage_(stage), given_(given), info_(info), home_(home), around_(around), scratch_(scratch) {}

  const LinkField& read(int field) const {
    const auto made = made_.find(field);
    return made != made_.end() ? *made->second : around_.read(*given_[field]);
  }
  LinkField& write(int field) {
    auto& made = made_[field];
    if (made == nullptr) made = scratch_.field(is_at_home(field) ? home_ : around_.domain(), given_[0]->colours());
    return *made;
  }
  /// Releases what no launch after number n uses.
  void release(std::size_t n) {
    std::erase_if(made_, [&](const auto& entry) {
      if (info_.fields[entry.first].kept) return false;
      for (std::size_t later = n + 1; later < stage_.launches.size(); ++later) {
        const LinkLaunch& l = stage_.launches[later];
        if (l.writes(entry.first) || l.reads(entry.first)) return false;
      }
      return true;
    });
  }
  /// Kept fields, on the lattice itself.
  void take(StatementFields& fields) {
    for (auto& [field, made] : made_) {
      if (made->domain_pointer() == home_) {
        fields[field] = std::move(made);
        continue;
      }
      auto whole = scratch_.field(home_, given_[0]->colours());
      around_.cut(*made, *whole);
      fields[field] = std::move(whole);
    }
    made_.clear();
  }

 private:
  /// Whether a field is written on the lattice itself: no launch reads it, and those that write it read all else beyond
  /// their sites.
  bool is_at_home(int field) const {
    if (!info_.fields[field].kept || !around_.keeps_sites_at_home()) return false;
    return std::ranges::all_of(stage_.launches, [&](const LinkLaunch& l) {
      if (l.reads(field)) return false;
      return !l.writes(field) || (l.kept < 0 && reads_beyond(l));
    });
  }
  bool reads_beyond(const LinkLaunch& launch) const {
    const auto& parameters = parameters_of(home_->device(), operation_of(launch));
    return std::all_of(parameters.begin(), parameters.begin() + launch.operands.size(),
                       [](const ExpressionParameter& p) { return p.reaches_beyond(); });
  }

  const LinkStage& stage_;
  const StatementFields& given_;
  const ActionInfo& info_;
  const DomainPointer& home_;
  const Enclosure& around_;
  const ScratchFields& scratch_;
  std::map<int, std::shared_ptr<LinkField>> made_;
};

void require_unitary(const LinkField& links) {
  const double deviation = evaluate("off_unitarity", {links})[0];
  if (!(deviation < unitary_limit))
    throw Error(
        fmt::format("projection on U(3): the results are off it by {:.1e} (sum of squares): a link of the field "
                    "is singular; the configuration is not one that smearing was meant for",
                    deviation));
}

}  // namespace

std::string LinkProgram::text() const {
  std::string text = std::string(info().name) + std::string(info().digest);  // of what is kept with links
  for (const ActionNumber& n : info().numbers) {
    const Complex64 z = values_.complex(n);
    text += fmt::format(" {:.17g}", z.real());
    if (z.imag() != 0) text += fmt::format(":{:.17g}", z.imag());
  }
  return text;
}

void LinkProgram::make(StatementFields& fields, const ScratchFields& scratch) const {
  for (const LinkStage& stage : info().stages) make_stage(stage, fields, scratch);
}

void LinkProgram::make_stage(const LinkStage& stage, StatementFields& fields, const ScratchFields& scratch) const {
  const DomainPointer home = fields[stage.launches[0].operands[0]]->domain_pointer();
  const Enclosure around(home, {stage.reach, true}, fmt::format("links of {}", info().name));
  Workspace work(stage, fields, info(), home, around, scratch);
  for (std::size_t n = 0; n < stage.launches.size(); ++n) {
    const LinkLaunch& launch = stage.launches[n];
    std::vector<const LinkField*> operands;
    for (int k = 0; k < launch.operands.size(); ++k) operands.push_back(&work.read(launch.operands[k]));
    run(launch, operands, work.write(launch.field), launch.kept < 0 ? nullptr : &work.write(launch.kept));
    if (launch.projects && launch.direction < 0) require_unitary(work.read(launch.field));
    work.release(n);
  }
  work.take(fields);
}

std::vector<ExpressionArgument> LinkProgram::numbers_of(const LinkLaunch& launch) const {
  std::vector<ExpressionArgument> numbers;
  for (int k = 0; k < launch.numbers.size(); ++k) numbers.emplace_back(number(launch.numbers[k]));
  return numbers;
}

std::vector<ExpressionArgument> LinkProgram::directions_of(const LinkLaunch& launch) {
  std::vector<ExpressionArgument> along;
  for (int k = 0; k < launch.directions.size(); ++k) along.emplace_back(LatticeDirection{launch.directions[k]});
  return along;
}

void LinkProgram::run(const LinkLaunch& launch, const std::vector<const LinkField*>& operands, LinkField& target,
                      LinkField* kept) const {
  evaluate_as(operation_of(launch), launch, operands, number(launch.weight).real(), target, kept);
}

void LinkProgram::run_core(const LinkLaunch& launch, const std::vector<const LinkField*>& operands,
                           LinkField& out) const {
  evaluate_as("set_" + std::string(launch.core), launch, operands, 1, out, nullptr);
}

void LinkProgram::evaluate_as(const std::string& operation, const LinkLaunch& launch,
                              const std::vector<const LinkField*>& operands, double weight, LinkField& target,
                              LinkField* kept) const {
  std::vector<ExpressionArgument> inputs;
  for (const LinkField* operand : operands) inputs.emplace_back(*operand);
  if (!operation.starts_with("set_")) inputs.emplace_back(target);
  for (const ExpressionArgument& n : numbers_of(launch)) inputs.push_back(n);
  inputs.emplace_back(weight);
  for (const ExpressionArgument& d : directions_of(launch)) inputs.push_back(d);
  std::vector<ExpressionOutput> outputs;
  if (kept != nullptr) outputs.emplace_back(*kept);
  outputs.emplace_back(target);
  evaluate(operation, inputs, outputs);
}

}  // namespace quarksmith
