#include "interface/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "runs/command.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/text.hpp"

namespace quarksmith::interface {
namespace {

/// `name=value`, or `name` of a flag.
struct Option {
  std::string name;
  std::optional<std::string> value;
};

/// Words between blanks; a quoted value may hold blanks, and its quote twice.
std::vector<Option> options_of(std::string_view text) {
  std::vector<Option> all;
  std::size_t at = 0;
  const auto blank = [&] { return std::isspace(static_cast<unsigned char>(text[at])) != 0; };
  while (true) {
    while (at < text.size() && blank()) ++at;
    if (at == text.size()) return all;
    Option& option = all.emplace_back();
    while (at < text.size() && !blank() && text[at] != '=') option.name += text[at++];
    if (at == text.size() || blank()) continue;
    std::string& value = option.value.emplace();
    if (++at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      const char quote = text[at++];
      for (; at < text.size() && (text[at] != quote || text.substr(at + 1).starts_with(quote)); ++at) {
        if (text[at] == quote) ++at;
        value += text[at];
      }
      if (at++ >= text.size())
        refuse(fmt::format("the value of option {} has no closing {}; add it", option.name, quote));
    } else {
      while (at < text.size() && !blank()) value += text[at++];
    }
  }
}

/// \throws runs::Refusal a value is missing, or too much.
runs::Value value_of(const Option& option, const runs::Member* member) {
  if (member != nullptr && member->is_flag() == option.value.has_value())
    throw runs::Refusal(
        runs::Refusal::Kind::no_value, member->name(), 0,
        member->is_flag() ? fmt::format("option {} takes no value; write its name alone, or leave it out", option.name)
                          : fmt::format("option {} has no value; write {}=VALUE", option.name, option.name));
  if (!option.value) return {true};
  return {runs::Word{*option.value}};
}

}  // namespace

void state_action(const char* options) {
  for (const Option& option : options_of(options == nullptr ? "" : options))
    if (option.name == "action" && option.value) stated_action(*option.value);
}

void read_options(runs::Members& members, const char* options, std::string_view function) {
  runs::Table table;
  for (Option& option : options_of(options == nullptr ? "" : options)) {
    std::string name = option.name;  // `csw-r` is `csw_r`
    std::replace(name.begin(), name.end(), '-', '_');
    runs::Value value = value_of(option, members.find(name));
    table.entries.emplace_back(std::move(name), std::move(value));
  }
  fill(members, table, {.door = runs::Door::c, .subject = std::string(function), .file = ""});
}

CallSession::CallSession() {
  in_memory = true;
  ranks_given = Communicator::self();
}

void CallSession::use(const Handle& handle) {
  ranks_given = handle.shared->domain->communicator_pointer();
  lattice_given = handle.lattice();
}

namespace {

/// Silences the session of a function: only commands log their work.
void silence(runs::Session& session) {
  session.quiet = true;
  session.log_level = "error";
}

/// The links are those of a handle.
void take_links(runs::ActionDescription& action) {
  action.on_links = true;
  action.gauge = links_word;
}

}  // namespace

OnLinks::OnLinks() {
  silence(session);
  take_links(action);
}

void OnLinks::list(runs::Members& members) {
  members.of(session);  // whose messages are in the words of this door then
  action.list(members);
}

runs::ActionChoice OnLinks::choose(const GaugeLinks& gauge) {
  runs::ActionChoice choice = action.choose(gauge, session, false);
  if (choice.masses.size() > 1)
    interface::refuse(fmt::format("{} masses of an operator, which has one; give one", choice.masses.size()));
  return choice;
}

namespace {

constexpr const char* parity_help = "even or odd: sites of the even-odd form";

/// \throws StatusError a parity without an even-odd form.
void require_even_odd(const runs::Description& d, const std::string& form) {
  if (d.given("parity") && form == "none")
    interface::refuse(
        fmt::format("{} with {}, which is on all sites; leave it out", d.called("parity"), d.called("even_odd", form)));
}

}  // namespace

void OperatorDescription::list(runs::Members& members) {
  OnLinks::list(members);
  auto add = members.of(*this);
  add("precision", precision, "of fields and links");
  add("even_odd", even_odd, "none: M on all sites; symmetric, asymmetric: its form on the even sites");
  add("parity", parity, parity_help).among({"even", "odd"});
  add("reconstruct", reconstruct, "reals a link: 18, 12 or 8 (default: 12, 18 if not SU(3))").open();
  only_with(add("basis", basis, "gamma basis of fields"), action, [](const ActionInfo& a) { return a.spins == 4; });
}

void OperatorDescription::check() {
  require_even_odd(*this, even_odd);
  if (find_storage("r" + reconstruct).temporal)
    interface::refuse(fmt::format("{}: operators are applied in the gauge of the links; use 18, 12 or 8",
                                  called("reconstruct", reconstruct)));
}

std::string OperatorDescription::storage(const Action& chosen, const Gauge& on) const {
  if (given("reconstruct")) return std::string(find_storage("r" + reconstruct).name);
  return chosen.default_links(default_links(on.given, on.ranks()));
}

SolverDescription::SolverDescription() {
  silence(session);
  take_links(action);
}

void SolverDescription::list(runs::Members& members) {
  InversionDescription::list(members);
  members.of (*this)("guess", guess, "solves begin with what x holds, not with zero");
  members.of(session)("overwrite", session.overwrite, "replace the file of mg_save if it exists");
}

void ShiftedSolve::list_method(runs::Members::Adder add) { add("precision", precision, "as of solver"); }

void ShiftedDescription::list(runs::Members& members) {
  OnLinks::list(members);
  solve.list(members);
  auto add = members.of(*this);
  add("parity", parity, parity_help).among({"even", "odd"});
  add("guess", guess, "a solve of one shift begins with what x holds");
  add("together", together, "all shifts go on until the smallest is done, which alone has to reach the tolerance");
}

void ShiftedDescription::check() { require_even_odd(*this, solve.even_odd); }

void QuarkDescription::list(runs::Members& members) {
  OnLinks::list(members);
  auto add = members.of(*this);
  add("even_odd", even_odd,
      "symmetric, asymmetric or none (default: symmetric where the action has it); staggered quarks have one");
  add("stout_rho", stout_rho, "of stout links in M").range(-1, 1);
  add("stout_steps", stout_steps, "how often they are smeared").range(0, 1000);
  add("stout_directions", stout_directions, "xyzt, or xyz: links in space alone").among({"xyzt", "xyz"});
  add("tol", tolerance, "of solves").within(0, 1);
}

void QuarkDescription::check() {
  if ((stout_rho != 0) != (stout_steps != 0))
    interface::refuse(fmt::format("{} {} with {} {}; give both, or leave both out", called("stout_rho"), stout_rho,
                                  called("stout_steps"), stout_steps));
}

void FieldDescription::list(runs::Members& members) {
  auto add = members.of(*this);
  add("precision", precision, "double, single, half, ... of the build");
  add("basis", basis, "gamma basis of the stored numbers");
  add("sites", sites, "all, even or odd").among({"all", "even", "odd"});
  add("rhs", rhs, "right-hand sides");
  add("spins", spins, "4, or 1 of staggered quarks").among({1, 4});
  add("slices", slices, "of a fifth dimension, or flavours").range(1, std::numeric_limits<double>::infinity());
}

namespace {

/// A function of quarksmith.h that takes options.
struct Function {
  std::string_view name, what;
  std::unique_ptr<runs::Description> (*make)();
};

template <class D>
constexpr Function function = {D::function, D::what,
                               []() -> std::unique_ptr<runs::Description> { return std::make_unique<D>(); }};

constexpr Function functions[] = {function<OperatorDescription>, function<SolverDescription>,
                                  function<ShiftedDescription>, function<QuarkDescription>, function<FieldDescription>};

std::string help_of(std::string_view what, const runs::Members& members) {
  std::string text(what);
  for (const runs::Member& m : members.all()) {
    if (m.is_hidden()) continue;
    text += fmt::format("\n{}{}: {}", m.name(), m.is_flag() ? "" : "=" + m.type(), m.help());
    if (m.is_required()) text += " (required)";
    if (const std::string shown = m.shown_default(); !m.is_flag() && !shown.empty())
      text += fmt::format(" ({})", shown);
    if (const std::string range = m.range_text(); !range.empty()) text += ", " + range;
    if (!m.where().empty()) text += "; with " + m.where();
    if (m.is_repeated()) text += "; may be given again";
  }
  return in_words_of(runs::Door::c, text);
}

/// What quarksmith_help says. \throws UnknownName neither a function nor a command has this name.
std::string help_on(const std::string& name) {
  std::vector<std::string> known;
  for (const Function& f : functions) {
    if (f.name == name) return help_of(f.what, members_of(*f.make()));
    known.emplace_back(f.name);
  }
  for (const runs::Command* command : runs::all_commands()) {
    if (command->of_shell) continue;
    CallSession session;
    if (command->name == name) return help_of(command->help, runs::Call(*command, session).members());
    known.emplace_back(command->name);
  }
  throw UnknownName(
      fmt::format("'{}' is unknown; {}use {}", printable(name), suggestion(name, known), fmt::join(known, ", ")));
}

}  // namespace
}  // namespace quarksmith::interface

using namespace quarksmith::interface;

quarksmith_status quarksmith_help(const char* name, char* text, size_t size) {
  return guarded(__func__, [&] { copy_text(help_on(require(name, "name")), text, size); });
}
