#include "python/expressions.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "python/values.hpp"
#include "runs/action.hpp"
#include "runs/bounds.hpp"
#include "runs/session.hpp"
#include "runtime/action_info.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/on_demand.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/momenta.hpp"

namespace quarksmith::python {
namespace {

bool is_propagator(const std::string& kind) { return kind.ends_with("propagator"); }

int direction_of(nb::handle given, const std::string& name) {
  const nb::object value = plain(given);
  if (nb::isinstance<nb::int_>(value)) return whole<int>(value, name.c_str());
  const std::string text = nb::cast<std::string>(nb::str(value));
  const auto mu = LatticeDirection::named(text);
  if (!mu) throw UsageError(fmt::format("{}={}; use x, y, z or t, or 0 to 3", name, text));
  return mu->mu;
}

int gamma_of(nb::handle given, const std::string& name) {
  const nb::object value = plain(given);
  if (nb::isinstance<nb::int_>(value)) return whole<int>(value, name.c_str());
  const std::string text = nb::cast<std::string>(nb::str(value));
  if (const auto number = meson_number(text)) return *number;
  throw UsageError(fmt::format("{}={}; use one of {}", name, text, fmt::join(meson_names(), ", ")));
}

/// The fields and numbers of a call, kept while it lasts.
class Call {
 public:
  /// \param kinds of the inputs, as ExpressionParameter has them.
  Call(std::string expression, const std::vector<std::string>& names, const std::vector<std::string>& kinds,
       const nb::list& inputs, const nb::list& outputs, const std::string& boundary, bool has_basis)
      : expression_(std::move(expression)),
        basis_(std::ranges::any_of(kinds, is_propagator) ? &find_basis("degrand_rossi") : &usual_basis()) {
    if (has_basis) settings_.basis = basis_->name;
    for (std::size_t n = 0; n < kinds.size(); ++n) add(names[n], kinds[n], inputs[n]);
    for (const nb::handle field : outputs) write(field);
    take_boundary(boundary, inputs);
  }

  std::vector<double> operator()() const { return evaluate(expression_, inputs_, outputs_, settings_); }
  std::vector<Complex64> by_time(const MomentumPhases& phases) const {
    return momentum_sums(site_sums(expression_, inputs_, outputs_, settings_), phases);
  }
  Device& device() const { return domain_->device(); }
  const DomainPointer& domain() const { return domain_; }
  /// Right-hand sides.
  int rhs() const { return rhs_; }

 private:
  void add(const std::string& name, const std::string& kind, nb::handle value) {
    if (kind == "real" || kind == "complex") {
      inputs_.emplace_back(nb::cast<std::complex<double>>(value));
    } else if (kind == "direction") {
      inputs_.emplace_back(LatticeDirection{direction_of(value, name)});
    } else if (kind == "gamma") {
      inputs_.emplace_back(GammaProduct{gamma_of(value, name)});
    } else if (nb::isinstance<SpinorObject>(value)) {
      const auto& f = nb::cast<const SpinorObject&>(value);
      seen(f.field.domain_pointer(), is_propagator(kind) ? 1 : f.field.rhs());
      if (f.basis == basis_ || f.field.spins() != 4) {
        inputs_.emplace_back(f.field);
      } else {  // turned to the basis of the kernel
        SpinorObject& turned = turned_.emplace_back(SpinorObject{f.field.like(), basis_});
        move_columns(f, turned);
        inputs_.emplace_back(turned.field);
      }
    } else {
      const LinkField& u = links_of(value, name);
      seen(u.domain_pointer(), 1);
      inputs_.emplace_back(u);
    }
  }
  void write(nb::handle value) {
    if (nb::isinstance<SpinorObject>(value)) {
      auto& f = nb::cast<SpinorObject&>(value);
      if (f.field.spins() == 4) f.basis = basis_;
      seen(f.field.domain_pointer(), f.field.rhs());
      outputs_.emplace_back(f.field);
    } else {
      outputs_.emplace_back(links_of(value, "out"));
    }
  }
  static LinkField& links_of(nb::handle value, const std::string& name) {
    if (nb::isinstance<MomentumObject>(value)) return nb::cast<MomentumObject&>(value).momenta;
    if (nb::isinstance<GaugeObject>(value)) return nb::cast<GaugeObject&>(value).links;
    throw UsageError(fmt::format("{} is {}, and no field", name,
                                 nb::cast<std::string>(nb::str(nb::handle(value.type()).attr("__name__")))));
  }
  void seen(const DomainPointer& domain, int rhs) {
    if (domain_ == nullptr) domain_ = domain;
    rhs_ = std::max(rhs_, rhs);
  }
  /// As solves take them: those that were given, or that the links have from a file, else antiperiodic ones.
  void take_boundary(const std::string& boundary, const nb::list& inputs) {
    std::array<Complex64, directions> phases = runs::boundary_phases(boundary.empty() ? "antiperiodic" : boundary);
    for (std::size_t n = 0; boundary.empty() && n < inputs.size(); ++n)
      if (nb::isinstance<GaugeObject>(inputs[n])) {
        const auto& u = nb::cast<const GaugeObject&>(inputs[n]);
        if (u.phase != std::array<Complex64, directions>{1, 1, 1, 1}) phases = u.phase;
      }
    settings_.boundary = phases;
  }

  std::string expression_;
  const BasisInfo* basis_;
  ExpressionSettings settings_;
  DomainPointer domain_;
  int rhs_ = 1;
  std::deque<SpinorObject> turned_;
  std::vector<ExpressionArgument> inputs_;
  std::vector<ExpressionOutput> outputs_;
};

template <class... More, class Result>
auto calling(Result result) {
  return [result](const std::string& expression, const std::vector<std::string>& names,
                  const std::vector<std::string>& kinds, const nb::list& inputs, const nb::list& outputs,
                  const std::string& boundary, bool has_basis, const More&... more) {
    const Call call(expression, names, kinds, inputs, outputs, boundary, has_basis);
    const Busy busy;
    return result(call, more...);
  };
}

/// Seconds of a call, sites times right-hand sides, and bounds of the device as JSON.
std::tuple<double, double, std::string, std::string> timed(const Call& call) {
  constexpr double budget = 0.2;
  runs::Session().require_one_rank("bench");
  const double seconds = runs::time_of(call.device(), [&](int) { call(); }, budget);
  const auto bounds = runs::bounds_of(call.domain()->device_pointer(), budget);
  return {seconds, double(call.domain()->lattice().sites()) * call.rhs(), bounds.json().dump(), bounds.text()};
}

/// The generator in this process, as a compiler of kernels.
void compile_with_python(nb::callable compile) {
  // Kept for ever: kernels may be asked for until the process ends.
  auto* const kept = new nb::callable(std::move(compile));
  compile_with([kept](const std::vector<std::string>& rows, std::string_view set) -> std::optional<OnDemand> {
    const nb::gil_scoped_acquire gil;
    const nb::object made = (*kept)(rows, std::string(set));
    if (made.is_none()) return {};
    if (nb::isinstance<nb::str>(made)) return OnDemand{{}, nb::cast<std::string>(made)};
    OnDemand modules;
    for (const std::string& file : nb::cast<std::vector<std::string>>(made)) modules.modules.emplace_back(file);
    return modules;
  });
}

}  // namespace

void bind_expressions(nb::module_& m) {
#define QUARKSMITH_CALL                                                                            \
  "(expression: str, names: collections.abc.Sequence[str], kinds: collections.abc.Sequence[str], " \
  "inputs: list[typing.Any], outputs: list[typing.Any], boundary: str, has_basis: bool"
  m.def("evaluate", calling([](const Call& call) { return call(); }),
        nb::sig("def evaluate" QUARKSMITH_CALL ") -> list[float]"), "Evaluates an expression; returns its sums.");
  m.def("time_expression", calling(timed),
        nb::sig("def time_expression" QUARKSMITH_CALL ") -> tuple[float, float, str, str]"),
        "Seconds, sites times right-hand sides, bounds as JSON and as text.");
  using Momenta = std::vector<Momentum>;
  m.def("evaluate_by_time", calling<Momenta>([](const Call& call, const Momenta& momenta) {
          const std::vector<Complex64> all = call.by_time({momenta});
          return std::vector<std::complex<double>>(all.begin(), all.end());
        }),
        nb::sig("def evaluate_by_time" QUARKSMITH_CALL
                ", momenta: collections.abc.Sequence[tuple[int, int, int]]) -> list[complex]"),
        "Its sums over space with exp(i p.x): right-hand side, t, momentum, sum.");
#undef QUARKSMITH_CALL
  m.def("use_kernels", &use_kernels, nb::arg("file"), "Kernels of a library that was compiled for this build.");
  m.def("add_actions", &add_actions, nb::arg("file"), "Actions of a library that was compiled for this build.");
  m.def(
      "compile_with", &compile_with_python,
      nb::sig("def compile_with(compile: collections.abc.Callable[[list[str], str], list[str] | str | None]) -> None"),
      nb::arg("compile"), "Rows of a profile and an instruction set -> libraries, or why there are none, or None.");
}

}  // namespace quarksmith::python
