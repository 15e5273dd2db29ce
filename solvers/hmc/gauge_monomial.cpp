#include <functional>

#include "runtime/fields/expression.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {
namespace {

using Term = std::function<void(std::string_view name, std::vector<ExpressionArgument> numbers)>;

/// Calls f for each plane with plaquettes and rectangles, and for each cube with twisted loops: the name of the loops,
/// their coefficients, their directions.
void for_each_term(const GaugeLoops& loops, const Term& f) {
  std::size_t plane = 0;
  for (int nu = 1; nu < directions; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      const double c = loops.planes[plane++];
      if (loops.rectangle == 0)
        f("plaquette", {c, LatticeDirection{mu}, LatticeDirection{nu}});
      else
        f("rectangle", {c, loops.rectangle, LatticeDirection{mu}, LatticeDirection{nu}});
      for (int rho = nu + 1; rho < directions && loops.chair != 0; ++rho)
        f("chair", {loops.chair, LatticeDirection{mu}, LatticeDirection{nu}, LatticeDirection{rho}});
    }
}

}  // namespace

double GaugeMonomial::action(const EvolvingLinks& links) {
  double sum = 0;
  for_each_term(loops_, [&](std::string_view name, std::vector<ExpressionArgument> arguments) {
    arguments.insert(arguments.begin(), links.field());
    sum += evaluate(std::string(name) + "_action", arguments)[0];
  });
  if (!loops_.constant) return sum;
  // Loops a site: a plaquette of each plane, 12 rectangles, 16 chairs.
  double constant = 12 * loops_.rectangle + 16 * loops_.chair;
  for (const double c : loops_.planes) constant += c;
  return sum + constant * static_cast<double>(links.domain()->lattice().global_sites());
}

void GaugeMonomial::force(const EvolvingLinks& links, LinkField& out) {
  links.clear(out);
  for_each_term(loops_, [&](std::string_view name, std::vector<ExpressionArgument> arguments) {
    arguments.insert(arguments.begin(), {links.field(), out});
    arguments.emplace_back(out);
    evaluate("force_" + std::string(name), arguments);
  });
}

}  // namespace quarksmith
