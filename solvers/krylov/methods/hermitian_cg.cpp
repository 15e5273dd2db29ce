// Conjugate gradients of a Hermitian A, and of A + sigma.
#include "solvers/krylov/cg.hpp"

namespace quarksmith::methods {

extern constinit const MethodKind hermitian_cg = {
    .names = {"cg"}, .offered = false, .fields = field_count<5>, .make = make_cg<CgForm::hermitian>};

}  // namespace quarksmith::methods
