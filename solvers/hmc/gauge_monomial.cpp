#include "runtime/fields/expression.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {

/// The expression of the simplest form that has these loops: `plaquette`, `rectangle`, `symanzik`; its numbers.
std::pair<std::string, std::vector<double>> GaugeMonomial::form() const {
  const auto& [planes, rectangle, chair, constant] = loops_;
  if (rectangle == 0 && chair == 0) return {"plaquette", {planes.begin(), planes.end()}};
  if (chair == 0) return {"rectangle", {planes[0], rectangle}};
  return {"symanzik", {planes[0], rectangle, chair}};
}

double GaugeMonomial::action(const EvolvingLinks& links) {
  const auto [name, numbers] = form();
  std::vector<ExpressionArgument> arguments = {links.field()};
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  const double sum = evaluate(name + "_action", arguments)[0];
  if (!loops_.constant) return sum;
  // Loops a site: a plaquette of each plane, 12 rectangles, 16 chairs.
  double constant = 12 * loops_.rectangle + 16 * loops_.chair;
  for (const double c : loops_.planes) constant += c;
  return sum + constant * static_cast<double>(links.domain()->lattice().global_sites());
}

void GaugeMonomial::force(const EvolvingLinks& links, LinkField& out) {
  links.clear(out);
  const auto [name, numbers] = form();
  std::vector<ExpressionArgument> arguments = {links.field(), out};
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  arguments.emplace_back(out);
  evaluate("force_" + name, arguments);
}

}  // namespace quarksmith
