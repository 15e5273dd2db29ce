// Calls of commands.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <functional>

#include "apps/caller.hpp"
#include "apps/command_table.hpp"
#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "apps/ranks.hpp"
#include "python/ranks.hpp"
#include "python/solve.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

/// Declares them, and says what each leaves.
std::map<std::string, std::string_view> declare(CLI::App& app, SolveJob& job, int& status) {
  add_read(app);
  add_solve(app, job);
  std::map<std::string, std::string_view> leave = {{"read", "gauge"}, {"solve", "quarks"}};
  for (const apps::Command& c : apps::commands())
    if (!c.of_shell) {
      c.add(app, status);
      leave.emplace(c.name, c.leaves);
    }
  return leave;
}

/// All that can be called, as JSON.
std::string table() {
  apps::Caller caller;
  const apps::CalledBy of_this(caller);
  CLI::App app;
  SolveJob job;
  int status = 0;
  const auto leave = declare(app, job, status);
  auto all = nlohmann::ordered_json::array();
  for (const apps::CommandEntry& c : apps::command_table(app)) {
    auto options = nlohmann::ordered_json::array();
    for (const apps::OptionEntry& o : c.options)
      options.push_back({{"name", o.names.back()},
                         {"description", o.description},
                         {"type", o.type},
                         {"default", o.fallback},
                         {"choices", o.choices},
                         {"positional", o.positional},
                         {"takes_value", o.takes_value},
                         {"required", o.required},
                         {"several", o.several}});
    all.push_back(
        {{"name", c.name}, {"description", c.description}, {"leaves", leave.at(c.name)}, {"options", options}});
  }
  return all.dump();
}

/// Whether Python wants the call to end: its handlers of signals run now and then, and may raise.
class Interruption {
 public:
  bool operator()() {
    constexpr double pause = 0.05;
    if (const double time = now(); raised_ || time - looked_ >= pause) {
      looked_ = time;
      const nb::gil_scoped_acquire gil;
      if (!raised_ && PyErr_CheckSignals() != 0) raised_.emplace();
    }
    return raised_.has_value();
  }
  /// Raises what a handler has raised, with what is to be said of it.
  [[noreturn]] void raise(const char* what) {
    const nb::gil_scoped_acquire gil;
    if (nb::hasattr(raised_->value(), "add_note")) raised_->value().attr("add_note")(what);
    throw nb::python_error(*raised_);
  }

 private:
  double looked_ = 0;
  std::optional<nb::python_error> raised_;
};

/// `quarksmith flow --help` -> help(quarksmith.flow)
std::string with_help_of_python(std::string text) {
  constexpr std::string_view before = "`quarksmith ", after = " --help`";
  const std::size_t from = text.find(before), to = text.find(after, from == std::string::npos ? 0 : from);
  if (from == std::string::npos || to == std::string::npos) return text;
  const std::size_t name = from + before.size();
  return text.replace(from, to + after.size() - from, "help(quarksmith." + text.substr(name, to - name) + ")");
}

void parse(CLI::App& app, const std::vector<std::string>& words) {
  std::vector<const char*> pointers = {"quarksmith"};
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const CLI::ParseError& error) {
    throw UsageError(with_help_of_python(apps::wrong_use(app, error)));
  }
}

using Tell = nb::callable;

/// A caller of commands, for Python.
class PythonCaller {
 public:
  /// \param after_trajectory takes the JSON of each; returns whether the run is to end with it.
  explicit PythonCaller(const Tell& tell, const std::optional<nb::callable>& after_trajectory = {}) {
    caller.tell = [&tell](const std::string& line, bool warning) {
      const nb::gil_scoped_acquire gil;
      tell(line, warning);
    };
    caller.interrupted = [this] { return interruption_(); };
    if (after_trajectory)
      caller.after_trajectory = [this, &after_trajectory](const nlohmann::ordered_json& trajectory) {
        return ranks().largest(ends_with(*after_trajectory, trajectory.dump())) > 0;
      };
  }
  /// Does the work of a command. \throws what a handler of signals or after_trajectory has raised, if that ended it.
  void run(const std::function<void()>& work) {
    const apps::CalledBy of_this(caller);
    try {
      work();
    } catch (const apps::Interrupted& error) {
      interruption_.raise(error.what());
    }
    if (raised_) throw nb::python_error(*raised_);
  }
  std::string json() const { return caller.result.is_null() ? "null" : caller.result.dump(); }

  apps::Caller caller;

 private:
  /// Whether the function wants a run to end with this trajectory. One rank that does ends it for all.
  bool ends_with(const nb::callable& after_trajectory, const std::string& trajectory) {
    const nb::gil_scoped_acquire gil;
    try {
      return nb::cast<bool>(after_trajectory(trajectory));
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
      return true;
    }
  }

  Interruption interruption_;
  std::optional<nb::python_error> raised_;  // by after_trajectory: the run ends in order first
};

/// What comes of a command: its JSON, what it printed, links, quark fields, and why solves failed.
using Outcome =
    std::tuple<std::string, std::string, std::optional<GaugeObject>, std::optional<SpinorObject>, std::string>;

/// What rank 0 was told is told on all of them, so that programs go the same way on all.
std::string of_first(const std::string& text) { return ranks().size() > 1 ? ranks().broadcast(text) : text; }

/// \throws UsageError a rank makes another call than rank 0.
void require_same_call(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  apps::require_same(ranks(), line, "call", "all make the same calls in the same order");
}

/// Runs the command of these words. \return what it printed
std::string run_words(PythonCaller& python, const std::vector<std::string>& words,
                      const std::map<std::string, const GaugeObject*>& gauges, SolveJob& job) {
  require_same_call(words);
  for (const auto& [name, gauge] : gauges) {
    require_present(gauge->links.domain(), name.c_str());
    python.caller.gauges.emplace(name, on_host(*gauge));
  }
  if (job.b != nullptr) require_present(job.b->field.domain(), "rhs");
  CLI::App app("", "quarksmith");
  int status = 0;
  std::string text;
  python.run([&] {
    declare(app, job, status);
    apps::refuse_impossible_numbers(app);
    apps::Printed printed;
    parse(app, words);
    text = printed.text();
  });
  if (status != 0) throw Error(fmt::format("{} ended with status {}: {}", words[0], status, text));
  return of_first(text);
}

Outcome run(const std::vector<std::string>& words, const std::map<std::string, const GaugeObject*>& gauges,
            const SpinorObject* b, const SpinorObject* guess, const Tell& tell,
            const std::optional<nb::callable>& after_trajectory) {
  PythonCaller python(tell, after_trajectory);
  const Busy busy;
  SolveJob job{.b = b, .guess = guess};
  Outcome out;
  auto& [json, text, gauge, quarks, failure] = out;
  text = run_words(python, words, gauges, job);
  apps::Caller& caller = python.caller;
  json = of_first(python.json());
  const std::string device = caller.device.empty() ? "auto" : caller.device;
  if (caller.gauge) gauge = on_device(*caller.gauge, domain_of(caller.gauge->lattice, device));
  if (caller.quark) {
    const BasisInfo& basis = usual_basis();
    quarks = SpinorObject{all_columns(*caller.quark, domain_of(caller.quark->lattice(), device), basis), &basis};
  }
  if (caller.vectors) quarks = SpinorObject{std::move(*caller.vectors), caller.vectors_basis};
  if (job.solved) {
    quarks = std::move(job.solved->x);
    failure = std::move(job.solved->failure);
  }
  return out;
}

/// A solver that is kept, in Python's hands.
struct SolverObject {
  std::unique_ptr<KeptSolver> solver;
};

SolverObject open_solver(const std::vector<std::string>& words, const std::map<std::string, const GaugeObject*>& gauges,
                         const Tell& tell) {
  PythonCaller python(tell);
  const Busy busy;
  SolveJob job;
  if (!gauges.empty()) job.domain = gauges.begin()->second->links.domain_pointer();
  run_words(python, words, gauges, job);
  return {std::move(job.kept)};
}

/// Its JSON, the solution, and what failed.
std::tuple<std::string, SpinorObject, std::string> solve_with(const SolverObject& s, const SpinorObject& b,
                                                              const SpinorObject* guess, const Tell& tell) {
  PythonCaller python(tell);
  const Busy busy;
  require_present(b.field.domain(), "rhs");
  std::optional<Solved> solved;
  python.run([&] { solved = s.solver->solve(b, guess); });
  return {of_first(python.json()), std::move(solved->x), std::move(solved->failure)};
}

}  // namespace

void bind_calls(nb::module_& m) {
  m.def("table", &table);
  m.def("run", &run,
        nb::sig("def run(words: list[str], gauges: dict[str, GaugeField], rhs: Spinors | None, guess: Spinors | None, "
                "tell: collections.abc.Callable[[str, bool], None], after_trajectory: "
                "collections.abc.Callable[[str], bool] | None) -> tuple[str, str, GaugeField | None, Spinors | None, "
                "str]"),
        nb::arg("words"), nb::arg("gauges"), nb::arg("rhs").none(), nb::arg("guess").none(), nb::arg("tell"),
        nb::arg("after_trajectory").none());
  nb::class_<SolverObject>(m, "OpenSolver", "An action on a gauge field, ready to solve.")
      .def("solve", &solve_with,
           nb::sig("def solve(self, rhs: Spinors, guess: Spinors | None, tell: collections.abc.Callable[[str, bool], "
                   "None]) -> tuple[str, Spinors, str]"),
           nb::arg("rhs"), nb::arg("guess").none(), nb::arg("tell"), "Its JSON, x with M x = b, and what failed.");
  m.def("open_solver", &open_solver,
        nb::sig("def open_solver(words: list[str], gauges: dict[str, GaugeField], tell: "
                "collections.abc.Callable[[str, bool], None]) -> OpenSolver"),
        nb::arg("words"), nb::arg("gauges"), nb::arg("tell"));
}

}  // namespace quarksmith::python
