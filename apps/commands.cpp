// The command `quarksmith`: each run is a subcommand, whose options are the members of its description.
#include "apps/commands.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "apps/launch.hpp"
#include "runs/action.hpp"
#include "runs/deflation.hpp"
#include "runs/solve.hpp"
#include "runs/stops.hpp"
#include "runtime/classic_locale.hpp"
#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/text.hpp"

namespace quarksmith::apps {

using namespace runs;

std::string option_name_of(const Member& m) { return m.is_positional() ? m.name() : Wording{}.name(m.name()); }

std::string help_of(const Member& m) {
  const std::string range = m.range_text();
  return m.help() + (range.empty() || m.is_flag() ? "" : ", " + range);
}

namespace {

/// `max_iterations` of `--max-iterations`
std::string member_of(const std::string& option) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Under which help shows a member.
const char* title_of(const Member& m) {
  const Description* of = &m.owner();
  if (dynamic_cast<const Session*>(of) != nullptr) return "Machine, files and messages";
  if (dynamic_cast<const ActionDescription*>(of) != nullptr) return "Action and links";
  const bool solves = dynamic_cast<const SolveDescription*>(of) != nullptr ||
                      dynamic_cast<const NearNullDescription*>(of) != nullptr ||
                      dynamic_cast<const DeflationDescription*>(of) != nullptr;
  return solves ? "Solver" : "Options";
}

/// Adds a member to the options of a command: CLI11 takes words apart, and members read them.
CLI::Option* declare(const Member& m, CLI::App& command) {
  const std::string name = option_name_of(m), help = help_of(m), group = m.is_hidden() ? "" : title_of(m);
  if (m.is_flag()) return command.add_flag(name, help)->group(group);
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::Option* option = m.is_repeated()  // the second function keeps the words as long as the option
                            ? command.add_option(name, *words, help)->each([words](const std::string&) {})
                            : command.add_option(name, [](const CLI::results_t&) { return true; }, help);
  option->type_name(m.words().empty() ? m.type() : fmt::format("{}:{{{}}}", m.type(), fmt::join(m.words(), ",")));
  option->default_str(m.is_required() || m.is_repeated() ? "" : m.shown_default());
  if (!m.is_repeated()) option->expected(1)->take_all();  // that it is given once is for the member to say
  return option->group(group);
}

/// The command of this command line with its session and options.
class Asked {
 public:
  Asked(const Command& command, CLI::App& app) : call_(command, session_), app_(app) {
    for (const Member& m : call_.members().all()) options_.push_back(declare(m, app_));
  }

  int run() {
    session_.set_closing_line(session_.closing_line());
    call_.fill(values(), wording());
    call_.run();
    return 0;
  }

  /// Marks required options for the help text only: members report missing values themselves, after wrong ones.
  void show_required() {
    const auto& all = call_.members().all();
    for (std::size_t n = 0; n < all.size(); ++n) options_[n]->required(all[n].is_required());
  }

  /// Reports a command line that CLI11 cannot parse. \throws UsageError always, with the reason and a remedy.
  [[noreturn]] void refuse(const CLI::ParseError& error) {
    // A misspelt option leaves its value as a surplus argument, so the option is reported first.
    const auto left = app_.remaining(true);
    const auto option = std::find_if(left.begin(), left.end(), [](const auto& w) { return w.starts_with("-"); });
    if (option != left.end() && *option != "--") {
      const std::string name = option->substr(0, option->find('='));
      const Member* member = call_.members().find(member_of(name));
      if (!name.starts_with("--") || (member != nullptr && member->is_positional()))
        refuse(name, member == nullptr ? "is no option" : "is no option: its value stands without a name");
      fill(call_.members(), {{{member_of(name), {}}}, 0}, wording());
    }
    if (!left.empty()) refuse(left.front(), "cannot be used: no further argument is taken");
    const std::string text = error.what(), name = text.substr(0, text.find(':'));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) refuse_empty(name);
    throw UsageError(fmt::format("{}: {}; {} shows its use", wording().subject, text, wording().help()));
  }

 private:
  Wording wording() const { return {Door::command, std::string(call_.command().name), {}}; }

  [[noreturn]] void refuse(const std::string& word, const char* why) const {
    throw Refusal(Refusal::Kind::unknown, word, 0,
                  fmt::format("{}: '{}' {}; {} shows its use", wording().subject, word, why, wording().help()));
  }
  /// \throws Refusal always: an option has no value.
  [[noreturn]] void refuse_empty(const std::string& name) const {
    throw Refusal(Refusal::Kind::no_value, member_of(name), 0,
                  fmt::format("{}: {} has no value; {} shows its use", wording().subject, name, wording().help()));
  }

  /// Words that were parsed, by the names of members.
  Table values() {
    Table table;
    const auto& all = call_.members().all();
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (all[n].is_flag()) {
        if (options_[n]->count() > 0) table.entries.emplace_back(all[n].name(), Value{true});
        continue;
      }
      for (const std::string& word : options_[n]->results()) {
        const bool named = !all[n].is_positional() && word.starts_with("--");
        if (named && app_.get_option_no_throw(word) != nullptr)  // CLI11 takes it for the value
          refuse_empty(options_[n]->get_name());
        table.entries.emplace_back(all[n].name(), Value{Word{word}});
      }
    }
    return table;
  }

  Session session_;
  Call call_;
  CLI::App& app_;
  std::vector<CLI::Option*> options_;  ///< one for each member, in the same order
};

/// Reports a first argument that is neither a command nor a global option. \throws UsageError always
void refuse_unknown(const std::string& first, std::vector<std::string> known) {
  known.insert(known.end(), {"--help", "--version"});
  throw UsageError(fmt::format("{} '{}' is unknown; {}`quarksmith --help` lists all",
                               first.starts_with("-") ? "option" : "command", first, suggestion(first, known)));
}

/// \throws Refusal an argument is `--name=` without a value, for which CLI11 would take the next argument.
void refuse_empty_values(int argc, const char* const* argv) {
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n], name = word.substr(0, word.size() - 1);
    if (word == "--") return;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw Refusal(Refusal::Kind::no_value, member_of(name), 0,
                    name + " has no value; write it after the equals sign");
    }
  }
}

/// The command line with the file of `--action FILE` replaced by the name of its action, so that its options are known.
std::vector<std::string> with_actions(int argc, const char* const* argv) {
  constexpr std::string_view option = "--action";
  std::vector<std::string> words(argv, argv + argc);
  for (std::size_t n = 1; n < words.size(); ++n) {
    if (words[n - 1] == option) words[n] = stated_action(words[n]);
    if (words[n].starts_with(std::string(option) + "="))
      words[n] = fmt::format("{}={}", option, stated_action(words[n].substr(option.size() + 1)));
  }
  return words;
}

}  // namespace

int perform(int argc, const char* const* argv) {
  CLI::App app(about, "quarksmith");
  app.set_version_flag("--version", QUARKSMITH_VERSION);
  app.footer(exit_statuses);
  app.get_formatter()->column_width(32);
  const std::string first = argc > 1 ? argv[1] : "";
  const std::vector<std::string> words = with_actions(argc, argv);
  std::vector<const char*> named;
  for (const std::string& word : words) named.push_back(word.c_str());
  std::unique_ptr<Asked> asked;
  std::vector<std::string> known;
  std::vector<const Command*> all = offered();
  all.push_back(&complete);
  const bool is_asked = std::ranges::any_of(all, [&](const Command* c) { return c->name == first; });
  for (const Command* c : all) {
    if (c != &complete) known.emplace_back(c->name);
    if (is_asked && c->name != first) continue;  // words after it may be names of others
    CLI::App* command = app.add_subcommand(std::string(c->name), std::string(c->help));
    if (c->name == first) asked = std::make_unique<Asked>(*c, *command);
    if (c == &complete) command->group("");
  }
  if (first.empty()) throw UsageError("a subcommand is required; `quarksmith --help` shows its use");
  if (!asked && first != "-h" && first != "--help" && first != "--version") refuse_unknown(first, std::move(known));
  if (asked) refuse_empty_values(argc, argv);
  const ClassicLocale points;  // CLI11 reads numbers by the locale
  try {
    app.parse(argc, named.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && asked) asked->refuse(error);
    if (error.get_exit_code() != 0) throw UsageError(std::string(error.what()) + "; `quarksmith --help` shows its use");
    if (asked) asked->show_required();
    return app.exit(error);  // --help, --version
  }
  return asked->run();
}

int run_command_line(int argc, char** argv) {
  try {
    join_ranks(argc, argv);
    catch_signals();
    const int status = perform(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(std::string("standard output cannot be written: ") + std::strerror(errno));
    return status;
  } catch (const Interrupted& error) {
    return fail(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return fail("there is too little memory; use a smaller lattice, or more ranks (mpirun)", 1);
  } catch (const UsageError& error) {
    return fail(error.what(), 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}

}  // namespace quarksmith::apps
