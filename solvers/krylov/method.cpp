#include "solvers/krylov/method.hpp"

#include <fmt/format.h>

#include <charconv>

#include "runtime/error.hpp"
#include "solvers/krylov/bicgstab.hpp"
#include "solvers/krylov/bicgstab_l.hpp"
#include "solvers/krylov/block_cg.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/cgne.hpp"
#include "solvers/krylov/gcr.hpp"
#include "solvers/krylov/mr.hpp"

namespace quarksmith {
namespace {

constexpr std::pair<const char*, Method> names[] = {{"auto", Method::automatic},
                                                    {"cg", Method::cg},
                                                    {"cgnr", Method::cg},
                                                    {"cgne", Method::cgne},
                                                    {"bicgstab", Method::bicgstab},
                                                    {"bicgstab-l", Method::bicgstab_l},
                                                    {"gcr", Method::gcr},
                                                    {"block-cg", Method::block_cg},
                                                    {"mr", Method::mr}};

constexpr int most_steps = 1000;

}  // namespace

Method method_of(const std::string& name) {
  std::string all;
  for (const auto& [known, method] : names) {
    if (name == known) return method;
    all += fmt::format("{}{}", all.empty() ? "" : method == Method::mr ? " or " : ", ", known);
  }
  throw UnknownName(fmt::format("solver '{}' is unknown; use {}", name, all));
}

const char* name_of(Method method) {
  if (method == Method::hermitian_cg) method = Method::cg;
  for (const auto& [name, known] : names)
    if (known == method) return name;
  return "unknown";
}

std::optional<InnerMethod> preconditioner_of(const std::string& text) {
  if (text == "none") return {};
  const std::size_t colon = text.find(':');
  InnerMethod inner;
  const char* end = text.data() + text.size();
  if (colon == std::string::npos || std::from_chars(text.data() + colon + 1, end, inner.steps).ptr != end ||
      colon + 1 == text.size())
    throw UsageError(
        fmt::format("preconditioner '{}' is neither none nor METHOD:STEPS nor schwarz-METHOD:STEPS, for example "
                    "mr:4 or schwarz-mr:4",
                    text));
  constexpr std::string_view prefix = "schwarz-";
  inner.schwarz = text.starts_with(prefix);
  const std::size_t begin = inner.schwarz ? prefix.size() : 0;
  inner.method = method_of(text.substr(begin, colon - begin));
  return inner;
}

void check(Method method, const MethodParameters& p) {
  if (p.restart < 1 || p.restart > MethodParameters::most_directions)
    throw UsageError(fmt::format("GCR with {} directions; use 1 to {}", p.restart, MethodParameters::most_directions));
  if (p.l < 1 || p.l > BiCGstabL::most_l)
    throw UsageError(fmt::format("BiCGstab(l) with l = {}; use 1 to {}", p.l, BiCGstabL::most_l));
  if (!(p.omega > 0 && p.omega < 2))
    throw UsageError(fmt::format("MR with omega = {}; use a number between 0 and 2", p.omega));
  if (!p.preconditioner) return;
  if (method != Method::gcr) throw UsageError("only gcr takes a preconditioner; use --solver gcr, or none");
  if (p.preconditioner->method == Method::automatic)
    throw UsageError("preconditioner 'auto': a preconditioner is one method; name it, for example mr:4");
  if (p.preconditioner->steps < 1 || p.preconditioner->steps > most_steps)
    throw UsageError(fmt::format("a preconditioner of {} steps; use 1 to {}", p.preconditioner->steps, most_steps));
}

std::unique_ptr<Recurrence> make_recurrence(Method method, const MethodParameters& p, const LinearOperator& a,
                                            const LinearOperator& inner, Scalars& scalars, int rhs) {
  switch (method) {
    case Method::cg:
    case Method::block_cg:
      return std::make_unique<ConjugateGradients>(a, scalars, rhs);
    case Method::hermitian_cg:
      return std::make_unique<ConjugateGradients>(a, scalars, rhs, CgForm::hermitian);
    case Method::cgne:
      return std::make_unique<CraigsMethod>(a, scalars, rhs);
    case Method::mr:
      return std::make_unique<MinimalResidual>(a, scalars, rhs, p.omega);
    case Method::automatic:
    case Method::bicgstab:
      return std::make_unique<BiCGstab>(a, scalars, rhs);
    case Method::bicgstab_l:
      return std::make_unique<BiCGstabL>(a, scalars, rhs, p.l);
    case Method::gcr:
      break;
  }
  std::unique_ptr<Preconditioner> preconditioner;
  if (p.preconditioner) preconditioner = std::make_unique<FixedSteps>(inner, *p.preconditioner, p, a.precision(), rhs);
  return std::make_unique<GeneralisedConjugateResiduals>(a, scalars, rhs, p.restart, std::move(preconditioner));
}

FieldCount fields_of(Method method, const MethodParameters& p) {
  switch (method) {
    case Method::cg:
    case Method::cgne:
    case Method::hermitian_cg:
      return {5};
    case Method::block_cg: {
      // Its outer fields, of double precision, count as four of half.
      const auto [inner, outer] = BlockConjugateGradients::fields();
      return {5 + inner + 4 * outer};
    }
    case Method::mr:
      return {3};
    case Method::automatic:
    case Method::bicgstab:
      return {6};
    case Method::bicgstab_l:
      return {2 * p.l + 4};
    case Method::gcr:
      break;
  }
  FieldCount count = {2 * p.restart + 2};
  if (p.preconditioner)
    count.preconditioner =
        fields_of(p.preconditioner->method, p).recurrence + (p.preconditioner->method == Method::cg ? 1 : 0);
  return count;
}

}  // namespace quarksmith
