#include "runtime/fields/hopping.hpp"

namespace quarksmith {

LinkGhosts HoppingLinks::ghosts() const {
  LinkGhosts all;
  for (int mu = 0; mu < directions; ++mu) {
    all.near[mu] = links->ghosts(mu);
    if (long_links != nullptr) all.far[mu] = long_links->ghosts(mu);
  }
  return all;
}

void apply_hopping(const Domain& domain, const Kernel& kernel, const Arguments& arguments, const HoppingLinks& links) {
  domain.require_reach(kernel);
  if (domain.lattice().ranks() == 1) return domain.device().run(kernel, arguments);
  domain.halos().apply(kernel, arguments, links.ghosts());
}

}  // namespace quarksmith
