#include "runtime/fields/expression.hpp"
#include "runtime/error.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {

double GaugeMonomial::action(const EvolvingLinks& links) {
  // Loops a site: a plaquette of each plane, 12 rectangles, 16 chairs.
  const double sites = static_cast<double>(links.domain()->lattice().global_sites());
  const double trace = loops_.constant ? 3 * sites : 0;
  const std::vector<double> planes = evaluate("plane_sums", {links.field()});
  double sum = 0;
  for (std::size_t n = 0; n < planes.size(); ++n) sum += loops_.planes[n] * (trace - planes[n]);
  if (loops_.rectangle != 0) sum += loops_.rectangle * (12 * trace - evaluate("rectangle_sum", {links.field()})[0]);
  if (loops_.chair != 0) sum += loops_.chair * (16 * trace - evaluate("chair_sum", {links.field()})[0]);
  return sum / 3;
}

void GaugeMonomial::force(const EvolvingLinks& links, LinkField& out) {
  if (loops_.rectangle != 0 || loops_.chair != 0)
    throw MissingKernel(name() + ": this build has no force of rectangles and chairs");
  const auto& c = loops_.planes;
  evaluate("plane_force", {links.field(), c[0], c[1], c[2], c[3], c[4], c[5], out});
}

}  // namespace quarksmith
