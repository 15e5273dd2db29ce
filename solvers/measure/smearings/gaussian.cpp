// Gaussian smearing, by hopping kernels.
#include "runtime/fields/hopping.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith::smearings {
namespace {

/// out = a in + b h(in) by the hopping kernel, which knows the boundaries of parts.
void hop_in_space(const Kernel& kernel, const LinkField& links, double alpha, double beta, const SpinorField& in,
                  SpinorField& out) {
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(in.domain(), in.lanes(), in.rhs());
    a.parity = int(parity);
    a.out = out.operand(parity);
    a.x = in.operand(parity);
    a.in = in.operand(opposite(parity));
    a.links = links.operand();
    a.a.re = alpha;
    a.b.re = beta;
    a.hops = hops_of(in.domain().lattice(), {1, 1, 1, 1}, {1, 1, 1, 1});
    apply_hopping(in.domain(), kernel, a, links);
  }
}

void smear_gaussian(const ChoiceValues& v, const LinkField& links, SpinorField& psi,
                    const std::function<void()>& look) {
  const Kernel& laplace = find(links.domain().device().kernels(), {.operation = "laplace3",
                                                                   .precision = links.precision().name,
                                                                   .links = links.storage().name,
                                                                   .epilogue = "axpby"});
  const double width = v[0].real, step = width * width / (4 * v[1].real);
  repeat(v[1].whole, psi, look, [&](const SpinorField& from, SpinorField& to) {
    hop_in_space(laplace, links, 1 - 6 * step, step, from, to);  // Laplace = h - 6
  });
}

}  // namespace

extern constinit const SmearingKind gaussian = {
    .name = "gaussian",
    .formula =
        "(1 + w^2/(4N) Laplace)^N psi, Laplace = h - 6 (S. Guesken et al., Phys. Lett. B 227 (1989) 266; "
        "Chroma's GAUGE_INV_GAUSSIAN)",
    .parameters = {{{.name = "w", .lower = 1e-6, .upper = 1e4}, smearing_steps}},
    .smear = smear_gaussian};

}  // namespace quarksmith::smearings
