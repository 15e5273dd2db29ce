#include "solvers/measure/smearing.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/ranks/halo.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

/// out = a x + b h(in) by the hopping kernel, which knows the boundaries of parts.
void hop(const Kernel& kernel, const LinkField& links, SpinorField& out, double alpha, const SpinorField& x,
         double beta, const SpinorField& in) {
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(in.domain(), in.lanes(), in.rhs());
    a.parity = int(parity);
    a.out = out.operand(parity);
    a.x = x.operand(parity);
    a.in = in.operand(opposite(parity));
    a.links = links.operand();
    a.a.re = alpha;
    a.b.re = beta;
    a.hops = hops_of(in.domain().lattice(), {1, 1, 1, 1}, {1, 1, 1, 1});
    apply_hopping(in.domain(), kernel, a, links);
  }
}

const Kernel& laplace(const LinkField& links) {
  return find(links.domain().device().kernels(), {.operation = "laplace3",
                                                  .precision = links.precision().name,
                                                  .links = links.storage().name,
                                                  .epilogue = "axpby"});
}

}  // namespace

GaussianSmearing::GaussianSmearing(std::shared_ptr<const LinkField> links, double width, int steps)
    : links_(std::move(links)), width_(width), steps_(steps) {
  if (!(width > 0) || steps < 1)
    throw UsageError(fmt::format("Gaussian smearing of width {} in {} steps; both must be positive", width, steps));
  kernel_ = &laplace(*links_);
}

void GaussianSmearing::apply(SpinorField& psi, SpinorField& work) const {
  const double step = width_ * width_ / (4 * steps_);
  SpinorField *from = &psi, *to = &work;
  for (int n = 0; n < steps_; ++n) {
    hop(*kernel_, *links_, *to, 1 - 6 * step, *from, step, *from);  // Laplace = h - 6
    std::swap(from, to);
  }
  if (from != &psi) psi.copy_from(*from);
}

QuarkSmearing quark_smearing_of(const std::string& text) {
  const UsageError unknown(
      fmt::format("smearing '{}' is unknown; use gaussian:w,N, jacobi:kappa,N[,norm] or wuppertal:alpha,N", text));
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw unknown;
  const std::string kind = text.substr(0, colon);
  std::vector<double> numbers;
  for (const char *at = text.data() + colon + 1, *end = text.data() + text.size();; ++at) {
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (rest != end && *rest != ',')) throw unknown;
    if ((at = rest) == end) break;
  }
  QuarkSmearing s;
  if (kind == "gaussian") s.kind = QuarkSmearing::Kind::gaussian;
  if (kind == "jacobi") s.kind = QuarkSmearing::Kind::jacobi;
  if (kind == "wuppertal") s.kind = QuarkSmearing::Kind::wuppertal;
  const bool with_norm = s.kind == QuarkSmearing::Kind::jacobi && numbers.size() == 3;
  if (s.kind == QuarkSmearing::Kind::none || (numbers.size() != 2 && !with_norm)) throw unknown;
  s.strength = numbers[0];
  if (with_norm) s.norm = numbers[2];
  constexpr double most_steps = 1e6;
  if (!(std::abs(numbers[1]) <= most_steps) || numbers[1] != std::floor(numbers[1])) throw unknown;
  s.steps = static_cast<int>(numbers[1]);
  if (s.kind == QuarkSmearing::Kind::gaussian && (s.steps < 1 || !(s.strength > 0)))
    throw UsageError(
        fmt::format("smearing '{}': width {} in {} steps; both must be positive", text, s.strength, s.steps));
  if (s.steps < 1) throw UsageError(fmt::format("smearing '{}': {} steps; use at least one", text, s.steps));
  constexpr double most_strength = 1e4, most_norm = 1e100;
  if (!(std::abs(s.strength) <= most_strength))
    throw UsageError(
        fmt::format("smearing '{}': {} is not between -{} and {}", text, s.strength, most_strength, most_strength));
  if (s.kind == QuarkSmearing::Kind::wuppertal && s.strength < 0)
    throw UsageError(fmt::format("smearing '{}': alpha = {}; use 0 or more", text, s.strength));
  if (!(std::abs(s.norm) <= most_norm && std::abs(s.norm) >= 1 / most_norm))
    throw UsageError(fmt::format("smearing '{}': its norm is {}; use a number of size {} to {}", text, s.norm,
                                 1 / most_norm, most_norm));
  return s;
}

namespace {

void jacobi_step(const LinkField& u, const SpinorField& from, const SpinorField& source, double kappa,
                 SpinorField& to) {
  evaluate("jacobi_step", {u, from, source, kappa, to});
}
void wuppertal_step(const LinkField& u, const SpinorField& from, double alpha, SpinorField& to) {
  evaluate("wuppertal_step", {u, from, alpha, 1 / (1 + 6 * alpha), to});
}

}  // namespace

void smear(const QuarkSmearing& how, const std::shared_ptr<const LinkField>& links, SpinorField& psi) {
  if (how.kind == QuarkSmearing::Kind::none) return;
  SpinorField work = psi.like();
  if (how.kind == QuarkSmearing::Kind::gaussian)
    return GaussianSmearing(links, how.strength, how.steps).apply(psi, work);
  SpinorField *from = &psi, *to = &work;
  const bool jacobi = how.kind == QuarkSmearing::Kind::jacobi;
  std::optional<SpinorField> source;
  if (jacobi) source.emplace(psi.like()).copy_from(psi);
  for (int n = 0; n < how.steps; ++n) {
    if (jacobi)
      jacobi_step(*links, *from, *source, how.strength, *to);
    else
      wuppertal_step(*links, *from, how.strength, *to);
    std::swap(from, to);
  }
  if (from != &psi) psi.copy_from(*from);
  if (how.norm != 1) Blas(psi).scale(1 / how.norm, psi, psi);
}

}  // namespace quarksmith
