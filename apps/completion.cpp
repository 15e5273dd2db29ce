// quarksmith completion: functions of shells that ask `quarksmith complete` at each TAB.
#include <fmt/format.h>

#include <algorithm>

#include "apps/commands.hpp"

namespace quarksmith::apps {
namespace {

using namespace runs;

/// A word that may stand there, and what it is.
struct Candidate {
  std::string word, help;
};

/// Values of a member that are known, each after `before`; none: shells complete names of files.
std::vector<Candidate> values_of(const Member& m, const std::string& before = "") {
  std::vector<Candidate> all;
  for (const std::string& word : m.offered()) all.push_back({before + word, ""});
  return all;
}

std::vector<Candidate> commands_and_options() {
  std::vector<Candidate> all;
  for (const Command* c : offered()) all.push_back({std::string(c->name), std::string(c->help)});
  all.insert(all.end(), {{"--help", "how it is used"}, {"--version", "which it is"}});
  return all;
}

/// What may stand in the place of the last word, the first being that after `quarksmith`.
std::vector<Candidate> candidates(std::vector<std::string> words) {
  const bool after_sign = !words.empty() && words.back() == "=";
  std::erase(words, "=");  // bash takes --option=value apart at the equals sign
  if (words.empty() || after_sign) words.emplace_back();
  if (words.size() == 1) return commands_and_options();
  const auto all = offered();
  const auto command = std::find_if(all.begin(), all.end(), [&](const Command* c) { return c->name == words[0]; });
  if (command == all.end()) return {};
  Session session;
  Call call(**command, session);
  const std::string &last = words.back(), &before = words[words.size() - 2];
  const std::string name = last.substr(0, last.find('='));
  std::vector<Candidate> found{{"--help", "how it is used"}};
  for (const Member& m : call.members().all()) {
    const std::string option = option_name_of(m);
    if (m.is_positional() && words.size() == 2 && !last.starts_with("-")) return values_of(m);
    if (m.is_hidden() || m.is_positional()) continue;
    if (!m.is_flag() && option == before) return values_of(m);
    if (!m.is_flag() && option == name && name != last) return values_of(m, name + "=");
    found.push_back({option, help_of(m)});
  }
  return last.starts_with("-") ? found : std::vector<Candidate>();
}

struct CompleteDescription : Description {
  std::vector<std::string> words;
  void list(Members& members) override {
    members.of (*this)("words", words, "those after `quarksmith`, the last of which is to be completed")
        .positional()
        .hidden();
  }
};

void run(CompleteDescription& o, Session& session) {
  const std::string begun = o.words.empty() || o.words.back() == "=" ? "" : o.words.back();
  for (const auto& [word, help] : candidates(o.words))
    if (word.starts_with(begun)) session.print(fmt::format("{}\t{}\n", word, help));
}

/// The completion script of each shell.
constexpr std::pair<const char*, const char*> scripts[] = {
    {"bash", R"(# bash completion of quarksmith, made by `quarksmith completion bash`
_quarksmith() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  # After a colon numbers follow, no blank.
  case ${COMPREPLY[*]} in *:) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _quarksmith quarksmith
)"},
    {"zsh", R"(#compdef quarksmith
# zsh completion of quarksmith, made by `quarksmith completion zsh`
_quarksmith() {
  local -a found
  found=("${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)${(@)found//:/\\:}/$'\t'/:}")
  if [ -n "$found[1]" ]; then _describe quarksmith found; else _files; fi
}
if [ "$funcstack[1]" = "_quarksmith" ]; then _quarksmith "$@"; else compdef _quarksmith quarksmith; fi
)"},
    {"fish", R"(# fish completion of quarksmith, made by `quarksmith completion fish`
function __quarksmith_complete
    set -l words (commandline -opc)
    $words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c quarksmith -f -a '(__quarksmith_complete)'
complete -c quarksmith -F -n 'not count (__quarksmith_complete) >/dev/null'
)"}};

struct CompletionDescription : Description {
  std::string shell;
  void list(Members& members) override {
    std::vector<std::string> names;
    for (const auto& [name, script] : scripts) names.emplace_back(name);
    members.of (*this)("shell", shell, "bash, zsh or fish; source what it prints, or `make install` installs it")
        .among(names)
        .required()
        .positional();
  }
};

void run(CompletionDescription& o, Session& session) {
  for (const auto& [name, script] : scripts)
    if (name == o.shell) session.print(script);
}

}  // namespace

extern const Command completion;
const Command completion = {.name = "completion",
                            .help = "Print the completion of this command line for a shell",
                            .place = 0,
                            .make = task<CompletionDescription>,
                            .of_shell = true};
const Command complete = {.name = "complete",
                          .help = "Words that may stand in the place of the last",
                          .place = 0,
                          .make = task<CompleteDescription>,
                          .of_shell = true};

}  // namespace quarksmith::apps
