// Jacobi smearing.
#include "runtime/fields/expression.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith::smearings {
namespace {

void smear_jacobi(const ChoiceValues& v, const LinkField& links, SpinorField& psi, const std::function<void()>& look) {
  const double kappa = v[0].real, norm = v[2].real;
  SpinorField source = psi.like();
  source.copy_from(psi);
  repeat(v[1].whole, psi, look, [&](const SpinorField& from, SpinorField& to) {
    evaluate("jacobi_step", {links, from, source, kappa}, {to});
  });
  if (norm != 1) Blas(psi).scale(1 / norm, psi, psi);
}

}  // namespace

extern constinit const SmearingKind jacobi = {
    .name = "jacobi",
    .formula =
        "N times chi = psi + kappa h chi from chi = psi, then chi / norm (C. R. Allton et al., Phys. Rev. D 47 "
        "(1993) 5128)",
    .parameters = {{{.name = "kappa", .lower = -1e4, .upper = 1e4},
                    smearing_steps,
                    {.name = "norm", .lower = 1e-100, .upper = 1e100, .size = true, .fallback = 1}}},
    .smear = smear_jacobi};

}  // namespace quarksmith::smearings
