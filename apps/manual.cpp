// quarksmith man: its manual page, made from its table of options.
#include <fmt/format.h>

#include "apps/command_table.hpp"

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

std::string option_text(const OptionEntry& o) {
  std::string text = ".TP\n";
  for (const std::string& name : o.names) {
    if (&name != &o.names.front()) text += ", ";
    text += (o.positional ? "\\fI" : "\\fB") + roff(name) + "\\fR";
  }
  if (o.takes_value && !o.positional) text += " \\fI" + roff(o.type.empty() ? "VALUE" : o.type) + "\\fR";
  text += "\n" + roff(o.description);
  if (!o.fallback.empty()) text += fmt::format(" (default: {})", roff(o.fallback));
  if (o.required) text += " (required)";
  return text + "\n";
}

std::string command_text(const CommandEntry& command) {
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n.B quarksmith {}\n[\\fIOPTIONS\\fR]", roff(command.name),
                                 roff(command.description), roff(command.name));
  for (const OptionEntry& o : command.options)
    if (o.positional) text += " \\fI" + roff(o.names[0]) + "\\fR";
  text += "\n";
  for (const OptionEntry& o : command.options)
    if (o.names.back() != "--help") text += option_text(o);
  return text;
}

/// Each line of `text` on a line of its own.
std::string lines_text(const std::string& text) {
  std::string result;
  for (const char c : roff(text)) result += c == '\n' ? std::string("\n.br\n") : std::string(1, c);
  return result + "\n";
}

std::string manual(const CLI::App& app) {
  std::string text = fmt::format(
      ".\\\" Made by `quarksmith man`.\n.TH QUARKSMITH 1 \"\" \"Quarksmith {}\" \"User Commands\"\n.SH NAME\n"
      "quarksmith \\- lattice QCD with generated kernels\n.SH SYNOPSIS\n.B quarksmith\n\\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      roff(QUARKSMITH_VERSION), roff(app.get_description()));
  for (const OptionEntry& o : command_entry(app).options) text += option_text(o);
  text += ".SH COMMANDS\n";
  for (const CommandEntry& c : command_table(app)) text += command_text(c);
  text += ".SH EXIT STATUS\n" + lines_text(app.get_footer());
  text += ".SH ENVIRONMENT\n.TP\n\\fBQUARKSMITH_KERNELS\\fR\n" +
          roff("Shared libraries with further kernels, made by `python -m generator kernel` or `expression`.") +
          "\n.TP\n\\fBQUARKSMITH_ON_DEMAND\\fR\n" +
          roff("off: a kernel that the build lacks is an error, and is not compiled when it is first asked for.") +
          "\n";
  return text;
}

}  // namespace

void add_manual(CLI::App& app, int& status) {
  app.add_subcommand("man", "Print the manual page: quarksmith man | man -l -")->callback([&app, &status] {
    fmt::print("{}", manual(app));
    status = 0;
  });
}

}  // namespace quarksmith::apps
