// Every option of every function and command, through quarksmith.h: what is refused, by status and by name. The members
// of commands are those of tests/refusals_test.cpp.
#include <functional>
#include <sstream>

#include "tests/c/support.hpp"
#include "tests/wrong_values.hpp"

namespace {

using namespace c;
using namespace quarksmith::runs;

/// Without names as the command line writes them, but in command lines that are quoted.
void check_words(std::string text) {
  for (std::size_t at; (at = text.find("`quarksmith ")) != std::string::npos;)
    text.erase(at, text.find('`', at + 1) - at + 1);
  EXPECT_EQ(text.find("--"), std::string::npos) << text;
}

std::string help_on(std::string_view name) {
  static char help[65536];
  EXPECT_DONE(quarksmith_help(std::string(name).c_str(), help, sizeof help));
  check_words(help);
  return help;
}

using Given = std::function<quarksmith_status(const char* options)>;

void expect(const Given& give, const std::string& options, quarksmith_status status, const std::string& named) {
  refused(give(options.c_str()), status, named);
  check_words(quarksmith_message());
}

/// Mistakes that can be made with any option.
void check_option(const Given& give, const std::string& name, bool is_flag, const std::string& right, bool repeated) {
  const std::string once = name + (is_flag ? "" : "=" + right) + " ";
  expect(give, misspelt(name) + "=1", QUARKSMITH_UNKNOWN_NAME, misspelt(name));
  expect(give, is_flag ? name + "=1" : name, QUARKSMITH_BAD_ARGUMENT, name + " ");
  expect(give, name + "='1", QUARKSMITH_BAD_ARGUMENT, name + " has no closing '");
  if (!repeated) expect(give, once + once, QUARKSMITH_BAD_ARGUMENT, name + " is given twice");
}

void check_members(const Given& give, const Members& members) {
  for (const Member& m : members.all()) {
    if (m.is_hidden()) continue;
    check_option(give, m.name(), m.is_flag(), word_of(right_value(m, Door::c)), m.is_repeated());
    for (const WrongValue& w : wrong_values(m, Door::c))
      expect(give, m.name() + "='" + word_of(w.value) + "'", QUARKSMITH_BAD_ARGUMENT, m.name());
  }
}

/// The options of a function are those that its help lists: `name=TYPE: ...`, or `name: ...` of a flag.
void check_function(const char* function, const Given& give) {
  std::istringstream lines(help_on(function));
  std::string line;
  int options = 0;
  for (std::getline(lines, line); std::getline(lines, line); ++options) {
    const std::string given = line.substr(0, line.find(": ")), name = given.substr(0, given.find('='));
    const bool is_flag = given == name, is_number = given.ends_with("=FLOAT") || given.ends_with("INT");
    if (is_number) expect(give, name + "=x1", QUARKSMITH_BAD_ARGUMENT, name);
    // 1 is in the range of all numbers but those of reductions, and is no word of a choice
    if (is_flag || is_number) check_option(give, name, is_flag, name == "tol" || name == "delta" ? "0.5" : "1", false);
  }
  EXPECT_GT(options, 5) << function;
}

TEST(CRefusals, AreThoseOfEveryOption) {
  const Lattice lattice({4, 4, 4, 4});
  const Context context = open("cpu", lattice.extent());
  const Gauge gauge = load(context, unit_gauge(lattice));
  quarksmith_field* field = nullptr;
  quarksmith_operator* op = nullptr;
  quarksmith_solver* solver = nullptr;
  quarksmith_shifted* shifted = nullptr;
  check_function("field", [&](const char* o) { return quarksmith_field_create(context, o, &field); });
  check_function("operator", [&](const char* o) { return quarksmith_operator_create(gauge, o, &op); });
  check_function("solver", [&](const char* o) { return quarksmith_solver_create(gauge, o, &solver); });
  check_function("shifted", [&](const char* o) { return quarksmith_shifted_create(gauge, o, 1, &shifted); });
  help_on("quark");
  for (const Command* command : all_commands()) {
    if (command->of_shell) continue;
    const std::string name(command->name);
    help_on(name);
    Session session;
    check_members([&](const char* o) { return quarksmith_run(context, name.c_str(), o, nullptr, nullptr); },
                  Call(*command, session).members());
  }
}

}  // namespace
