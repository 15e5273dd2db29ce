// Calls of commands.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <functional>

#include "python/ranks.hpp"
#include "python/solve.hpp"
#include "python/values.hpp"
#include "runs/ranks.hpp"
#include "runs/stops.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

/// The default as Python has it; None: it depends on other things, or there is none.
nb::object default_of(const runs::Member& m) {
  const nb::str text = decoded(m.shown_default());
  if (m.is_flag()) return nb::bool_(m.shown_default() == "true");
  if (m.shown_default().empty()) return nb::none();
  if (m.type() == "FLOAT") return nb::float_(text);
  if (m.type() == "INT" || m.type() == "UINT") return nb::int_(text);
  return text;
}

/// Name, what it does, what it leaves, and its arguments.
using CommandEntry = std::tuple<std::string, std::string, std::string, std::vector<runs::Member>>;

CommandEntry entry_of(std::string_view name, std::string_view help, std::string_view leaves,
                      const runs::Members& members) {
  std::vector<runs::Member> shown;
  for (const runs::Member& m : members.all())
    if (!m.is_hidden()) shown.push_back(m);
  return {std::string(name), in_words_of(runs::Door::python, std::string(help)), std::string(leaves), std::move(shown)};
}

/// All that can be called.
std::vector<CommandEntry> table() {
  std::vector<CommandEntry> all;
  const auto add = [&all](const runs::Command& c) {
    runs::Session session;
    session.in_memory = true;
    all.push_back(entry_of(c.name, c.help, c.leaves, runs::Call(c, session).members()));
  };
  add(read_command);
  all.push_back(entry_of(SolveCall::name, SolveCall::help, "quarks", SolveCall().members()));
  for (const runs::Command* c : runs::all_commands())
    if (!c->of_shell) add(*c);
  return all;
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
    if (!raised_) throw Error(what);  // another rank was ended
    const nb::gil_scoped_acquire gil;
    if (nb::hasattr(raised_->value(), "add_note")) raised_->value().attr("add_note")(what);
    throw nb::python_error(*raised_);
  }

 private:
  double looked_ = 0;
  std::optional<nb::python_error> raised_;
};

/// What Python lends a session for one call: its log, its signals, a function for trajectories.
class Hooks {
 public:
  /// \param after_trajectory takes the report of each, and returns False if the run is to end with it; or None.
  explicit Hooks(runs::Session& session, nb::object after_trajectory = nb::none())
      : session_(session),
        log_(nb::module_::import_("logging").attr("getLogger")("quarksmith")),
        after_trajectory_(std::move(after_trajectory)) {
    session_.in_memory = true;
    session_.take_line = [this](const std::string& line, bool warning) {
      const nb::gil_scoped_acquire gil;
      log_.attr(warning ? "warning" : "info")(decoded(in_words_of(runs::Door::python, line)));
    };
    session_.take_text = [this](const std::string& text) { text_ += text; };
    session_.wants_end = [this] { return interruption_(); };
    if (!after_trajectory_.is_none())
      session_.after_trajectory = [this](const std::string& trajectory) {
        return ranks().largest(ends_with(trajectory)) > 0;
      };
  }
  /// Does the work of a call. \throws what a handler of signals or after_trajectory has raised, if that ended it.
  void run(const std::function<void()>& work) {
    session_.ranks_given = Communicator::world();
    try {
      work();
    } catch (const runs::Interrupted& error) {
      interruption_.raise(error.what());
    }
    if (raised_) throw nb::python_error(std::move(*raised_));
  }
  const std::string& text() const { return text_; }

 private:
  /// Whether the function wants a run to end with this trajectory. One rank that does ends it for all.
  bool ends_with(const std::string& trajectory) {
    const nb::gil_scoped_acquire gil;
    const Callback callback;
    try {
      return plain(after_trajectory_(to_python(trajectory))).is(nb::handle(Py_False));
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
      return true;
    }
  }

  runs::Session& session_;
  nb::object log_, after_trajectory_;
  std::string text_;
  Interruption interruption_;
  std::optional<nb::python_error> raised_;  // by after_trajectory: the run ends in order first
};

/// The text of rank 0 on all ranks, so that programs behave the same on all of them.
std::string of_first(const std::string& text) { return ranks().size() > 1 ? ranks().broadcast(text) : text; }

/// Leaves the arguments to the session of a call.
/// \throws UsageError a rank makes another call than rank 0.
void begin_call(const std::string& name, const CallArguments& given, runs::Session& session) {
  runs::require_same(ranks(), fmt::format("{} {}", name, given.text()), "call",
                     "all make the same calls in the same order");
  given.give(session);
}

/// Results of a command: report, printed text, links, quark fields.
using Results = std::tuple<nb::object, nb::object, std::optional<GaugeObject>, std::optional<SpinorObject>>;

Results run_command(const std::string& name, const nb::dict& values, const nb::object& after_trajectory) {
  const CallArguments given(values);
  runs::Session session;
  Hooks hooks(session, after_trajectory);
  std::string report, text;
  Results results;
  {
    const Busy busy;
    begin_call(name, given, session);
    runs::Outcome outcome;
    hooks.run([&] {
      runs::Call call(name == read_command.name ? read_command : runs::command_named(name), session);
      call.fill(given.table(), {runs::Door::python, name, {}});
      outcome = call.run();
    });
    report = of_first(session.reported());
    text = of_first(hooks.text());
    const std::string device = session.opened_device().empty() ? "auto" : session.opened_device();
    auto& [_, __, gauge, quarks] = results;
    if (outcome.gauge) gauge = on_device(*outcome.gauge, domain_of(outcome.gauge->lattice, device));
    if (outcome.quark)
      quarks = SpinorObject{all_columns(*outcome.quark, domain_of(outcome.quark->lattice(), device), usual_basis()),
                            &usual_basis()};
    if (outcome.vectors) quarks = SpinorObject{std::move(*outcome.vectors), outcome.basis};
  }
  std::get<0>(results) = to_python(report);
  std::get<1>(results) = decoded(text);
  return results;
}

/// \param rhs whose domain serves; null: that of the links.
SolveCall* open_solver(const nb::dict& values, const SpinorObject* rhs) {
  const CallArguments given(values);
  auto call = std::make_unique<SolveCall>();
  Hooks hooks(call->session());
  {
    const Busy busy;
    begin_call(SolveCall::name, given, call->session());
    if (rhs != nullptr) require_present(rhs->field.domain(), "rhs");
    hooks.run([&] { call->open(given.table(), rhs != nullptr ? rhs->field.domain_pointer() : given.domain()); });
    call->session().gauges.clear();
    call->session().fields.clear();
  }
  return call.release();
}

/// The report of a solve, and what failed.
std::pair<nb::object, std::string> solve_with(SolveCall& call, const SpinorObject& b, const SpinorObject* guess,
                                              SpinorObject& x) {
  Hooks hooks(call.session());
  Solved solved;
  {
    const Busy busy;
    hooks.run([&] { solved = call.solve(b, guess, x); });
    solved.report = of_first(solved.report);
  }
  return {to_python(solved.report), std::move(solved.failure)};
}

void bind_member(nb::module_& m) {
  nb::class_<runs::Member>(m, "Member", "An argument of a command.")
      .def_prop_ro("name", &runs::Member::name)
      .def_prop_ro("help", [](const runs::Member& m) { return in_words_of(runs::Door::python, m.help()); })
      .def_prop_ro(
          "type", [](const runs::Member& m) { return m.type(); }, "FLOAT, INT, UINT, TEXT, ...")
      .def_prop_ro("default", &default_of, nb::sig("def default(self) -> bool | int | float | str | None"),
                   "None: it depends on other things, or there is none.")
      .def_prop_ro("choices", &runs::Member::words, "Where only some values are possible.")
      .def_prop_ro("range", &runs::Member::range_text, "In words; empty: any.")
      .def_prop_ro("where", &runs::Member::where, "Where it means something, in words; empty: everywhere.")
      .def_prop_ro("flag", &runs::Member::is_flag)
      .def_prop_ro("positional", &runs::Member::is_positional)
      .def_prop_ro("required", &runs::Member::is_required)
      .def_prop_ro("repeated", &runs::Member::is_repeated, "Whether it takes several texts, or a mapping.");
}

}  // namespace

void bind_calls(nb::module_& m) {
  bind_member(m);
  m.def("table", &table, "Name, help, what it leaves and members of all that can be called.");
  m.def("run", &run_command,
        nb::sig("def run(name: str, arguments: dict[str, typing.Any], after_trajectory: "
                "collections.abc.Callable[[dict[str, typing.Any]], object] | None) -> tuple[typing.Any, str, "
                "GaugeField | None, Spinors | None]"),
        nb::arg("name"), nb::arg("arguments"), nb::arg("after_trajectory").none(),
        "Report, printed text, links and quark fields of a command.");
  nb::class_<SolveCall>(m, "OpenSolver", "An action on a gauge field, ready to solve.")
      .def("solve", &solve_with,
           nb::sig("def solve(self, rhs: Spinors, guess: Spinors | None, x: Spinors) -> tuple[typing.Any, str]"),
           nb::arg("rhs"), nb::arg("guess").none(), nb::arg("x"),
           "Writes the x with M x = b; its report, and what failed.")
      .def(
          "right_hand_sides",
          [](const SolveCall& call, int count) {
            const Busy busy;
            return call.right_hand_sides(count);
          },
          nb::arg("count"), "To be filled.")
      .def(
          "solutions",
          [](const SolveCall& call, const SpinorObject& b) {
            const Busy busy;
            return call.solutions(b);
          },
          nb::arg("rhs"), "Of these right-hand sides, to be filled.");
  m.def("open_solver", &open_solver,
        nb::sig("def open_solver(arguments: dict[str, typing.Any], rhs: Spinors | None) -> OpenSolver"),
        nb::arg("arguments"), nb::arg("rhs").none());
}

}  // namespace quarksmith::python
