#include "solvers/multigrid/noise.hpp"

#include "runtime/fields/site_random.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

void draw(SpinorField& v, const BasisInfo& basis, unsigned long long counter) {
  SpinorField noise(v.domain_pointer(), find_precision("double"), v.subset(), 1, v.components(), v.slices());
  for (int n = 0; n < v.rhs(); ++n) {
    draw_signs(noise, {.seed = 1, .counter = counter + static_cast<unsigned long long>(n)}, basis);
    SpinorField one = v.columns(n, 1);
    &v.precision() == &noise.precision() ? one.copy_from(noise) : convert(noise, one);
  }
}

}  // namespace quarksmith
