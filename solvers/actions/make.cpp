#include "solvers/actions/make.hpp"

#include "solvers/actions/domain_wall.hpp"
#include "solvers/actions/formula_action.hpp"
#include "solvers/actions/staggered.hpp"

namespace quarksmith {
namespace {

SliceValues slice_values(const ActionSettings& s) {
  std::map<std::string, std::vector<SliceValue>> given = s.of_slices;
  for (std::size_t n = 0; n < s.values.all().size(); ++n)
    given.insert({std::string(s.values.info().parameters[n].name), {s.values.all()[n]}});
  return {s.values.info(), s.slices, given};
}

}  // namespace

std::shared_ptr<const Action> make_action(const ActionSettings& s) {
  const ActionInfo& info = s.values.info();
  if (!info.chain.empty()) return std::make_shared<DomainWallAction>(slice_values(s), s.boundary);
  if (FormulaAction::serves(info)) return std::make_shared<FormulaAction>(s.values, s.boundary);
  if (!info.link_stages.empty()) return std::make_shared<StaggeredAction>(s.values, s.boundary);
  return std::make_shared<StatedAction>(s.values, s.boundary, s.source, s.sink);
}

}  // namespace quarksmith
