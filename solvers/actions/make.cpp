#include "solvers/actions/make.hpp"

#include "solvers/actions/domain_wall.hpp"
#include "solvers/actions/formula_action.hpp"
#include "solvers/actions/staggered.hpp"

namespace quarksmith {
namespace {

DomainWallParameters domain_wall_of(const ActionSettings& s) {
  const ActionInfo& info = s.values.info();
  auto p =
      DomainWallParameters::uniform(-s.values(info.wall), s.values["m5"], s.slices, s.values(info.b), s.values(info.c));
  if (const auto b = s.of_slices.find("b5"); b != s.of_slices.end()) p.b = b->second;
  if (const auto c = s.of_slices.find("c5"); c != s.of_slices.end()) p.c = c->second;
  p.boundary = s.boundary;
  return p;
}

StaggeredParameters staggered_of(const ActionSettings& s) {
  StaggeredParameters p;
  p.mass = s.values["mass"];
  p.boundary = s.boundary;
  const bool asqtad = s.values.info().name == "asqtad";
  p.kind = asqtad ? StaggeredParameters::Kind::asqtad : StaggeredParameters::Kind::hisq;
  (asqtad ? p.u0 : p.naik_epsilon) = s.values[asqtad ? "u0" : "naik_epsilon"];
  return p;
}

}  // namespace

std::shared_ptr<const Action> make_action(const ActionSettings& s) {
  const ActionInfo& info = s.values.info();
  if (!info.chain.empty()) return std::make_shared<DomainWallAction>(domain_wall_of(s));
  if (FormulaAction::serves(info)) return std::make_shared<FormulaAction>(s.values, s.boundary);
  if (StatedAction::serves(info)) return std::make_shared<StatedAction>(s.values, s.boundary, s.source, s.sink);
  return std::make_shared<StaggeredAction>(staggered_of(s));
}

}  // namespace quarksmith
