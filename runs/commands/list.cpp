// quarksmith list: what options choose from, as tables.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/session.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/krylov/method.hpp"
#include "solvers/measure/quark_columns.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

using Row = std::vector<std::string>;

std::string code(const std::string& text) { return "`" + text + "`"; }

std::vector<Row> sources() {
  std::vector<Row> rows = {{"`--source`", "range", "source"}};
  for (const SourceKind* kind : listed<SourceKind>())
    rows.push_back({code(form_of(*kind)), ranges_of(kind->parameters), std::string(kind->contents)});
  for (const SmearingKind* kind : listed<SmearingKind>())
    rows.push_back({code(source_form_of(*kind)), ranges_of(kind->parameters), "a point, smeared as a sink"});
  return rows;
}

std::vector<Row> sinks() {
  std::vector<Row> rows = {{"`--sink`", "range", "sink"}, {"`point`", "", "the solution as it is"}};
  for (const SmearingKind* kind : listed<SmearingKind>())
    rows.push_back({code(form_of(*kind)), ranges_of(kind->parameters), std::string(kind->formula)});
  return rows;
}

std::vector<Row> link_smearings() {
  std::vector<Row> rows = {{"`--smear-links`", "range", "links"}};
  for (const LinkSmearingKind* kind : listed<LinkSmearingKind>())
    rows.push_back({code(form_of(*kind)), ranges_of(kind->parameters), std::string(kind->formula)});
  return rows;
}

std::vector<Row> correlators() {
  std::vector<Row> rows = {{"keys", "quarks", "correlators"}};
  for (const CorrelatorKind* kind : listed<CorrelatorKind>())
    rows.push_back({std::string(kind->keys), std::string(kind->quarks), std::string(kind->formula)});
  return rows;
}

/// Those that a user may name, with the numbers that some of them take.
std::vector<Row> solvers() {
  std::vector<Row> rows = {{"`--solver`", "source", "fields", "applications", "other fields", "for"}};
  for (const MethodKind* kind : listed<MethodKind>()) {
    if (!kind->offered) continue;
    std::string names;
    for (const std::string_view name : kind->names)
      if (!name.empty()) names += (names.empty() ? "" : ", ") + code(std::string(name));
    for (const MethodNumber& n : kind->numbers)
      if (!n.option.empty()) names += ", " + code(fmt::format("{} {}", n.option, n.letter));
    rows.push_back({names, std::string(kind->source), std::string(kind->storage), std::string(kind->applications),
                    std::string(kind->traffic), std::string(kind->use)});
  }
  return rows;
}

std::vector<Row> formats() {
  std::vector<Row> rows = {{"format", "`--format`", "endings", "bits of a real", "links"}};
  for (const GaugeFormatInfo& f : known_formats()) {
    if (f.name.empty()) {
      rows.push_back({std::string(f.title), "read alone", "", "", ""});
      continue;
    }
    std::string endings(f.endings[0]);
    if (!f.endings[1].empty()) endings += fmt::format(", {}", f.endings[1]);
    rows.push_back({std::string(f.title), code(std::string(f.name)), endings,
                    f.bits == 0 ? "64, 32" : std::to_string(f.bits), f.any_links ? "any" : "SU(3)"});
  }
  return rows;
}

/// Options of all commands; those that are alike stand together.
std::vector<Row> options() {
  std::map<std::pair<std::string, Row>, std::vector<std::string>> commands_of;
  for (const Command* command : all_commands()) {
    Session session;
    Call call(*command, session);
    for (const Member& m : call.members().all()) {
      if (m.is_hidden()) continue;
      const std::string where = m.where().substr(m.where().starts_with("action ") ? 7 : 0);
      std::string help = m.help();
      for (std::size_t at = 0; (at = help.find("][", at)) != std::string::npos;) help.insert(at + 1, "\\");  // no link
      if (!where.empty() && help.find(where) == std::string::npos) help += "; with " + m.where();
      if (m.is_required()) help += " (required)";
      const std::string name = m.is_positional() ? m.name() : Wording{}.name(m.name());
      const std::string range = m.words().empty() ? m.range_text() : fmt::format("{}", fmt::join(m.words(), ", "));
      const Row row = {code(m.is_flag() ? name : name + " " + m.type()), help, m.is_flag() ? "" : m.shown_default(),
                       range};
      commands_of[{m.name(), row}].emplace_back(command->name);
    }
  }
  std::vector<Row> rows = {{"option", "of", "", "default", "range"}};
  for (const auto& [key, names] : commands_of) {
    Row row = key.second;
    row.insert(row.begin() + 1,
               names.size() == all_commands().size() ? "all" : fmt::format("{}", fmt::join(names, ", ")));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Cells as Markdown has them, which docs/ shows.
std::string line_of(const Row& row) {
  std::string line = "|";
  for (const std::string& cell : row) {
    for (const char c : (cell.empty() ? "" : " ") + cell) line += c == '|' ? std::string("\\|") : std::string(1, c);
    line += " |";
  }
  return line + "\n";
}

/// Columns of the terminal that standard output is; 0: it is none.
std::size_t columns_of_terminal(const Session& session) {
  winsize size{};
  if (session.in_memory || session.take_text || isatty(STDOUT_FILENO) == 0) return 0;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Cells of lines that are no longer than their column, broken at blanks where there are any.
std::vector<std::string> wrapped(std::string cell, std::size_t width) {
  std::erase_if(cell, [](char c) { return c == '`' || c == '\\'; });
  std::vector<std::string> lines;
  while (cell.size() > width) {
    const std::size_t blank = cell.rfind(' ', width), end = blank == std::string::npos || blank == 0 ? width : blank;
    lines.push_back(cell.substr(0, end));
    cell.erase(0, end + (end == blank ? 1 : 0));
  }
  lines.push_back(cell);
  return lines;
}

/// As terminals of so many columns show it: the widest columns give way.
void print_lines(const std::vector<Row>& table, std::size_t columns, Session& session) {
  constexpr std::size_t gap = 2, least = 12;
  std::vector<std::size_t> widths(table[0].size());
  for (const Row& row : table)
    for (std::size_t n = 0; n < row.size(); ++n)
      widths[n] = std::max(widths[n], wrapped(row[n], row[n].size() + 1)[0].size());
  while (std::reduce(widths.begin(), widths.end()) + gap * (widths.size() - 1) > columns) {
    std::size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= least) break;
    --widest;
  }
  for (const Row& row : table) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t n = 0; n < row.size(); ++n) {
      cells.push_back(wrapped(row[n], widths[n]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text;
      for (std::size_t n = 0; n < row.size(); ++n)
        text += fmt::format("{:<{}}", line < cells[n].size() ? cells[n][line] : "", widths[n] + gap);
      print(session, "{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
    }
  }
}

void print_table(const std::vector<Row>& table, Session& session) {
  if (const std::size_t columns = columns_of_terminal(session)) return print_lines(table, columns, session);
  print(session, "{}|", line_of(table[0]));
  for (std::size_t n = 0; n < table[0].size(); ++n) print(session, "---|");
  print(session, "\n");
  for (std::size_t n = 1; n < table.size(); ++n) print(session, "{}", line_of(table[n]));
}

constexpr std::pair<const char*, std::vector<Row> (*)()> tables[] = {
    {"sources", sources}, {"sinks", sinks},     {"correlators", correlators}, {"link-smearings", link_smearings},
    {"solvers", solvers}, {"formats", formats}, {"options", options}};

struct ListDescription : Description {
  std::string what;

  void list(Members& members) override {
    std::vector<std::string> names;
    for (const auto& [name, table] : tables) names.emplace_back(name);
    members.of (*this)("what", what, fmt::format("{}", fmt::join(names, ", "))).required().among(names).positional();
  }
};

void run(ListDescription& o, Session& session) {
  for (const auto& [name, table] : tables)
    if (name == o.what) print_table(table(), session);
}

}  // namespace

namespace commands {
extern constinit const Command list = {.name = "list",
                                       .help = "List what options choose from: names, ranges, formulas",
                                       .place = 20,
                                       .make = task<ListDescription>};
}

}  // namespace quarksmith::runs
