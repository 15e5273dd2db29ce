// Functions of quarksmith.h that run commands and give access to their results.
#include <mutex>

#include "interface/options.hpp"
#include "runs/command.hpp"

namespace quarksmith::interface {

/// Texts and fields that a command has made.
struct Result final : Handle {
  using Handle::Handle;
  static constexpr HandleKind kind = HandleKind::result;
  std::string json, printed, log;
  std::optional<HostGauge> gauge;
  std::optional<SpinorField> spinors;  ///< on the device of the command
  const BasisInfo* basis = nullptr;
};

}  // namespace quarksmith::interface

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// Held while a command runs: commands use libhdf5, and not all of its builds may be called by several threads.
std::mutex one_command;

/// \throws StatusError a field that a command has made is on another lattice than the context.
void require_lattice(const Lattice& left, const Result& r, const char* what) {
  if (left != r.lattice())
    throw StatusError(QUARKSMITH_WRONG_LATTICE,
                      fmt::format("{} are of lattice {}, the context of {}; open one of that lattice", what,
                                  left.text(), r.lattice().text()));
}

/// Runs a command, and keeps its log, its printed text and its report in `r`.
runs::Outcome run(const runs::Command& command, const char* options, runs::Session& session, Result& r) {
  session.take_line = [&r](const std::string& line, bool) { r.log += in_words_of(runs::Door::c, line) + "\n"; };
  session.take_text = [&r](const std::string& text) { r.printed += text; };
  session.device = r.device().name();
  state_action(options);
  runs::Call asked(command, session);
  read_options(asked.members(), options, command.name);
  runs::Outcome left = asked.run();
  r.json = session.reported();
  return left;
}

}  // namespace

quarksmith_status quarksmith_run(quarksmith_context* context, const char* command, const char* options,
                                 quarksmith_gauge* gauge, quarksmith_result** result) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    const runs::Command& chosen = runs::command_named(require(command, "command"));
    const auto links = gauge == nullptr ? nullptr : operand<Gauge>(gauge, "gauge", c);
    const auto made = std::make_shared<Result>(c.shared);
    agree(std::string(command), text_of(options), links != nullptr, result != nullptr);
    const std::lock_guard lock(one_command);
    CallSession session;
    session.use(c);
    if (links) {
      session.gauges.emplace(links_word, links->given);
      session.fields = links->fields;
    }
    runs::Outcome left = run(chosen, options, session, *made);
    if (result == nullptr) return;
    made->gauge = std::move(left.gauge);
    made->spinors = std::move(left.vectors);
    made->basis = left.basis;
    if (left.quark && left.quark->lattice() == c.lattice()) {
      made->basis = &find_basis(SolveSettings().basis);
      made->spinors = all_columns(*left.quark, c.shared->domain, *made->basis);
    }
    *result = static_cast<quarksmith_result*>(handle_table().open(Result::kind, made));
  });
}

quarksmith_status quarksmith_result_text(quarksmith_result* result, int which, const char** text) {
  return call<Result>(__func__, "result", result, [&](Result& r) {
    require(text, "text");
    const std::string* const all[] = {&r.json, &r.printed, &r.log};
    if (which < QUARKSMITH_JSON || which > QUARKSMITH_LOG)
      refuse(fmt::format("text {}; use QUARKSMITH_JSON, QUARKSMITH_PRINTED or QUARKSMITH_LOG", which));
    *text = all[which]->c_str();
  });
}

quarksmith_status quarksmith_result_gauge(quarksmith_result* result, quarksmith_gauge** gauge) {
  return call<Result>(__func__, "result", result, [&](Result& r) {
    require(gauge, "gauge");
    if (!r.gauge) refuse("the command has left no links; those that do are heatbath, hmc, smear and flow");
    require_lattice(r.gauge->lattice, r, "links");
    give<Gauge>(gauge, r.shared, *r.gauge);
  });
}

quarksmith_status quarksmith_result_field(quarksmith_result* result, quarksmith_field** field) {
  return call<Result>(__func__, "result", result, [&](Result& r) {
    require(field, "field");
    if (!r.spinors) refuse("the command has left no spinors on this lattice; those that do are propagator and eigen");
    require_lattice(r.spinors->domain().lattice(), r, "spinors");
    SpinorField made(r.shared->domain, find_precision("double"), Subset::full, r.spinors->rhs(),
                     r.spinors->components());
    runs::move_columns(*r.spinors, *r.basis, {made, *r.basis});
    give<Field>(field, r.shared, std::move(made), *r.basis);
  });
}
