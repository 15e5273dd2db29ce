#include "apps/hmc_monomials.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>

#include "apps/action_options.hpp"
#include "apps/command_table.hpp"
#include "apps/hmc_gauge.hpp"
#include "apps/option_rules.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/krylov/solve.hpp"

namespace quarksmith::apps {
namespace {

constexpr int most_guesses = 30;  ///< solutions that are kept

/// Keys of all monomials and of their kinds; the others are parameters of an action.
const std::vector<std::string> own_keys = {"name",     "kind",     "action",    "even_odd",      "stout", "denominator",
                                           "log_det",  "flavours", "tol_force", "tol_action",    "sites", "fields",
                                           "rational", "solver",   "precision", "chronological", "twist"};

std::string option_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

/// Options in a message as keys.
std::string with_keys(const std::string& message) {
  static const std::regex option("--([a-z][a-z0-9-]*)");
  std::string text;
  auto from = message.cbegin();
  for (std::sregex_iterator at(message.begin(), message.end(), option), end; at != end; ++at) {
    std::string key = (*at)[1];
    std::replace(key.begin(), key.end(), '-', '_');
    text.append(from, (*at)[0].first).append(key);
    from = (*at)[0].second;
  }
  return text.append(from, message.cend());
}

/// A number or a list of numbers as the option takes it.
std::string option_text(const TomlReader& table, const std::string& key, const TomlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  const auto* list = std::get_if<std::vector<TomlValue>>(&value.value);
  if (list == nullptr) return fmt::format("{}", table.as_number(key, value));
  std::string all;
  for (const TomlValue& one : *list) all += fmt::format("{}{}", all.empty() ? "" : ",", table.as_number(key, one));
  return all;
}

/// Parameters of an action by key, of a monomial and, instead of these, of its denominator.
using ActionKeys = std::map<std::string, const TomlValue*>;

ActionKeys action_keys(const TomlTable& table) {
  ActionKeys keys;
  for (const auto& [key, value] : table.entries)
    if (std::find(own_keys.begin(), own_keys.end(), key) == own_keys.end()) keys.emplace(key, &value);
  return keys;
}

/// Of a denominator: what stands for the same thing goes.
void replace(ActionKeys& keys, const TomlTable& table) {
  for (const auto& [key, value] : table.entries) {
    if (key == "twist") continue;
    for (const auto& [one, other] : {std::pair{"kappa", "mass"}, {"mass", "kappa"}})
      if (key == one) keys.erase(other);
    keys[key] = &value;
  }
}

/// Keys of an action, and what makes them options.
std::string option_for(const CLI::App& command, const std::string& key) {
  const CLI::Option* option = command.get_option_no_throw(option_of(key));
  if (option != nullptr && key != "gauge" && key != "lattice" && key != "allow_non_su3" && key != "help")
    return option_of(key);
  std::vector<std::string> known = own_keys;
  for (const CLI::Option* o : command.get_options()) known.push_back(with_keys(o->get_name()));
  const std::string meant = nearest(key, known);
  throw UsageError(fmt::format("key '{}' is unknown{}; the keys of an action are options of `quarksmith propagator`",
                               printable(key), meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

/// The action as the options of `propagator` make it: its rules, ranges and messages are theirs. A staggered mass may
/// be 0: the poles of rational functions have masses of their own.
FermionParameters read_action(const TomlReader& table, const std::string& action, const ActionKeys& keys) {
  CLI::App command("", "monomial");
  ActionOptions options;
  options.add_to(command);
  command.get_option("--gauge")->required(false);
  FermionParameters p;
  std::vector<std::string> words = {"--action=" + action};
  int line = table.line();
  try {
    options.action = action;
    const bool staggered = options.info(command).spins == 1;
    for (const auto& [key, value] : keys) {
      line = value->line;
      const std::string option = option_for(command, key), text = option_text(table, key, *value);
      const bool massless = staggered && key == "mass" && table.as_number(key, *value) == 0;
      words.push_back(option + "=" + (massless ? "1" : text));
      if (staggered && key == "mass") p.staggered_mass = table.as_number(key, *value);
    }
    line = table.line();
    std::reverse(words.begin(), words.end());
    command.parse(words);
    check_options(command, {.action = action, .solvers = {}, .precisions = {}});
    p.boundary = boundary_phases(options.boundary.empty() ? "antiperiodic" : options.boundary);
    p.action = options.choose(command, p.boundary).action;
  } catch (const CLI::ParseError& e) {
    table.fail(line, with_keys(e.what()));
  } catch (const UsageError& e) {
    table.fail(line, with_keys(e.what()));
  }
  return p;
}

/// Whether an action has one of its numbers: a site term made of links, a twisted mass.
bool has_number(const Action& action, ActionNumber ActionInfo::*number) {
  const auto all = actions();
  return std::any_of(all.begin(), all.end(), [&](const ActionInfo& info) {
    return option_name(info.name) == action.name() && info.*number != nullptr;
  });
}

/// A twisted mass on the sites of M alone; that of files from before there was one is not noted.
void read_twist(TomlReader& table, FermionParameters& p) {
  if (!table.has("twist")) return;
  p.twist = table.number("twist");
  const int line = table.find("twist")->line;
  if (p.action->spins() != 4 || p.action->slices() != 1)
    table.fail(line, fmt::format("twist belongs to one Dirac quark in four dimensions, not to {}", p.action->name()));
  if (p.reduction == Reduction::symmetric && has_number(*p.action, &ActionInfo::twist))
    table.fail(line, fmt::format("twist with mu belongs to even_odd \"asymmetric\" or \"none\": action {} has a mu",
                                 p.action->name()));
}

StoutLinks read_stout(TomlReader table) {
  StoutLinks s;
  s.rho = table.number("rho");
  s.steps = static_cast<int>(table.integer("steps", 0, 1000));
  const std::string along = table.word("directions", {"xyzt", "xyz"}, "xyzt");
  s.space = along == "xyz";
  if (!(std::abs(s.rho) <= 1)) table.fail(fmt::format("rho = {}; use a number between -1 and 1", s.rho));
  table.done();
  return s.rho == 0 ? StoutLinks{} : s;
}

RationalFunction read_rational(TomlReader table) {
  RationalFunction r;
  r.constant = table.number("constant");
  r.residues = table.numbers("residues");
  r.poles = table.numbers("poles");
  if (r.residues.size() != r.poles.size())
    table.fail(fmt::format("{} residues and {} poles; give as many of both", r.residues.size(), r.poles.size()));
  for (const double pole : r.poles)
    if (pole < 0)
      table.fail(fmt::format("pole {} is negative: A + pole has to be positive; use poles of 0 or more", pole));
  table.done();
  return r;
}

double tolerance(TomlReader& table, const std::string& key, double fallback) {
  const double t = table.number(key, fallback);
  if (!(t > 0 && t < 1))
    table.fail(table.find(key)->line, fmt::format("{} = {}; use a number between 0 and 1", key, t));
  return t;
}

/// A key that names something. \param read throws if there is nothing of that name.
template <class Read>
void read_name(TomlReader& table, const std::string& key, const Read& read) {
  if (!table.has(key)) return table.note(key, "");
  const std::string name = table.text(key);
  try {
    read(name);
  } catch (const UsageError& e) {
    table.fail(table.find(key)->line, e.what());
  }
}

/// How its systems are solved: names as of the options of `propagator`.
FermionSolver read_solver(TomlReader& table, const std::string& kind) {
  FermionSolver s;
  if (kind == "rational") s = {Method::cg, "double"};
  read_name(table, "solver", [&](const std::string& name) {
    s.method = method_of(name);
    if (kind == "rational")
      throw UsageError(fmt::format(
          "solver '{}': kind rational is solved for all of its poles by conjugate gradients; leave it out", name));
    if (s.method != Method::automatic && s.method != Method::cg && s.method != Method::bicgstab)
      throw UsageError(
          fmt::format("solver '{}': forces are solved for by auto, cg or bicgstab; use one of these", name));
  });
  read_name(table, "precision", [&](const std::string& name) {
    if (precisions_of(name, 2).outer->name != "double")
      throw UsageError(
          fmt::format("precision '{}': residuals are those in double; use double, double-single or double-half", name));
    s.precision = name;
  });
  return s;
}

/// All that the keys of a monomial with an action say of it.
struct FermionKeys {
  std::string kind, action;
  FermionTerm term;
  ActionKeys keys;
};

FermionKeys read_fermion(TomlReader& table, const std::string& kind, int& reach) {
  FermionKeys f{kind, table.text("action"), {}, action_keys(table.contents())};
  for (const auto& [key, value] : f.keys) table.find(key);
  f.term.fermion = read_action(table, f.action, f.keys);
  for (const auto& [key, value] : f.keys) table.note(key, option_text(table, key, *value));
  const bool even_odd = f.term.fermion.action->has_even_odd(), staggered = f.term.fermion.action->spins() == 1;
  const std::string form = table.word("even_odd", {"symmetric", "asymmetric", "none"}, even_odd ? "symmetric" : "none");
  if (form != "none" && !even_odd)
    table.fail(table.find("even_odd")->line, fmt::format("action {} has no even-odd form; use none", f.action));
  if (staggered && (kind != "rational" || table.has("even_odd")))
    table.fail(kind != "rational"
                   ? fmt::format("kind {} with action {}: staggered quarks are of kind rational, with A = "
                                 "4 m^2 - D_eo D_oe on even sites",
                                 kind, f.action)
                   : fmt::format("even_odd belongs to Dirac quarks, not to {}; leave it out", f.action));
  f.term.fermion.reduction = staggered ? Reduction::asymmetric : reduction_of(form);
  if (auto stout = table.table("stout", table.called() + ": stout")) f.term.fermion.stout = read_stout(*stout);
  reach = std::max(reach, f.term.fermion.action->reach());
  if (kind == "log-det") return f;
  read_twist(table, f.term.fermion);
  f.term.log_det = table.flag("log_det", true);
  f.term.tol_force = tolerance(table, "tol_force", f.term.tol_force);
  f.term.tol_action = tolerance(table, "tol_action", f.term.tol_action);
  f.term.solver = read_solver(table, kind);
  if (kind == "rational" && table.has("chronological"))
    table.fail(table.find("chronological")->line,
               "chronological: a first guess serves one system, not those of all poles of kind rational; leave it out");
  f.term.chronological = static_cast<int>(table.integer("chronological", 0, most_guesses, 0));
  return f;
}

/// Powers of A = M^+ M with which `fields` pseudofermions give |det M|^flavours, or with staggered quarks, four of
/// which are one M, det A^(flavours/4). Of a given number of poles the heat bath has the inverse of the action, as
/// Chroma has it.
RationalFunctions fitted(TomlReader& functions, bool staggered, int flavours, int fields) {
  const std::vector<double> range = functions.numbers("range");
  if (range.size() != 2) functions.fail(functions.find("range")->line, "range is not [lower, upper] of M^+ M");
  const int part = (staggered ? 8 : 4) * fields;
  const Interval interval{range[0], range[1]};
  try {
    if (functions.has("poles")) {
      const auto poles = [&](const char* key) { return static_cast<int>(functions.integer(key, 1, most_poles)); };
      const RationalFit action = remez({-flavours, part}, poles("poles"), interval),
                        force = remez({-flavours, part / 2}, poles("force_poles"), interval);
      return {action.inverse, action.function, force.function, interval};
    }
    const double error = functions.number("error", 1e-10), force_error = functions.number("force_error", 1e-7);
    return {fit_to_error({flavours, part}, error, interval).function,
            fit_to_error({-flavours, part}, error, interval).function,
            fit_to_error({-flavours, part / 2}, force_error, interval).function, interval};
  } catch (const UsageError& e) {
    functions.fail(e.what());
  }
}

std::unique_ptr<Monomial> read_rational_monomial(TomlReader& table, const std::string& name, const FermionKeys& f) {
  auto functions = table.table("rational", fmt::format("monomial '{}': rational", name));
  if (!functions)
    table.fail(
        "its rational functions are missing; give rational = {range = [lower, upper]}, or tables heatbath, action "
        "and force with residues and poles");
  const int fields = static_cast<int>(table.integer("fields", 1, 64, 1)),
            flavours = static_cast<int>(table.integer("flavours", -64, 64, 1));
  if (flavours == 0)
    table.fail(table.find("flavours")->line, "flavours = 0; use a number of flavours, or of bosons with -");
  RationalFunctions r;
  if (functions->has("range")) {
    r = fitted(*functions, f.term.fermion.action->spins() == 1, flavours, fields);
  } else {
    for (const auto& [key, to] : {std::pair{"heatbath", &r.heatbath}, {"action", &r.action}, {"force", &r.force}}) {
      auto one = functions->table(key, fmt::format("monomial '{}': rational.{}", name, key));
      if (!one) functions->fail(fmt::format("{} is missing; give constant, residues and poles", key));
      *to = read_rational(*one);
    }
  }
  functions->done();
  return std::make_unique<RationalMonomial>(name, f.term, r, fields, flavours);
}

}  // namespace

std::unique_ptr<Monomial> read_monomial(TomlReader table, int& reach) {
  const std::string name = table.text("name");
  if (name.empty() || name.find('/') != std::string::npos || name != printable(name))
    table.fail(fmt::format("name '{}'; use letters, digits and the like without /", printable(name)));
  table.call(fmt::format("monomial '{}'", name));
  const std::string kind = table.word("kind", {"gauge", "two-flavour", "two-flavour-ratio", "rational", "log-det"});
  std::unique_ptr<Monomial> made;
  if (kind == "gauge") {
    made = std::make_unique<GaugeMonomial>(name, read_gauge_action(table));
    table.done();
    return made;
  }
  FermionKeys f = read_fermion(table, kind, reach);
  if (kind == "two-flavour") {
    made = std::make_unique<TwoFlavourMonomial>(name, f.term);
  } else if (kind == "two-flavour-ratio") {
    auto below = table.table("denominator", fmt::format("monomial '{}': denominator", name));
    if (!below) table.fail("denominator is missing; give {kappa = ...}: the keys in which its operator differs");
    replace(f.keys, below->contents());
    FermionParameters denominator = f.term.fermion;
    denominator.action = read_action(*below, f.action, f.keys).action;
    read_twist(*below, denominator);
    for (const auto& [key, value] : below->contents().entries) below->note(key, option_text(*below, key, value));
    made = std::make_unique<RatioMonomial>(name, f.term, denominator);
  } else if (kind == "rational") {
    made = read_rational_monomial(table, name, f);
  } else {
    if (!has_number(*f.term.fermion.action, &ActionInfo::clover_space))
      table.fail(
          fmt::format("the log det of action {} does not depend on the links; leave the monomial out", f.action));
    const std::string sites = table.word("sites", {"even", "odd", "all"}, "all");
    made = std::make_unique<LogDetMonomial>(name, f.term, table.number("flavours"),
                                            sites == "even"  ? Subset::even
                                            : sites == "odd" ? Subset::odd
                                                             : Subset::full);
  }
  table.done();
  return made;
}

}  // namespace quarksmith::apps
