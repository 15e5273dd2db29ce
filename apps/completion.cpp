// quarksmith completion: shell functions that complete its command line, made from its table of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runs/action.hpp"
#include "apps/command_table.hpp"
#include "runs/session.hpp"
#include "runtime/fields/hopping.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/gauge/heatbath.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/krylov/method.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/smearing.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::apps {
namespace {

using namespace runs;

using Words = std::vector<std::string>;

template <class Names>
Words words_of(const Names& names, const Words& before = {}) {
  Words all = before;
  for (const auto& name : names) all.emplace_back(name);
  return all;
}

/// Names with the colon after which their numbers follow.
Words with_colon(const Words& names, Words before = {}) {
  for (const std::string& name : names) before.push_back(name + ":");
  return before;
}

/// Values of options that are texts: what is offered is no more than the start of some.
Words values_of(const std::string& option) {
  if (option == "--action") return action_names();
  if (option == "--solver") return words_of(method_names());
  if (option == "--precision") {
    Words single;
    for (const PrecisionInfo& p : precisions()) single.emplace_back(p.name);
    return words_of(Words{"auto", "double-single", "double-half"}, single);
  }
  if (option == "--source") return with_colon(names_of<SmearingKind>(), with_colon(names_of<SourceKind>()));
  if (option == "--sink") return with_colon(names_of<SmearingKind>(), {"point"});
  if (option == "--smear-links") return with_colon(names_of<LinkSmearingKind>());
  if (option == "--device") return words_of(target_names(), {"auto"});
  if (option == "--policy") return words_of(policy_names());
  if (option == "--even-odd") return words_of(reduction_names());
  if (option == "--updates") return words_of(updates_names());
  Words names;
  if (option == "--basis")
    for (const BasisInfo& b : bases()) names.emplace_back(b.name);
  if (option == "--boundary")
    for (const auto& [name, time] : named_boundaries) names.emplace_back(name);
  if (option == "--start")
    for (const auto& [name, number] : starts) names.push_back(std::string(name) + (number.empty() ? "" : ":"));
  if (!names.empty()) return names;
  if (option == "--family") return words_of(timed_families());
  return {};
}

/// The table with values of all options that have such.
std::vector<CommandEntry> full_table(const CLI::App& app) {
  std::vector<CommandEntry> table = command_table(app);
  for (CommandEntry& c : table)
    for (OptionEntry& o : c.options)
      if (!o.positional && o.choices.empty()) o.choices = values_of(o.names.back());
  return table;
}

/// `text` with a backslash before each character of `special`.
std::string escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

/// `text` within single quotes of a POSIX shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::vector<std::string> all_names(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const OptionEntry& o : command.options)
    if (!o.positional) names.insert(names.end(), o.names.begin(), o.names.end());
  return names;
}

std::string bash_command(const CommandEntry& command) {
  std::string files, text = fmt::format("    {})\n      case $previous in\n", command.name), positional;
  for (const OptionEntry& o : command.options) {
    if (o.positional && positional.empty() && !o.choices.empty())
      positional = fmt::format("[ \"$COMP_CWORD\" -gt 2 ] || words=\"{}\"", fmt::join(o.choices, " "));
    if (o.positional || !o.takes_value) continue;
    if (o.choices.empty())
      files += fmt::format("{}{}", files.empty() ? "" : " | ", fmt::join(o.names, " | "));
    else
      text += fmt::format("        {}) words=\"{}\" ;;\n", fmt::join(o.names, " | "), fmt::join(o.choices, " "));
  }
  if (!files.empty()) text += fmt::format("        {}) return 0 ;;\n", files);
  text += fmt::format("        *)\n          case $current in\n            -*) words=\"{}\" ;;\n",
                      fmt::join(all_names(command), " "));
  if (!positional.empty()) text += fmt::format("            *) {} ;;\n", positional);
  return text + "          esac\n          ;;\n      esac\n      ;;\n";
}

std::string bash_script(const CLI::App& app) {
  std::string cases, names;
  for (const CommandEntry& c : full_table(app)) {
    cases += bash_command(c);
    names += c.name + " ";
  }
  return fmt::format(R"(# bash completion of quarksmith, made by `quarksmith completion bash`
_quarksmith() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} words=""
  COMPREPLY=()
  # bash takes --option=value apart at the equals sign.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}{}" -- "$current"))
    return 0
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # After a colon numbers follow, no blank.
  case ${{COMPREPLY[*]}} in *:) compopt -o nospace 2>/dev/null ;; esac
}}
complete -o default -F _quarksmith quarksmith
)",
                     names, fmt::join(all_names(command_entry(app)), " "), cases);
}

/// Where a value comes from, as zsh writes it.
std::string zsh_values(const OptionEntry& o) {
  return o.choices.empty() ? "_files" : fmt::format("({})", fmt::join(o.choices, " "));
}

std::string zsh_script(const CLI::App& app) {
  std::string commands, cases;
  for (const CommandEntry& c : full_table(app)) {
    commands += fmt::format("    {}\n", quoted(c.name + ":" + c.description));
    cases += fmt::format("    {})\n      _arguments", c.name);
    for (const OptionEntry& o : c.options) {
      const std::string what = escaped(o.description, "[]:\\");
      if (o.positional) {
        cases += " \\\n        " + quoted(fmt::format(":{}:{}", escaped(o.names[0], ":\\"), zsh_values(o)));
        continue;
      }
      for (const std::string& name : o.names)
        cases += " \\\n        " +
                 quoted(fmt::format("{}[{}]{}", name, what, o.takes_value ? ":" + o.type + ":" + zsh_values(o) : ""));
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef quarksmith
# zsh completion of quarksmith, made by `quarksmith completion zsh`
_quarksmith() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  words=("${{words[@]:1}}")
  (( CURRENT-- ))
  case $words[1] in
{}  esac
}}
if [ "$funcstack[1]" = "_quarksmith" ]; then
  _quarksmith "$@"
else
  compdef _quarksmith quarksmith
fi
)",
                     commands, cases);
}

/// One option on a line of fish.
std::string fish_option(const OptionEntry& o) {
  std::string line;
  for (const std::string& name : o.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!o.choices.empty())
    line += fmt::format(" -x -a '{}'", fmt::join(o.choices, " "));
  else if (o.takes_value)
    line += " -r";
  return line + fmt::format(" -d '{}'\n", escaped(o.description, "'\\"));
}

std::string fish_script(const CLI::App& app) {
  std::string text = "# fish completion of quarksmith, made by `quarksmith completion fish`\n";
  for (const OptionEntry& o : command_entry(app).options)
    text += "complete -c quarksmith -n __fish_use_subcommand" + fish_option(o);
  for (const CommandEntry& c : full_table(app)) {
    text += fmt::format("complete -c quarksmith -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name,
                        escaped(c.description, "'\\"));
    const std::string within = fmt::format("complete -c quarksmith -n '__fish_seen_subcommand_from {}'", c.name);
    for (const OptionEntry& o : c.options) {
      if (!o.positional)
        text += within + fish_option(o);
      else if (!o.choices.empty())
        text += within + fmt::format(" -a '{}'\n", fmt::join(o.choices, " "));
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& status) {
  auto shell = std::make_shared<std::string>();
  CLI::App* c = app.add_subcommand("completion", "Print the completion of this command line for a shell");
  c->add_option("shell", *shell, "bash, zsh or fish; source what it prints, or `make install` installs it")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  c->callback([&app, shell, &status] {
    fmt::print("{}", *shell == "bash" ? bash_script(app) : *shell == "zsh" ? zsh_script(app) : fish_script(app));
    status = 0;
  });
}

}  // namespace quarksmith::apps
