// Derivatives in space, for operators with derivatives.
#include "runtime/fields/expression.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith::smearings {
namespace {

void take_derivative(const ChoiceValues& v, const LinkField& links, SpinorField& psi,
                     const std::function<void()>& look) {
  repeat(1, psi, look, [&](const SpinorField& from, SpinorField& to) {
    evaluate("covariant_derivative", {links, from, LatticeDirection{static_cast<int>(v[0].whole)}}, {to});
  });
}

}  // namespace

extern constinit const SmearingKind derivative = {
    .name = "derivative",
    .formula = "(U_mu(x) psi(x+mu) - U_mu(x-mu)^+ psi(x-mu))/2, the symmetric covariant derivative",
    .parameters = {{{.name = "mu", .words = "x|y|z"}}},
    .smear = take_derivative,
    .antihermitian = true};

}  // namespace quarksmith::smearings
