#include "interface/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <mutex>

#include "apps/command_table.hpp"
#include "apps/option_rules.hpp"
#include "runtime/text.hpp"

namespace quarksmith::interface {
namespace {

/// `name=value`, or `name` of a flag.
struct Word {
  std::string name, value;
  bool has_value = false;
};

/// Words between blanks; a quoted value may hold blanks, and its quote twice.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t at = 0;
  const auto blank = [&] { return std::isspace(static_cast<unsigned char>(text[at])) != 0; };
  while (true) {
    while (at < text.size() && blank()) ++at;
    if (at == text.size()) return words;
    Word word;
    while (at < text.size() && !blank() && text[at] != '=') word.name += text[at++];
    word.has_value = at < text.size() && text[at] == '=';
    if (word.has_value) ++at;
    if (word.has_value && at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      const char quote = text[at++];
      for (; at < text.size() && (text[at] != quote || text.substr(at + 1).starts_with(quote)); ++at) {
        if (text[at] == quote) ++at;
        word.value += text[at];
      }
      if (at++ >= text.size())
        refuse(fmt::format("the value of option {} has no closing {}; add it", word.name, quote));
    } else {
      while (word.has_value && at < text.size() && !blank()) word.value += text[at++];
    }
    words.push_back(std::move(word));
  }
}

/// `csw_r` or `csw-r` -> `csw-r`
std::string spelled(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// The name of an option without dashes.
std::string name_of(const apps::OptionEntry& o) {
  const std::string& name = o.names.back();
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

bool is_help(const apps::OptionEntry& o) { return name_of(o) == "help"; }

/// Words of a command line. \throws StatusError
std::vector<std::string> command_line(const CLI::App& command, const char* options) {
  const std::string name = command.get_name();
  std::vector<apps::OptionEntry> entries = apps::command_entry(command).options;
  std::erase_if(entries, is_help);
  std::vector<std::string> given = {name}, places, known;
  for (const apps::OptionEntry& o : entries) known.push_back(name_of(o));
  std::vector<std::vector<std::string>> values(entries.size());
  for (const Word& word : words_of(options == nullptr ? "" : options)) {
    const auto found = std::find(known.begin(), known.end(), spelled(word.name));
    if (found == known.end())
      throw StatusError(QUARKSMITH_UNKNOWN_NAME,
                        fmt::format("option '{}' is unknown; {}quarksmith_help(\"{}\", ...) lists all",
                                    printable(word.name), suggestion(spelled(word.name), known), name));
    const auto n = static_cast<std::size_t>(found - known.begin());
    const apps::OptionEntry& o = entries[n];
    if (o.takes_value != word.has_value)
      refuse(o.takes_value ? fmt::format("option {} has no value; write {}=VALUE", word.name, word.name)
                           : fmt::format("option {} takes no value; write its name alone, or leave it out", word.name));
    if (!values[n].empty() && !o.several) refuse(fmt::format("option {} is given twice; give it once", word.name));
    values[n].push_back(word.value);
    if (!o.positional) given.push_back(o.names.back() + (o.takes_value ? "=" + word.value : ""));
  }
  for (std::size_t n = 0; n < entries.size(); ++n)
    if (entries[n].positional) places.insert(places.end(), values[n].begin(), values[n].end());
  if (!places.empty()) given.emplace_back("--");
  given.insert(given.end(), places.begin(), places.end());
  return given;
}

/// "`quarksmith solver --help` shows its use" -> quarksmith_help("solver", ...) shows its use
std::string with_help_of_c(std::string text, const std::string& command) {
  const std::string shell = fmt::format("`quarksmith {} --help`", command);
  if (const std::size_t at = text.find(shell); at != std::string::npos)
    text.replace(at, shell.size(), fmt::format("quarksmith_help(\"{}\", ...)", command));
  return text;
}

}  // namespace

void parse(CLI::App& app, const std::string& command, const char* options, std::vector<std::string> more) {
  apps::refuse_impossible_numbers(app);
  std::vector<std::string> words = command_line(*app.get_subcommand(command), options);
  const auto is_given = [&](const std::string& word) {
    return std::ranges::any_of(words, [&](const auto& w) { return w.starts_with(word.substr(0, word.find('=') + 1)); });
  };
  std::erase_if(more, is_given);
  words.insert(words.begin() + 1, more.begin(), more.end());
  std::vector<const char*> pointers = {"quarksmith"};
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const CLI::ParseError& error) {
    refuse(with_help_of_c(apps::wrong_use(app, error), command));
  }
}

Calling::Calling(const NumbersByName* fields) : by_(caller_) {
  caller_.ranks = Communicator::self();
  caller_.tell = [this](const std::string& line, bool) { log_ += line + "\n"; };
  if (fields != nullptr) caller_.fields = *fields;
}

apps::CommonOptions quiet_options() {
  apps::CommonOptions common;
  common.quiet = true;
  common.log_level = "error";
  return common;
}

void hide_files(CLI::App& command) {
  for (const char* name : {"--gauge", "--lattice"}) command.get_option(name)->group("")->required(false);
}

ActionOnLinks::ActionOnLinks() : common(quiet_options()) { action.gauge = links_word; }

void ActionOnLinks::add_to(CLI::App& c) {
  action.add_to(c);
  hide_files(c);
}

void OperatorOptions::add_to(CLI::App& c) {
  ActionOnLinks::add_to(c);
  c.add_option("--precision", precision, "of fields and links")->capture_default_str();
  c.add_option("--even-odd", even_odd, "none: M on all sites; symmetric, asymmetric: its form on the even sites")
      ->capture_default_str();
  c.add_option("--reconstruct", reconstruct, "reals a link: 18, 12 or 8 (default: 12, 18 if not SU(3))");
  c.add_option("--basis", basis, "gamma basis of fields")->capture_default_str();
}

void OperatorOptions::check(const CLI::App& command) const {
  apps::check_options(command, {listed_name(action.info(command)), {}, {precision}});
  action.check(command);
  if (find_storage("r" + reconstruct).temporal)
    refuse(
        fmt::format("--reconstruct {}: operators are applied in the gauge of the links; use 18, 12 or 8", reconstruct));
}

KeptOptions::KeptOptions() {
  common = quiet_options();
  action.gauge = links_word;
}

void KeptOptions::add_to(CLI::App& c) {
  SolveOptions::add_to(c);
  hide_files(c);
  c.add_flag("--guess", guess, "solves begin with what x holds, not with zero");
  c.add_flag("--overwrite", common.overwrite, "replace the file of mg-save if it exists");
}

void ShiftedOptions::add_to(CLI::App& c) {
  ActionOnLinks::add_to(c);
  c.add_option("--precision", precision, "as of solver")->capture_default_str();
  choices.add_to(c);
}

void ShiftedOptions::check(const CLI::App& command) const {
  apps::check_options(command, {listed_name(action.info(command)), {"multishift"}, {precision}});
  action.check(command);
  choices.check({"multishift"});
}

void QuarkOptions::add_to(CLI::App& c) {
  ActionOnLinks::add_to(c);
  c.add_option("--even-odd", even_odd,
               "symmetric, asymmetric or none (default: symmetric where the action has it); staggered quarks have one");
  c.add_option("--stout-rho", stout_rho, "of stout links in M")->check(CLI::Range(-1.0, 1.0))->capture_default_str();
  c.add_option("--stout-steps", stout_steps, "how often they are smeared")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  c.add_option("--stout-directions", stout_directions, "xyzt, or xyz: links in space alone")
      ->check(CLI::IsMember({"xyzt", "xyz"}))
      ->capture_default_str();
  c.add_option("--tol", tolerance, "of solves")->capture_default_str();
}

void QuarkOptions::check(const CLI::App& command) const {
  apps::check_options(command, {listed_name(action.info(command)), {}, {"double"}});
  action.check(command);
}

void FieldOptions::add_to(CLI::App& c) {
  c.add_option("--precision", precision, "double, single, half, ... of the build")->capture_default_str();
  c.add_option("--basis", basis, "gamma basis of the stored numbers")->capture_default_str();
  c.add_option("--sites", sites, "all, even or odd")
      ->check(CLI::IsMember({"all", "even", "odd"}))
      ->capture_default_str();
  c.add_option("--rhs", rhs, "right-hand sides")->capture_default_str();
  c.add_option("--spins", spins, "4, or 1 of staggered quarks")->check(CLI::IsMember({1, 4}))->capture_default_str();
  c.add_option("--slices", slices, "of a fifth dimension, or flavours")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

namespace {

/// All that quarksmith_help describes: commands, and functions that take options.
void declare_all(CLI::App& app) {
  const auto add = [&app]<class O>(std::shared_ptr<O> o) {
    CLI::App* c = app.add_subcommand(O::function, O::what);
    o->add_to(*c);
    c->final_callback([o] {});  // which keeps it
  };
  add(std::make_shared<OperatorOptions>());
  add(std::make_shared<KeptOptions>());
  add(std::make_shared<ShiftedOptions>());
  add(std::make_shared<QuarkOptions>());
  add(std::make_shared<FieldOptions>());
  static int status = 0;
  for (const apps::Command& c : apps::commands())
    if (!c.of_shell) c.add(app, status);
}

std::string help_of(const CLI::App& command) {
  std::string text = command.get_description();
  for (const apps::OptionEntry& o : apps::command_entry(command).options) {
    if (is_help(o)) continue;
    text += fmt::format("\n{}{}: {}", name_of(o), o.takes_value ? "=" + o.type : "", o.description);
    if (o.required) text += " (required)";
    if (!o.fallback.empty()) text += fmt::format(" ({})", o.fallback);
    if (o.several) text += "; may be given again";
  }
  return text;
}

}  // namespace
}  // namespace quarksmith::interface

using namespace quarksmith::interface;

quarksmith_status quarksmith_help(const char* name, char* text, size_t size) {
  return guarded(__func__, [&] {
    require(name, "name");
    const Calling calling;
    CLI::App app;
    declare_all(app);
    std::vector<std::string> known;
    for (const quarksmith::apps::CommandEntry& c : quarksmith::apps::command_table(app)) known.push_back(c.name);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw StatusError(QUARKSMITH_UNKNOWN_NAME,
                        fmt::format("'{}' is unknown; {}use {}", quarksmith::printable(name),
                                    quarksmith::suggestion(name, known), fmt::join(known, ", ")));
    copy_text(help_of(*app.get_subcommand(name)), text, size);
  });
}
