// BiCGstab; where it breaks down or stagnates CG on the normal equations from its best iterate; multigrid where that
// pays (solvers/solve/automatic.hpp).
#include "solvers/krylov/method.hpp"

namespace quarksmith::methods {
namespace {

std::unique_ptr<Recurrence> make_automatic(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars,
                                           int rhs, const MethodParameters& p) {
  return Method::bicgstab->make(a, inner, scalars, rhs, p);
}

}  // namespace

extern constinit const MethodKind automatic = {.names = {"auto"},
                                               .source =
                                                   "`bicgstab`, and `cg` where that fails; `multigrid` where it "
                                                   "pays",
                                               .storage = "6",
                                               .applications = "2",
                                               .use = "the default (Failures, howto-multigrid.md)",
                                               .fields = field_count<6>,
                                               .make = make_automatic};

}  // namespace quarksmith::methods
