#include "runs/hmc_monomials.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "runs/action_keys.hpp"
#include "runs/hmc_gauge.hpp"
#include "runs/multigrid_file.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {
namespace {

constexpr int most_guesses = 30;  ///< solutions that are kept
/// Of actions, which decide what is sampled, and of forces, which decide what is accepted.
constexpr double most_error = 1e-4, most_force_error = 1e-2;

/// Keys of all monomials and of their kinds; the others are parameters of an action.
const KeyRules monomial_keys = {
    "monomial",
    {"name",      "kind",       "action", "even_odd", "stout",    "denominator",    "log_det",   "flavours",
     "tol_force", "tol_action", "sites",  "fields",   "rational", "solver",         "precision", "chronological",
     "twist",     "boundary",   "ls",     "field",    "smearing", "representation", "mg",        "mg_keep",
     "search",    "keep"}};

/// A twisted mass on the sites of M alone; that of files from before there was one is not noted.
void read_twist(TableReader& table, FermionParameters& p) {
  if (!table.has("twist")) return;
  p.twist = table.number("twist");
  const int line = table.find("twist")->line;
  if (p.action.spins() != 4 || p.action.slices() != 1)
    table.fail(line, fmt::format("twist belongs to one Dirac quark in four dimensions, not to {}", p.action.name()));
  if (p.reduction == Reduction::symmetric && p.action.info().twist)
    table.fail(line, fmt::format("twist with mu belongs to even_odd \"asymmetric\" or \"none\": action {} has a mu",
                                 p.action.name()));
}

StatedSmearing read_stout(TableReader table) {
  StatedSmearing s;
  const double rho = table.number("rho");
  s.steps = static_cast<int>(table.integer("steps", 0, 1000));
  s.name = table.word("directions", {"xyzt", "xyz"}, "xyzt") == "xyz" ? "stout_space" : "stout";
  s.parameters = {{"rho", rho}};
  if (!(std::abs(rho) <= 1)) table.fail(fmt::format("rho = {}; use a number between -1 and 1", rho));
  table.done();
  return rho == 0 ? StatedSmearing{} : s;
}

/// Any smearing of the table by its name, with its parameters.
StatedSmearing read_smearing(TableReader table) {
  StatedSmearing s;
  s.name = stated_name(table.text("name"));
  s.steps = static_cast<int>(table.integer("steps", 0, 1000));
  try {
    for (const ActionParameter& p : find_smearing(s.name).parameters)
      if (p.required || table.has(std::string(p.name))) s.parameters.emplace(p.name, table.number(std::string(p.name)));
    program_of(s);
  } catch (const UsageError& e) {
    table.fail(e.what());
  }
  table.done();
  return s;
}

RationalFunction read_rational(TableReader table) {
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

/// A positive number that is small: a tolerance, or the error of an approximation.
double small(TableReader& table, const std::string& key, double fallback, double most) {
  const double t = table.number(key, fallback);
  if (!(t > 0 && t <= most))
    table.fail(table.find(key)->line, fmt::format("{} = {}; use a positive number up to {}", key, t, most));
  return t;
}

/// A key that names something. \param read throws if there is nothing of that name.
template <class Read>
void read_name(TableReader& table, const std::string& key, const Read& read) {
  if (!table.has(key)) return table.note(key, "");
  const std::string name = table.text(key);
  try {
    read(name);
  } catch (const UsageError& e) {
    table.fail(table.find(key)->line, e.what());
  }
}

/// \throws UsageError multigrid does not serve the operator, or the lattice.
void check_multigrid_of(const FermionParameters& f, const RunPlace& place) {
  if (f.action.spins() != 4 || !f.action.info().chain.empty())
    throw UsageError(
        fmt::format("solver 'multigrid': it is for Dirac spinors without a fifth dimension, not for {}; "
                    "use auto or cg",
                    f.action.name()));
  if (f.twist != 0) throw UsageError("solver 'multigrid': it is for operators without twist; use auto or cg");
  multigrid_for(place.lattice, f.action.slices());
}

/// Keys of multigrid.
void read_cycles(TableReader& table, FermionSolver& s, const FermionParameters& fermion, const RunPlace& place) {
  const bool cycles = s.method->cycle_fields > 0;
  if (table.has("mg") && !cycles)
    table.fail(table.find("mg")->line, "mg belongs to solver \"multigrid\"; leave it out");
  if (table.has("mg_keep") && !cycles)
    table.fail(table.find("mg_keep")->line, "mg_keep belongs to solver \"multigrid\"; leave it out");
  if (table.has("mg_keep")) s.keeps_vectors = table.flag("mg_keep", false);  // files from before know neither
  if (!table.has("mg")) return;
  const std::string file = table.text("mg");
  try {
    s.multigrid = read_multigrid((place.folder / file).string(), place.lattice, fermion.action.slices());
  } catch (const UsageError& e) {
    table.fail(table.find("mg")->line, e.what());
  }
}

/// Keys of eigcg.
void read_search(TableReader& table, FermionSolver& s) {
  for (const char* key : {"search", "keep"}) {
    if (!table.has(key)) continue;
    if (s.method != Method::eigcg)
      table.fail(table.find(key)->line, fmt::format("{} belongs to solver \"eigcg\"; leave it out", key));
    (key == std::string("search") ? s.parameters.search : s.parameters.keep) =
        static_cast<int>(table.integer(key, 1, 1000));
  }
  try {
    check(s.method, s.parameters);
  } catch (const UsageError& e) {
    table.fail(e.what());
  }
}

/// How its systems are solved: names as of the options of `propagator`.
FermionSolver read_solver(TableReader& table, const std::string& kind, const FermionParameters& fermion,
                          const RunPlace& place) {
  FermionSolver s;
  if (kind == "rational") s.method = Method::cg;
  read_name(table, "solver", [&](const std::string& name) {
    s.method = method_of(name);
    if (kind == "rational")
      throw UsageError(fmt::format(
          "solver '{}': kind rational is solved for all of its poles by conjugate gradients; leave it out", name));
    const bool cycles = s.method->cycle_fields > 0;
    const auto all = {Method::automatic, Method::cg, Method::bicgstab, Method::eigcg};
    if (!cycles && std::find(all.begin(), all.end(), s.method) == all.end())
      throw UsageError(
          fmt::format("solver '{}': forces are solved for by auto, cg, bicgstab, eigcg or multigrid; use "
                      "one of these",
                      name));
    if (cycles) check_multigrid_of(fermion, place);
  });
  read_search(table, s);
  read_cycles(table, s, fermion, place);
  read_name(table, "precision", [&](const std::string& name) {
    if (name == automatic_precision) return;
    if (precisions_of(name, 2).outer->name != "double")
      throw UsageError(
          fmt::format("precision '{}': residuals are those in double; use double, double-single or double-half", name));
    if (precisions_of(name, 2).inner->bits < s.method->least_bits)
      throw UsageError(
          fmt::format("precision '{}': {} iterates in single or double; use double-single", name, name_of(s.method)));
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

FermionKeys read_fermion(TableReader& table, const std::string& kind, RunPlace& place) {
  ActionKeys keys;
  const std::string name = table.text("action");
  read_keys(table, monomial_keys, nullptr, keys);
  FermionKeys f{
      kind,
      name,
      {FermionParameters{read_action(table, monomial_keys, name, keys, place.lattice, place.folder, place.session)}},
      keys};
  const Action& action = f.term.fermion.action;
  const bool even_odd = action.has_even_odd(), squared = action.is_squared();
  const std::string form = table.word("even_odd", {"symmetric", "asymmetric", "none"}, even_odd ? "symmetric" : "none");
  if (form != "none" && !even_odd && !squared)
    table.fail(table.find("even_odd")->line, fmt::format("action {} has no even-odd form; use none", f.action));
  if (squared && (kind != "rational" || table.has("even_odd")))
    table.fail(kind != "rational"
                   ? fmt::format("kind {} with action {}: staggered quarks are of kind rational, with A = "
                                 "4 m^2 - D_eo D_oe on even sites",
                                 kind, f.action)
                   : fmt::format("even_odd belongs to Dirac quarks, not to {}; leave it out", f.action));
  f.term.fermion.reduction = squared ? Reduction::asymmetric : reduction_of(form);
  if (auto stout = table.table("stout", table.called() + ": stout")) f.term.fermion.smearing = read_stout(*stout);
  if (auto smearing = table.table("smearing", table.called() + ": smearing")) {
    if (table.has("stout")) smearing->fail("stout is there too; give one of them");
    f.term.fermion.smearing = read_smearing(*smearing);
  }
  if (table.has("representation"))
    read_name(table, "representation", [&](const std::string& of) {
      f.term.fermion.smearing.representation = representation_of(of);
      if (const int colours = dimension(representation_of(of), place.colours); colours > most_colours)
        throw UsageError(fmt::format("representation '{}' of SU({}) has {} colours; fields have {} at most", of,
                                     place.colours, colours, most_colours));
    });
  place.reach = std::max(place.reach, action.reach());
  if (kind == "log-det") return f;
  read_twist(table, f.term.fermion);
  f.term.log_det = table.flag("log_det", true);
  f.term.tol_force = small(table, "tol_force", f.term.tol_force, most_force_error);
  f.term.tol_action = small(table, "tol_action", f.term.tol_action, most_error);
  f.term.solver = read_solver(table, kind, f.term.fermion, place);
  f.term.solver.look = place.look;
  if (kind == "rational" && table.has("chronological"))
    table.fail(table.find("chronological")->line,
               "chronological: a first guess serves one system, not those of all poles of kind rational; leave it out");
  f.term.chronological = static_cast<int>(table.integer("chronological", 0, most_guesses, 0));
  return f;
}

/// Powers of A = M^+ M with which `fields` pseudofermions give |det M|^flavours, or with staggered quarks, four of
/// which are one M, det A^(flavours/4). Of a given number of poles the heat bath has the inverse of the action, as
/// Chroma has it.
RationalFunctions fitted(TableReader& functions, bool staggered, int flavours, int fields,
                         std::vector<std::string>& remarks) {
  const std::vector<double> range = functions.numbers("range");
  if (range.size() != 2) functions.fail(functions.find("range")->line, "range is not [lower, upper] of M^+ M");
  const int part = (staggered ? 8 : 4) * fields;
  const Interval interval{range[0], range[1]};
  const Power power{-flavours, part}, of_force{-flavours, part / 2};
  const auto poles = [&](const char* key, Power p, double most) {
    const int n = static_cast<int>(functions.integer(key, 1, most_poles));
    RationalFit fit = remez(p, n, interval);
    if (!(fit.error <= most))
      functions.fail(functions.find(key)->line, fmt::format("{} = {} leave an error of {:.2g} on {} to {}; use more, "
                                                            "for at most {}",
                                                            key, n, fit.error, interval.lower, interval.upper, most));
    return fit;
  };
  const auto remark = [&](const char* what, const RationalFit& fit) {
    remarks.push_back(fmt::format("{}: {} on {} to {}: {} poles, error {:.2g}", functions.called(), what,
                                  interval.lower, interval.upper, fit.function.poles.size(), fit.error));
  };
  try {
    if (functions.has("poles")) {
      const RationalFit action = poles("poles", power, most_error),
                        force = poles("force_poles", of_force, most_force_error);
      remark("action and heat bath", action);
      remark("force", force);
      return {action.inverse, action.function, force.function, interval, 2 * action.error};
    }
    const double error = small(functions, "error", 1e-10, most_error),
                 force_error = small(functions, "force_error", 1e-7, most_force_error);
    const bool is_whole = flavours > 0;  // of bosons the function grows, and the bound on its error is of no use
    const RationalFit heatbath = fit_to_error({flavours, part}, error, interval),
                      action = fit_to_error(is_whole ? of_force : power, error, interval),
                      force = fit_to_error(of_force, force_error, interval);
    remark("heat bath", heatbath);
    remark("action", action);
    remark("force", force);
    const double of_both = 2 * heatbath.error + (is_whole ? 1 : 2) * action.error;
    return {heatbath.function, action.function, force.function, interval, of_both, is_whole};
  } catch (const UsageError& e) {
    functions.fail(e.what());
  }
}

std::unique_ptr<Monomial> read_rational_monomial(TableReader& table, const std::string& name, const FermionKeys& f,
                                                 std::vector<std::string>& remarks) {
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
    r = fitted(*functions, f.term.fermion.action.is_squared(), flavours, fields, remarks);
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

std::unique_ptr<Monomial> read_monomial(TableReader table, RunPlace& place) {
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
  FermionKeys f = read_fermion(table, kind, place);
  if (kind == "two-flavour") {
    made = std::make_unique<TwoFlavourMonomial>(name, f.term);
  } else if (kind == "two-flavour-ratio") {
    auto below = table.table("denominator", fmt::format("monomial '{}': denominator", name));
    if (!below) table.fail("denominator is missing; give {kappa = ...}: the keys in which its operator differs");
    read_keys(*below, monomial_keys, &f.term.fermion.action.info(), f.keys);
    FermionParameters denominator = f.term.fermion;
    denominator.action =
        read_action(*below, monomial_keys, f.action, f.keys, place.lattice, place.folder, place.session);
    read_twist(*below, denominator);
    below->done();
    made = std::make_unique<RatioMonomial>(name, f.term, denominator);
  } else if (kind == "rational") {
    made = read_rational_monomial(table, name, f, place.remarks);
  } else {
    if (f.term.fermion.action.info().blocks.empty())
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

}  // namespace quarksmith::runs
