// quarksmith man: its manual page, made from descriptions of all commands.
#include <fmt/format.h>

#include "apps/commands.hpp"

namespace quarksmith::apps {
namespace {

/// Text as roff prints it: nothing in it is a request, and dashes stay dashes.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool first = result.empty() || result.back() == '\n';
    if (first && (c == '.' || c == '\'')) result += "\\&";
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '`':
        result += "\\(ga";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string option_text(const std::string& name, const std::string& type, const std::string& help, char font) {
  return fmt::format(".TP\n\\f{}{}\\fR{}\n{}\n", font, roff(name), type.empty() ? "" : " \\fI" + roff(type) + "\\fR",
                     roff(help));
}

std::string member_text(const runs::Member& m) {
  std::string help = help_of(m);
  const std::string shown = m.is_flag() || m.is_required() || m.is_repeated() ? "" : m.shown_default();
  if (!shown.empty()) help += fmt::format(" (default: {})", shown);
  if (m.is_required()) help += " (required)";
  return option_text(option_name_of(m), m.is_positional() ? "" : m.type(), help, m.is_positional() ? 'I' : 'B');
}

std::string command_text(const runs::Command& command) {
  std::string text =
      fmt::format(".SS {}\n{}.\n.PP\n.B quarksmith {}\n[\\fIOPTIONS\\fR]", roff(std::string(command.name)),
                  roff(std::string(command.help)), roff(std::string(command.name)));
  std::string options;
  runs::Session session;
  runs::Call call(command, session);
  for (const runs::Member& m : call.members().all()) {
    if (m.is_positional()) text += " \\fI" + roff(m.name()) + "\\fR";
    if (!m.is_hidden()) options += member_text(m);
  }
  return text + "\n" + options;
}

/// Each line of `text` on a line of its own.
std::string lines_text(const std::string& text) {
  std::string result;
  for (const char c : roff(text)) result += c == '\n' ? std::string("\n.br\n") : std::string(1, c);
  return result + "\n";
}

std::string manual() {
  std::string text = fmt::format(
      ".\\\" Made by `quarksmith man`.\n.TH QUARKSMITH 1 \"\" \"Quarksmith {}\" \"User Commands\"\n.SH NAME\n"
      "quarksmith \\- lattice QCD with generated kernels\n.SH SYNOPSIS\n.B quarksmith\n\\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      roff(QUARKSMITH_VERSION), roff(about));
  text += option_text("-h, --help", "", "Print a help message and exit", 'B') +
          option_text("--version", "", "Display program version information and exit", 'B') + ".SH COMMANDS\n";
  for (const runs::Command* c : offered()) text += command_text(*c);
  text += ".SH EXIT STATUS\n" + lines_text(exit_statuses);
  text += ".SH ENVIRONMENT\n.TP\n\\fBQUARKSMITH_KERNELS\\fR\n" +
          roff("Shared libraries with further kernels, made by `python -m generator kernel` or `expression`.") +
          "\n.TP\n\\fBQUARKSMITH_ON_DEMAND\\fR\n" +
          roff("off: a kernel that the build lacks is an error, and is not compiled when it is first asked for.") +
          "\n";
  return text;
}

struct ManualDescription : runs::Description {
  void list(runs::Members& members) override { members.of(*this); }
};

void run(ManualDescription&, runs::Session& session) { session.print(manual()); }

}  // namespace

extern const runs::Command completion, man;
const runs::Command man = {.name = "man",
                           .help = "Print the manual page: quarksmith man | man -l -",
                           .place = 0,
                           .make = runs::task<ManualDescription>,
                           .of_shell = true};

std::vector<const runs::Command*> offered() {
  std::vector<const runs::Command*> all = runs::all_commands();
  all.insert(all.end(), {&completion, &man});
  return all;
}

}  // namespace quarksmith::apps
