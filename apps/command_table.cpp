#include "apps/command_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "runtime/text.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// `TEXT:{a,b}` -> a, b
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return split(type.substr(open + 1, close - open - 1), ',');
}

OptionEntry entry_of(const CLI::Option& o) {
  OptionEntry e{.names = {},
                .description = o.get_description(),
                .type = o.get_type_name(),
                .fallback = o.get_default_str(),
                .positional = o.get_positional(),
                .takes_value = o.get_items_expected_max() > 0,
                .required = o.get_required(),
                .several = o.get_items_expected_max() > 1,
                .choices = {}};
  for (const auto& name : o.get_snames()) e.names.push_back("-" + name);
  for (const auto& name : o.get_lnames()) e.names.push_back("--" + name);
  if (e.positional) e.names = {o.get_name(true)};
  e.choices = choices_of(e.type);
  e.type = e.type.substr(0, e.type.find(':'));
  return e;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const OptionEntry& o : command_entry(command).options)
    if (!o.positional) names.insert(names.end(), o.names.begin(), o.names.end());
  return names;
}

/// The command that the words belong to.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

/// `--mass=1` -> `--mass`
std::string without_value(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

std::string option_name_of(const runs::Member& member) { return runs::Wording{}.name(member.name()); }

void declare(const runs::Member& m, CLI::App& command) {
  const std::string name = m.is_positional() ? m.name() : option_name_of(m);
  if (m.is_flag()) {
    command.add_flag(name, m.help())->group(m.is_hidden() ? "" : "Options");
    return;
  }
  const std::string range = m.range_text(), help = m.help() + (range.empty() ? "" : ", " + range);
  const std::string fallback = m.is_required() || m.is_repeated() ? "" : m.shown_default();
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto keep = [words](const std::string&) {};  // as long as the option
  CLI::Option* option = m.is_repeated() ? command.add_option(name, *words, help)->each(keep)
                                        : command.add_option(name, [](const CLI::results_t&) { return true; }, help);
  option->type_name(m.words().empty() ? m.type() : fmt::format("{}:{{{}}}", m.type(), fmt::join(m.words(), ",")));
  option->default_str(fallback)->required(m.is_required());
  if (!m.is_repeated()) option->expected(1)->take_all();  // that it is given once is for the member to say
  if (m.is_hidden()) option->group("");
}

CommandEntry command_entry(const CLI::App& command) {
  CommandEntry entry{command.get_name(), command.get_description(), {}};
  for (const CLI::Option* o : command.get_options())
    if (!o->get_group().empty()) entry.options.push_back(entry_of(*o));
  return entry;
}

std::vector<CommandEntry> command_table(const CLI::App& app) {
  std::vector<CommandEntry> table;
  const auto shown = [](const CLI::App* c) { return !c->get_group().empty(); };
  for (const CLI::App* c : app.get_subcommands(shown)) table.push_back(command_entry(*c));
  return table;
}

void check_command(const CLI::App& app, int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.empty()) return;
  std::vector<std::string> known = names_of_options(app);
  for (const CommandEntry& c : command_table(app)) known.push_back(c.name);
  if (std::find(known.begin(), known.end(), without_value(first)) != known.end()) return;
  throw UsageError(fmt::format("{} '{}' is unknown; {}`quarksmith --help` lists all",
                               first[0] == '-' ? "option" : "command", first, suggestion(first, known)));
}

std::string wrong_use(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = parsed_command(app);
  const std::string name = command.get_name(), full = &command == &app ? name : "quarksmith " + name;
  // A misspelt option is the reason why another is missing, or why a word is left over: it is told first.
  const auto left = app.remaining(true);
  const auto option = std::find_if(left.begin(), left.end(), [](const std::string& w) { return w.starts_with("-"); });
  if (option != left.end() && *option != "--")
    return fmt::format("{} has no option {}; {}`{} --help` lists all", name, without_value(*option),
                       suggestion(without_value(*option), names_of_options(command)), full);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !left.empty())
    return fmt::format("{} cannot use '{}': it takes no further argument; `{} --help` shows its use", name,
                       left.front(), full);
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > 1 && (text[1] == ' ' || std::islower(static_cast<unsigned char>(text[1]))))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  if (&command != &app) text = name + ": " + text;
  return fmt::format("{}; `{} --help` shows its use", text, full);
}

}  // namespace quarksmith::apps
