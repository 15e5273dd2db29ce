#include "solvers/actions/improved_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/ranks/bordered.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"

namespace quarksmith {
namespace {

/// Sum over all projected links of |W W^+ - 1|^2 up to which each of them counts as unitary.
constexpr double unitary_limit = 1e-16;

LinkField empty_like(const LinkField& links) { return {links.domain_pointer(), links.precision(), links.storage()}; }

ExpressionArgument argument(const LinkOperand& operand, const ActionValues& action, const LinkField& read,
                            const std::vector<LinkField>& made) {
  switch (operand.kind) {
    case LinkOperand::Kind::field:
      return operand.n == 0 ? read : made[operand.n - 1];
    case LinkOperand::Kind::number:
      return action(action.info().link_numbers[operand.n]);
    default:
      return LatticeDirection{operand.n};
  }
}

/// What a stage makes on a lattice that is not split.
std::vector<LinkField> make_whole(const LinkStage& stage, const ActionValues& action, const LinkField& links) {
  std::vector<LinkField> made;
  for (int n = 1; n < stage.fields; ++n) made.push_back(empty_like(links));
  for (const LinkStep& step : stage.steps) {
    std::vector<ExpressionArgument> arguments;
    for (const LinkOperand& o : step.operands)
      if (o.kind != LinkOperand::Kind::none) arguments.push_back(argument(o, action, links, made));
    evaluate(step.expression, arguments);
  }
  links.domain().device().synchronize();
  made.erase(made.begin() + (stage.project ? 1 : 2), made.end());
  return made;
}

/// What a stage makes of a field: sums of paths that are projected next, or fat and long links. Collective.
std::vector<LinkField> make_links(const LinkStage& stage, const ActionValues& action, const LinkField& links) {
  const BorderedPart* part =  // of a rank's part, with a border
      links.domain().bordered({stage.reach, true}, links.precision().element_bytes, "improved links");
  if (part == nullptr) return make_whole(stage, action, links);
  std::vector<LinkField> made;
  for (const LinkField& box : make_whole(stage, action, part->read(links, true))) {
    part->cut(stored_sites(box), stored_sites(made.emplace_back(empty_like(links))));
    made.back().changed();
  }
  return made;
}

}  // namespace

double naik_epsilon(double mass) {
  const double m2 = mass * mass;
  return m2 * (-27.0 / 40 + m2 * (327.0 / 1120 + m2 * (-15607.0 / 268800 + m2 * (-73697.0 / 3942400))));
}

/// They stand in its launches; the number of links of a staple follows from what it is a staple of.
StapleCoefficients coefficients_of(const LinkStage& stage, const ActionValues& action) {
  StapleCoefficients c;
  for (const LinkStep& step : stage.steps) {
    const auto number = std::find_if(step.operands.begin(), step.operands.end(),
                                     [](const LinkOperand& o) { return o.kind == LinkOperand::Kind::number; });
    const double weight = action(action.info().link_numbers[number->n]);
    if (step.expression == "one_link")
      c.one = weight;
    else if (step.expression == "staple")
      (step.operands[1].n == 0 ? c.three : c.five) = weight;
    else if (step.expression == "last_staple")
      c.seven = weight;
    else if (step.expression == "lepage")
      c.lepage = weight;
    else if (step.expression == "naik")
      c.naik = weight;
    else
      throw MissingKernel(
          fmt::format("links of {}: {} makes paths without a weight", action.info().name, step.expression));
  }
  return c;
}

ImprovedLinkFields improved_link_fields(const ActionValues& action, const LinkField& links) {
  const ActionInfo& info = action.info();
  if (info.link_stages.empty())
    throw UsageError(fmt::format("action {} does not say how its links are made; use one that does", info.name));
  std::vector<ProjectedLinks> stages;
  for (const LinkStage& stage : info.link_stages) {
    std::vector<LinkField> made = make_links(stage, action, stages.empty() ? links : stages.back().links);
    if (!stage.project) return {std::move(made[0]), std::move(made[1]), std::move(stages)};
    LinkField projected = project_u3(made[0]);
    stages.push_back({std::move(made[0]), std::move(projected)});
  }
  throw UsageError(fmt::format("action {}: its last links are projected", info.name));
}

std::string links_made_by(const ActionValues& action) {
  std::string text(action.info().name);
  for (const ActionNumber number : action.info().link_numbers) text += fmt::format(" {:.17g}", action(number));
  return text;
}

const ImprovedLinkFields& improved_link_fields(const ActionValues& action, const LinkStore& links) {
  return links.derived<ImprovedLinkFields>(links_made_by(action) + " on the device",
                                           [&] { return improved_link_fields(action, links.plain()); });
}

ImprovedLinks improved_links(const ActionValues& action, const HostGauge& gauge, const DomainPointer& domain) {
  const ImprovedLinkFields links =
      improved_link_fields(action, upload(gauge, domain, find_precision("double"), find_storage("r18")));
  ImprovedLinks result{download(links.fat), download(links.longs)};
  result.fat.phase = result.longs.phase = gauge.phase;
  return result;
}

LinkField project_u3(const LinkField& links) {
  const Domain& domain = links.domain();
  const Kernel& kernel =
      find(domain.device().kernels(),
           {.operation = "project_u3", .precision = links.precision().name, .links = links.storage().name});
  LinkField result = empty_like(links);
  double deviation = 0;
  for (int parity = 0; parity < 2; ++parity) {
    Arguments a = arguments_for(domain, links.lanes());
    a.parity = parity;
    a.links = links.operand();
    a.out = result.operand();
    deviation += reduce(domain, kernel, a)[0];
  }
  if (!(deviation < unitary_limit))
    throw Error(
        fmt::format("projection on U(3): the results are off it by {:.1e} (sum of squares): a link of the field "
                    "is singular; the configuration is not one that smearing was meant for",
                    deviation));
  return result;
}

}  // namespace quarksmith
