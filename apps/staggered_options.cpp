#include "apps/staggered_options.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith::apps {

bool is_staggered(const std::string& action) { return action == "staggered" || action == "asqtad" || action == "hisq"; }

void choose_storage(SolveSettings& settings, const Action& action, const CLI::App& command) {
  if (action.reach() > 1 && command.count("--reconstruct") == 0) settings.links = "r13";
}

ActionChoice ActionOptions::choose_staggered(const Phases& phases) const {
  using Kind = StaggeredParameters::Kind;
  if (masses.empty()) throw UsageError(fmt::format("--action {} needs --mass M[,M2,...]", action));
  StaggeredParameters p;
  p.kind = action == "staggered" ? Kind::thin : action == "asqtad" ? Kind::asqtad : Kind::hisq;
  p.mass = masses[0];
  p.u0 = u0;
  p.naik_epsilon = naik_epsilon;
  p.boundary = phases;
  ActionChoice choice{std::make_shared<StaggeredAction>(p), p.boundary, {{"action", action}}};
  std::string text;
  for (const double m : masses) text += fmt::format("{}{:.17g}", text.empty() ? "" : ",", m);
  choice.provenance.emplace("mass", text);
  if (p.kind == Kind::asqtad) choice.provenance.emplace("u0", fmt::format("{:.17g}", u0));
  if (p.kind == Kind::hisq) choice.provenance.emplace("naik_epsilon", fmt::format("{:.17g}", naik_epsilon));
  choice.solver = default_solver();
  choice.provenance.emplace("boundary", text_of(p.boundary));
  return choice;
}

}  // namespace quarksmith::apps
