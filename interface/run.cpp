// Commands of quarksmith.h, and what they leave.
#include <mutex>

#include "apps/command_table.hpp"
#include "apps/options.hpp"
#include "interface/options.hpp"
#include "runtime/text.hpp"

namespace quarksmith::interface {

/// What a command has left.
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

/// Commands change what belongs to the process: what is printed, signals, time limits.
std::mutex one_command;

const apps::Command& command_of(const std::string& name) {
  std::vector<std::string> known;
  for (const apps::Command& c : apps::commands()) {
    if (!c.of_shell && c.name == name) return c;
    if (!c.of_shell) known.emplace_back(c.name);
  }
  throw StatusError(QUARKSMITH_UNKNOWN_NAME, fmt::format("command '{}' is unknown; {}use {}", printable(name),
                                                         suggestion(name, known), fmt::join(known, ", ")));
}

/// \throws StatusError what is left is on another lattice than the context.
void require_lattice(const Lattice& left, const Result& r, const char* what) {
  if (left != r.lattice())
    throw StatusError(QUARKSMITH_WRONG_LATTICE,
                      fmt::format("{} are of lattice {}, the context of {}; open one of that lattice", what,
                                  left.text(), r.lattice().text()));
}

/// Runs a command. \param name of the device, for commands that take one.
void run(const apps::Command& command, const char* options, const std::string& device, Calling& calling, Result& r) {
  CLI::App app("", "quarksmith");
  int status = 0;
  command.add(app, status);
  const CLI::App& added = *app.get_subcommand(std::string(command.name));
  std::vector<std::string> more;
  if (added.get_option_no_throw("--device") != nullptr) more.push_back("--device=" + device);
  {
    apps::Printed printed;
    parse(app, std::string(command.name), options, std::move(more));
    r.printed = printed.text();
  }
  r.log = calling.log();
  if (status != 0)
    throw StatusError(QUARKSMITH_FAILED,
                      fmt::format("{} ended with status {}: {}{}", command.name, status, r.printed, r.log));
  r.json = calling.caller().result.is_null() ? "null" : calling.caller().result.dump();
}

}  // namespace

quarksmith_status quarksmith_run(quarksmith_context* context, const char* command, const char* options,
                                 quarksmith_gauge* gauge, quarksmith_result** result) {
  return call<Context>(__func__, "context", context, [&](Context& c) {
    const apps::Command& chosen = command_of(require(command, "command"));
    const auto links = gauge == nullptr ? nullptr : operand<Gauge>(gauge, "gauge", c);
    const auto made = std::make_shared<Result>(c.session);
    const std::lock_guard lock(one_command);
    Calling calling(links ? &links->fields : nullptr);
    apps::Caller& caller = calling.caller();
    if (links) caller.gauges.emplace(links_word, links->gauge);
    run(chosen, options, c.device().name(), calling, *made);
    if (result == nullptr) return;
    made->gauge = std::move(caller.gauge);
    made->spinors = std::move(caller.vectors);
    made->basis = caller.vectors_basis;
    if (caller.quark && caller.quark->lattice() == c.lattice()) {
      made->basis = &find_basis(SolveSettings().basis);
      made->spinors = all_columns(*caller.quark, c.session->domain, *made->basis);
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
    give<Gauge>(gauge, r.session, *r.gauge);
  });
}

quarksmith_status quarksmith_result_field(quarksmith_result* result, quarksmith_field** field) {
  return call<Result>(__func__, "result", result, [&](Result& r) {
    require(field, "field");
    if (!r.spinors) refuse("the command has left no spinors on this lattice; those that do are propagator and eigen");
    require_lattice(r.spinors->domain().lattice(), r, "spinors");
    SpinorField made(r.session->domain, find_precision("double"), Subset::full, r.spinors->rhs(),
                     r.spinors->components());
    apps::move_columns(*r.spinors, *r.basis, {made, *r.basis});
    give<Field>(field, r.session, std::move(made), *r.basis);
  });
}
