#include "solvers/krylov/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/krylov/bicgstab.hpp"
#include "solvers/krylov/bicgstab_l.hpp"
#include "solvers/krylov/block_cg.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/cgne.hpp"
#include "solvers/krylov/gcr.hpp"
#include "solvers/krylov/mr.hpp"

namespace quarksmith {
namespace {

using Parameters = MethodParameters;

/// A method: its names, and what a right-hand side of it takes.
struct Row {
  Method method;
  std::array<std::string_view, 2> names;  ///< that users give; the second is another for the same
  int (*fields)(const Parameters&);       ///< spinor fields, those of a preconditioner left out
  std::unique_ptr<Recurrence> (*make)(const LinearOperator& a, const LinearOperator& inner, Scalars&, int rhs,
                                      const Parameters&);
};

template <class Class, auto... own>
std::unique_ptr<Recurrence> make(const LinearOperator& a, const LinearOperator&, Scalars& scalars, int rhs,
                                 const Parameters& p) {
  return std::make_unique<Class>(a, scalars, rhs, p.*own...);
}

template <CgForm form>
std::unique_ptr<Recurrence> make_cg(const LinearOperator& a, const LinearOperator&, Scalars& scalars, int rhs,
                                    const Parameters&) {
  return std::make_unique<ConjugateGradients>(a, scalars, rhs, form);
}

std::unique_ptr<Recurrence> make_gcr(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars, int rhs,
                                     const Parameters& p) {
  std::unique_ptr<Preconditioner> preconditioner;
  if (p.preconditioner) preconditioner = std::make_unique<FixedSteps>(inner, *p.preconditioner, p, a.precision(), rhs);
  return std::make_unique<GeneralisedConjugateResiduals>(a, scalars, rhs, p.restart, std::move(preconditioner));
}

template <int count>
int fields(const Parameters&) {
  return count;
}

/// Beside those of the CG that follows; its outer fields, of double precision, count as four of half.
int fields_of_block(const Parameters&) {
  const auto [inner, outer] = BlockConjugateGradients::fields();
  return 5 + inner + 4 * outer;
}

constexpr Row rows[] = {{Method::automatic, {"auto"}, fields<6>, make<BiCGstab>},
                        {Method::cg, {"cg", "cgnr"}, fields<5>, make_cg<CgForm::normal>},
                        {Method::cgne, {"cgne"}, fields<5>, make<CraigsMethod>},
                        {Method::bicgstab, {"bicgstab"}, fields<6>, make<BiCGstab>},
                        {Method::bicgstab_l,
                         {"bicgstab-l"},
                         [](const Parameters& p) { return 2 * p.l + 4; },
                         make<BiCGstabL, &Parameters::l>},
                        {Method::gcr, {"gcr"}, [](const Parameters& p) { return 2 * p.restart + 2; }, make_gcr},
                        {Method::block_cg, {"block-cg"}, fields_of_block, make_cg<CgForm::normal>},
                        {Method::mr, {"mr"}, fields<3>, make<MinimalResidual, &Parameters::omega>},
                        {Method::hermitian_cg, {}, fields<5>, make_cg<CgForm::hermitian>}};

constexpr int most_steps = 1000;

const Row& row_of(Method method) {
  return *std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.method == method; });
}

}  // namespace

Method method_of(const std::string& name) {
  for (const Row& row : rows)
    if (!name.empty() && std::count(row.names.begin(), row.names.end(), name) > 0) return row.method;
  unknown_name("solver", name, method_names());
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> all;
  for (const Row& row : rows)
    for (const std::string_view name : row.names)
      if (!name.empty()) all.push_back(name);
  return all;
}

const char* name_of(Method method) {
  return row_of(method == Method::hermitian_cg ? Method::cg : method).names[0].data();
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
  return row_of(method).make(a, inner, scalars, rhs, p);
}

FieldCount fields_of(Method method, const MethodParameters& p) {
  FieldCount count = {row_of(method).fields(p)};
  if (method == Method::gcr && p.preconditioner)
    count.preconditioner =
        row_of(p.preconditioner->method).fields(p) + (p.preconditioner->method == Method::cg ? 1 : 0);
  return count;
}

}  // namespace quarksmith
