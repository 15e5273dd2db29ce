// The command `quarksmith`: each run is a subcommand, whose options are the members of its description.
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <set>

#include "apps/command_table.hpp"
#include "apps/launch.hpp"
#include "runs/command.hpp"
#include "runs/stops.hpp"
#include "runtime/classic_locale.hpp"
#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"

namespace quarksmith::apps {
namespace {

using namespace runs;

/// A command that the command line names, and what it is to be told.
struct Offered {
  const Command& command;
  Session session;
  Call call;
  CLI::App* app;

  Offered(const Command& c, CLI::App* a) : command(c), call(c, session), app(a) {
    for (const Member& m : call.members().all()) declare(m, *app);
  }

  /// Words that were parsed, by the names of members.
  Table values() {
    Table table;
    for (const Member& m : call.members().all()) {
      const CLI::Option* option = app->get_option(m.is_positional() ? m.name() : option_name_of(m));
      if (m.is_flag() && option->count() > 0) table.entries.emplace_back(m.name(), Value{true});
      if (m.is_flag()) continue;
      for (const std::string& word : option->results()) {
        if (word.starts_with("--") && app->get_option_no_throw(word) != nullptr)  // CLI11 takes it for the value
          throw UsageError(fmt::format("{} has no value; {} is another option", option->get_name(), word));
        table.entries.emplace_back(m.name(), Value{Word{word}});
      }
    }
    return table;
  }
};

/// All commands, with the options of those that are words of the command line, of all for those of the shell: it takes
/// long to make all of them.
void offer(std::deque<Offered>& offered, CLI::App& all, int argc, const char* const* argv) {
  const std::set<std::string_view> words(argv + 1, argv + argc);
  const bool of_shell = words.contains("completion") || words.contains("man");
  for (const Command* c : all_commands()) {
    CLI::App* const app = all.add_subcommand(std::string(c->name), std::string(c->help));
    if (of_shell || words.contains(c->name)) offered.emplace_back(*c, app);
  }
}

/// Whether options are required, which help says and the checks of members find.
void set_required(std::deque<Offered>& all, bool required) {
  for (Offered& offered : all)
    for (const Member& m : offered.call.members().all())
      if (m.is_required())
        offered.app->get_option(m.is_positional() ? m.name() : option_name_of(m))->required(required);
}

/// \throws UsageError `--name=` without a value: the next word would be taken for it.
void refuse_empty_values(int argc, const char* const* argv) {
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw UsageError(word.substr(0, word.size() - 1) + " has no value; write it after the equals sign");
  }
}

/// The words with the name of an action in place of the file that states it, whose parameters are options from here on.
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

int run(std::deque<Offered>& all) {
  for (Offered& offered : all)
    if (offered.app->parsed()) {
      offered.session.say_at_end(offered.session.said_at_end());
      offered.call.fill(offered.values(), {Door::command, std::string(offered.command.name), {}});
      return offered.call.run().status;
    }
  return 0;  // those of the shell have done their work
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Quarksmith: generated kernels and solvers for lattice QCD.", "quarksmith");
  app.require_subcommand(1);
  app.set_version_flag("--version", QUARKSMITH_VERSION);
  app.footer(
      "Exit status: 0 done, 1 failed (not converged, data corrupt), 2 wrong use, 128 + n ended by signal n.\n"
      "`quarksmith COMMAND --help` shows the options of a command.");
  app.get_formatter()->column_width(32);
  std::deque<Offered> all;
  int status = 0;
  try {
    join_ranks(argc, argv);
    std::vector<std::string> words = with_actions(argc, argv);
    offer(all, app, argc, argv);
    add_completion(app, status);
    add_manual(app, status);
    check_command(app, argc, argv);
    refuse_empty_values(argc, argv);
    catch_signals();
    set_required(all, false);
    const ClassicLocale points;  // CLI11 reads numbers by the locale
    std::vector<const char*> named;
    for (const std::string& word : words) named.push_back(word.c_str());
    app.parse(argc, named.data());
    status = run(all);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(std::string("standard output cannot be written: ") + std::strerror(errno));
  } catch (const CLI::ParseError& error) {
    set_required(all, true);
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(wrong_use(app, error), 2);
  } catch (const Interrupted& error) {
    return fail(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return fail("there is too little memory; use a smaller lattice, or more ranks (mpirun)", 1);
  } catch (const UsageError& error) {
    return fail(error.what(), 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
  return status;
}

}  // namespace quarksmith::apps
