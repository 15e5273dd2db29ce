#include "solvers/krylov/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {

namespace methods {
extern const MethodKind automatic, bicgstab, bicgstab_l, block_cg, cg, cgne, eigcg, gcr, hermitian_cg, mr, multigrid;
}
constinit const Method Method::automatic(methods::automatic);
constinit const Method Method::bicgstab(methods::bicgstab);
constinit const Method Method::bicgstab_l(methods::bicgstab_l);
constinit const Method Method::block_cg(methods::block_cg);
constinit const Method Method::cg(methods::cg);
constinit const Method Method::cgne(methods::cgne);
constinit const Method Method::eigcg(methods::eigcg);
constinit const Method Method::gcr(methods::gcr);
constinit const Method Method::hermitian_cg(methods::hermitian_cg);
constinit const Method Method::mr(methods::mr);
constinit const Method Method::multigrid(methods::multigrid);

Method method_of(const std::string& name) {
  for (const MethodKind* kind : listed<MethodKind>())
    if (kind->offered && !name.empty() && std::count(kind->names.begin(), kind->names.end(), name) > 0)
      return Method(*kind);
  unknown_name("solver", name, method_names());
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> all;
  for (const MethodKind* kind : listed<MethodKind>())
    for (const std::string_view name : kind->names)
      if (kind->offered && !name.empty()) all.push_back(name);
  return all;
}

const char* name_of(Method method) { return method->names[0].data(); }

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

namespace {

constexpr int most_steps = 1000;

void check(const MethodOption& option, const MethodParameters& p) {
  const MethodNumber& n = *option.number;
  const double value = n.whole != nullptr ? p.*n.whole : p.*n.real;
  if (n.whole != nullptr ? value >= n.lower && value <= n.upper : value > n.lower && value < n.upper) return;
  const std::vector<std::string_view> names(option.methods.begin(), option.methods.end());
  throw UsageError(fmt::format("solver {} with {} = {}; use {} {} and {}", one_of(names), n.option.substr(2), value,
                               n.whole != nullptr ? "a whole number between" : "a number between", n.lower, n.upper));
}

}  // namespace

std::vector<MethodOption> method_options() {
  std::vector<MethodOption> all;
  for (const MethodKind* kind : listed<MethodKind>())
    for (const MethodNumber& n : kind->numbers) {
      if (n.option.empty()) continue;
      auto found =
          std::find_if(all.begin(), all.end(), [&](const MethodOption& o) { return o.number->option == n.option; });
      if (found == all.end()) found = all.insert(found, {&n, {}});
      found->methods.emplace_back(kind->names[0]);
    }
  return all;
}

void check(Method method, const MethodParameters& p) {
  for (const MethodOption& option : method_options()) check(option, p);
  if (method->check != nullptr) method->check(p);
  if (!p.preconditioner) return;
  if (!method->preconditioned) throw UsageError("only gcr takes a preconditioner; use --solver gcr, or none");
  if (p.preconditioner->method == Method::automatic)
    throw UsageError("preconditioner 'auto': a preconditioner is one method; name it, for example mr:4");
  if (p.preconditioner->method->one_by_one)
    throw UsageError(
        fmt::format("preconditioner '{}': what it learns from one right-hand side is of no use to a few "
                    "steps; use another, for example mr:4",
                    name_of(p.preconditioner->method)));
  if (p.preconditioner->steps < 1 || p.preconditioner->steps > most_steps)
    throw UsageError(fmt::format("a preconditioner of {} steps; use 1 to {}", p.preconditioner->steps, most_steps));
}

std::unique_ptr<Recurrence> make_recurrence(Method method, const MethodParameters& p, const LinearOperator& a,
                                            const LinearOperator& inner, Scalars& scalars, int rhs) {
  return method->make(a, inner, scalars, rhs, p);
}

FieldCount fields_of(Method method, const MethodParameters& p) {
  FieldCount count = {method->fields(p)};
  if (method->preconditioned && p.preconditioner)
    count.preconditioner = p.preconditioner->method->fields(p) + (p.preconditioner->method == Method::cg ? 1 : 0);
  return count;
}

}  // namespace quarksmith
