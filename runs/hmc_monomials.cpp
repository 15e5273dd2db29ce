#include "runs/hmc_monomials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "runs/action.hpp"
#include "runs/hmc_gauge.hpp"
#include "runs/multigrid_file.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {
namespace {

using Kind = Refusal::Kind;

/// Of actions, which decide what is sampled, and of forces, which decide what is accepted.
constexpr double most_error = 1e-4, most_force_error = 1e-2;
constexpr int most_smearing_steps = 1000;

StatedSmearing read_stout(TableReader table) {
  double rho = 0;
  StatedSmearing s{.name = "stout", .parameters = {}};
  std::string where = "xyzt";
  table.read_rest([&](Members::Adder& add) {
    add("rho", rho, "weight of staples").required().range(-1, 1);
    add("steps", s.steps, "how often").required().range(0, most_smearing_steps);
    add("directions", where, "of links and staples").among({"xyzt", "xyz"});
  });
  if (where == "xyz") s.name = "stout_space";
  s.parameters = {{"rho", rho}};
  return rho == 0 ? StatedSmearing{} : s;
}

/// Any smearing of links by its name, with its parameters.
StatedSmearing read_smearing(TableReader table) {
  StatedSmearing s{.name = stated_name(table.text("name")), .parameters = {}};
  std::map<std::string, double> numbers;
  table.locate([&] {
    table.read_rest([&](Members::Adder& add) {
      add("steps", s.steps, "how often").required().range(0, most_smearing_steps);
      for (const ActionParameter& p : find_smearing(s.name).parameters)
        add(std::string(p.name), numbers[std::string(p.name)], std::string(p.help)).required(p.required).recent();
    });
    for (const auto& [name, number] : numbers)
      if (table.has(name)) s.parameters.emplace(name, number);
    program_of(s);
  });
  return s;
}

RationalFunction read_rational(TableReader table) {
  RationalFunction r;
  table.read_rest([&](Members::Adder& add) {
    add("constant", r.constant, "what is left of it at infinity").required();
    add("residues", r.residues, "of its poles").required();
    add("poles", r.poles, "numbers that are added to A").required().range(0, std::numeric_limits<double>::infinity());
  });
  if (r.residues.size() != r.poles.size())
    table.refuse(Kind::contradicts, "residues",
                 fmt::format("{} residues and {} poles; give as many of both", r.residues.size(), r.poles.size()));
  return r;
}

/// Keys of quarks: those of the operator, parameters of its action among them, and those of solves.
struct QuarkTable : Description {
  QuarkTable(std::string of, int of_links) : kind(std::move(of)), colours(of_links) {}
  std::string kind;
  int colours;
  ActionDescription action;
  std::string even_odd, representation, solver, precision, sites = "all";
  std::filesystem::path mg;
  double twist = 0, determinants = 0, tol_force = 1e-10, tol_action = 1e-12;
  int fields = 1, flavours = 1, chronological = 0;
  bool log_det = true;
  FermionSolver solve;

  void list(Members& members) override;
  void check() override;
  bool is_rational() const { return kind == "rational"; }

 private:
  void list_solves(Members::Adder add);
  Method method_for(const std::string& name) const;
  void require_representation(const std::string& name) const;
};

void QuarkTable::list(Members& members) {
  action.list_keys(members);
  auto add = members.of(*this);
  add("even_odd", even_odd, "form of its operator").among({"symmetric", "asymmetric", "none"}).recent();
  add("representation", representation, "of its links").recent().parsed([this](const std::string& name) {
    require_representation(name);
  });
  if (kind == "log-det") {
    add("flavours", determinants, "of determinants").required();
    add("sites", sites, "of the site terms").among({"even", "odd", "all"});
    return;
  }
  add("twist", twist, "M + i twist gamma_5").recent();
  add("log_det", log_det, "with determinants of the site terms that even-odd forms leave out");
  add("tol_force", tol_force, "residual of solves for forces").up_to(most_force_error);
  add("tol_action", tol_action, "residual of those for actions").up_to(most_error);
  list_solves(add);
  if (!is_rational()) return;
  add("fields", fields, "pseudofermions").range(1, 64);
  add("flavours", flavours, "or bosons, with -").range(-64, 64).parsed([](const std::string& n) {
    if (n == "0") throw UsageError("flavours = 0; use a number of flavours, or of bosons with -");
  });
}

void QuarkTable::list_solves(Members::Adder add) {
  constexpr int most_guesses = 30;
  const auto only_by = [this](Member& m, const std::string& name) {
    m.recent().only("solver " + name, [this, name] {
      return name_of(solve.method) == name ? "" : fmt::format("belongs to {}; leave it out", called("solver", name));
    });
  };
  add("solver", solver, "of its systems").parsed([this](const std::string& name) { solve.method = method_for(name); });
  add("precision", precision, "of residuals and of iterations").parsed([](const std::string& name) {
    if (name != automatic_precision && precisions_of(name, 2).outer->name != "double")
      throw UsageError(
          fmt::format("precision '{}': residuals are those in double; use double, double-single or double-half", name));
  });
  add("chronological", chronological, "solutions from which forces take their first guess")
      .range(0, most_guesses)
      .only("kinds two-flavour, two-flavour-ratio", [this] {
        return is_rational() ? "belongs to one system, not to those of all poles of kind rational; leave it out" : "";
      });
  only_by(add("search", solve.parameters.search, "vectors of the search space").range(1, 1000), "eigcg");
  only_by(add("keep", solve.parameters.keep, "of them, for later solves").range(1, 1000), "eigcg");
  only_by(add("mg", mg, "parameters of multigrid").path(), "multigrid");
  only_by(add("mg_keep", solve.keeps_vectors, "near-null vectors, from one trajectory to the next"), "multigrid");
}

Method QuarkTable::method_for(const std::string& name) const {
  const Method method = method_of(name);
  if (is_rational())
    throw UsageError(fmt::format(
        "solver '{}': kind rational is solved for all of its poles by conjugate gradients; leave it out", name));
  const auto all = {Method::automatic, Method::cg, Method::bicgstab, Method::eigcg};
  if (method->cycle_fields == 0 && std::find(all.begin(), all.end(), method) == all.end())
    throw UsageError(fmt::format(
        "solver '{}': forces are solved for by auto, cg, bicgstab, eigcg or multigrid; use one of these", name));
  return method;
}

void QuarkTable::require_representation(const std::string& name) const {
  if (const int n = dimension(representation_of(name), colours); n > most_colours)
    throw UsageError(fmt::format("representation '{}' of SU({}) has {} colours; fields have {} at most", name, colours,
                                 n, most_colours));
}

void QuarkTable::check() {
  if (is_rational()) solve.method = Method::cg;
  quarksmith::check(solve.method, solve.parameters);
  if (precision.empty() || precision == automatic_precision) return;
  if (precisions_of(precision, 2).inner->bits < solve.method->least_bits)
    refuse(Kind::contradicts, "precision",
           fmt::format("'{}': {} iterates in single or double; use double-single", precision, name_of(solve.method)));
  solve.precision = precision;
}

/// A twisted mass on the sites of M alone.
void require_twistable(const Description& keys, const FermionParameters& p) {
  if (!keys.given("twist")) return;
  if (p.action.spins() != 4 || p.action.slices() != 1)
    keys.refuse(Kind::applies, "twist",
                fmt::format("belongs to one Dirac quark in four dimensions, not to {}", p.action.name()));
  if (p.even_odd_form == EvenOddForm::symmetric && p.action.info().twist)
    keys.refuse(
        Kind::contradicts, "twist",
        fmt::format("with mu belongs to even_odd \"asymmetric\" or \"none\": action {} has a mu", p.action.name()));
}

/// The even-odd form, by default the one of its action. \throws Refusal they do not suit each other.
EvenOddForm reduction_for(TableReader& table, const QuarkTable& q, const Action& action) {
  const bool even_odd = action.has_even_odd(), squared = action.is_squared();
  const std::string form = q.given("even_odd") ? q.even_odd : even_odd ? "symmetric" : "none";
  table.note("even_odd", form);
  if (squared && !q.is_rational())
    table.refuse(Kind::contradicts, "kind",
                 fmt::format("kind {} with action {}: staggered quarks are of kind rational, with A = 4 m^2 - D_eo "
                             "D_oe on even sites",
                             q.kind, q.action.action));
  if (squared && q.given("even_odd"))
    q.refuse(Kind::applies, "even_odd",
             fmt::format("belongs to Dirac quarks, not to {}; leave it out", q.action.action));
  if (form != "none" && !even_odd && !squared)
    q.refuse(Kind::contradicts, "even_odd", fmt::format(": action {} has no even-odd form; use none", q.action.action));
  return squared ? EvenOddForm::asymmetric : even_odd_form_of(form);
}

/// What is wrong with a key is said by \param work.
template <class Work>
void at_key(const TableReader& table, const char* key, const Work& work) {
  try {
    work();
  } catch (const UsageError& e) {
    table.refuse(Kind::contradicts, key, e.what());
  }
}

void prepare_multigrid(const TableReader& table, QuarkTable& q, const FermionParameters& f, const RunPlace& place) {
  if (q.solve.method->cycle_fields == 0) return;
  at_key(table, "solver", [&] {
    if (f.action.spins() != 4 || !f.action.info().chain.empty())
      throw UsageError(
          fmt::format("solver 'multigrid': it is for Dirac spinors without a fifth dimension, not for {}; "
                      "use auto or cg",
                      f.action.name()));
    if (q.twist != 0) throw UsageError("solver 'multigrid': it is for operators without twist; use auto or cg");
    multigrid_for(place.lattice, f.action.slices());
  });
  if (q.given("mg"))
    at_key(table, "mg", [&] {
      place.session.reading("mg", q.mg),
          q.solve.multigrid = read_multigrid(q.mg.string(), place.lattice, f.action.slices());
    });
}

/// \param q gets the keys of the table.
FermionTerm read_quark(TableReader& table, QuarkTable& q, RunPlace& place) {
  StatedSmearing smearing;
  if (auto stout = table.table("stout", table.called() + ": stout")) smearing = read_stout(*stout);
  if (auto other = table.table("smearing", table.called() + ": smearing")) {
    if (table.has("stout")) other->fail("stout is there too; give one of them");
    smearing = read_smearing(*other);
  }
  q.action.state(table, place.folder);
  table.read_rest(q, place.folder);
  FermionTerm term{{q.action.make(place.lattice, place.folder, place.session)}};
  note_action(table, term.fermion.action, place.session);
  FermionParameters& f = term.fermion;
  f.even_odd_form = reduction_for(table, q, f.action);
  f.smearing = smearing;
  f.twist = q.twist;
  if (!q.representation.empty()) f.smearing.representation = representation_of(q.representation);
  require_twistable(q, f);
  prepare_multigrid(table, q, f, place);
  place.reach = std::max(place.reach, f.action.reach());
  q.solve.look = place.look;
  term.log_det = q.log_det, term.tol_force = q.tol_force, term.tol_action = q.tol_action;
  term.solver = q.solve, term.chronological = q.chronological;
  return term;
}

/// The keys in which the operator of a denominator differs.
struct DenominatorTable : Description {
  ActionDescription action;
  double twist = 0;
  void list(Members& members) override {
    action.list_keys(members);
    members.leave_out({"action"});
    members.of (*this)("twist", twist, "of its own").recent();
  }
};

FermionParameters read_denominator(TableReader& table, const QuarkTable& q, FermionParameters f,
                                   const RunPlace& place) {
  DenominatorTable keys;
  keys.action.begin_with(q.action, table.contents());
  table.read_rest(keys, place.folder);
  table.locate([&] {
    f.action = keys.action.make(place.lattice, place.folder, place.session);
    if (keys.given("twist")) f.twist = keys.twist;
    require_twistable(keys, f);
  });
  return f;
}

/// Powers of A = M^+ M with which `fields` pseudofermions give |det M|^flavours, or with staggered quarks, four of
/// which are one M, det A^(flavours/4). Of a given number of poles the heat bath has the inverse of the action, as
/// Chroma has it.
RationalFunctions fitted(TableReader& table, bool staggered, const QuarkTable& q, std::vector<std::string>& remarks) {
  const bool by_poles = table.has("poles");
  std::vector<double> range;
  int action_poles = 0, force_poles = 0;
  double error = 1e-10, force_error = 1e-7;
  table.read_rest([&](Members::Adder& add) {
    add("range", range, "[lower, upper] of the eigenvalues of M^+ M").required().count(2, 2);
    if (by_poles) {
      add("poles", action_poles, "of action and heat bath").required().range(1, most_poles);
      add("force_poles", force_poles, "of the force").required().range(1, most_poles);
    } else {
      add("error", error, "of action and heat bath, relative").up_to(most_error);
      add("force_error", force_error, "of the force, relative").up_to(most_force_error);
    }
  });
  const int part = (staggered ? 8 : 4) * q.fields;
  const Interval interval{range[0], range[1]};
  const Power power{-q.flavours, part}, of_force{-q.flavours, part / 2};
  if (std::abs(q.flavours) >= part / 2)  // the force's power is at most 1
    q.refuse(Kind::range, "flavours",
             fmt::format("flavours = {} of {} pseudofermion(s); use fields = {} or more", q.flavours, q.fields,
                         std::abs(q.flavours) * 2 / (staggered ? 8 : 4) + 1));
  const auto of_poles = [&](const char* key, int n, Power p, double most) {
    RationalFit fit = remez(p, n, interval);
    if (!(fit.error <= most))
      table.refuse(Kind::range, key,
                   fmt::format("{} = {} leave an error of {:.2g} on {} to {}; use more, for at most {}", key, n,
                               fit.error, interval.lower, interval.upper, most));
    return fit;
  };
  const auto remark = [&](const char* what, const RationalFit& fit) {
    remarks.push_back(fmt::format("{}: {} on {} to {}: {} poles, error {:.2g}", table.called(), what, interval.lower,
                                  interval.upper, fit.function.poles.size(), fit.error));
  };
  if (by_poles) {
    const RationalFit action = of_poles("poles", action_poles, power, most_error),
                      force = of_poles("force_poles", force_poles, of_force, most_force_error);
    remark("action and heat bath", action);
    remark("force", force);
    return {action.inverse, action.function, force.function, interval, 2 * action.error};
  }
  const bool is_whole = q.flavours > 0;  // of bosons the function grows, and the bound on its error is of no use
  const RationalFit heatbath = fit_to_error({q.flavours, part}, error, interval),
                    action = fit_to_error(is_whole ? of_force : power, error, interval),
                    force = fit_to_error(of_force, force_error, interval);
  remark("heat bath", heatbath);
  remark("action", action);
  remark("force", force);
  const double of_both = 2 * heatbath.error + (is_whole ? 1 : 2) * action.error;
  return {heatbath.function, action.function, force.function, interval, of_both, is_whole};
}

RationalFunctions read_functions(TableReader& table, bool staggered, const QuarkTable& q,
                                 std::vector<std::string>& remarks) {
  RationalFunctions r;
  if (table.has("range")) {
    table.locate([&] { r = fitted(table, staggered, q, remarks); });
    return r;
  }
  const auto all = {std::pair{"heatbath", &r.heatbath}, {"action", &r.action}, {"force", &r.force}};
  for (const auto& [key, to] : all)
    if (auto one = table.table(key, fmt::format("{}.{}", table.called(), key))) *to = read_rational(*one);
  table.done();
  for (const auto& [key, to] : all)
    if (!table.has(key))
      table.refuse(Kind::missing, key, fmt::format("{} is missing; give constant, residues and poles", key));
  return r;
}

}  // namespace

std::unique_ptr<Monomial> read_monomial(TableReader table, RunPlace& place) {
  const std::string name = table.text("name");
  if (name.empty() || name.find('/') != std::string::npos || name != printable(name))
    table.refuse(Kind::word, "name",
                 fmt::format("name '{}'; use letters, digits and the like without /", printable(name)));
  table.call(fmt::format("monomial '{}'", name));
  const std::string kind = table.word("kind", {"gauge", "two-flavour", "two-flavour-ratio", "rational", "log-det"});
  if (kind == "gauge") return std::make_unique<GaugeMonomial>(name, read_gauge_action(table));
  const char* of_kind = kind == "rational" ? "rational" : kind == "two-flavour-ratio" ? "denominator" : nullptr;
  std::optional<TableReader> inner;
  if (of_kind != nullptr) inner = table.table(of_kind, fmt::format("{}: {}", table.called(), of_kind));
  QuarkTable q(kind, place.colours);
  std::unique_ptr<Monomial> made;
  table.locate([&] {
    const FermionTerm term = read_quark(table, q, place);
    const Action& action = term.fermion.action;
    if (of_kind != nullptr && !inner)
      table.refuse(Kind::missing, of_kind,
                   kind == "rational" ? "its rational functions are missing; give rational = {range = [lower, upper]}, "
                                        "or tables heatbath, action and force with residues and poles"
                                      : "denominator is missing; give {kappa = ...}: the keys in which its operator "
                                        "differs");
    if (kind == "two-flavour") {
      made = std::make_unique<TwoFlavourMonomial>(name, term);
    } else if (kind == "two-flavour-ratio") {
      made = std::make_unique<RatioMonomial>(name, term, read_denominator(*inner, q, term.fermion, place));
    } else if (kind == "rational") {
      const RationalFunctions r = read_functions(*inner, action.is_squared(), q, place.remarks);
      made = std::make_unique<RationalMonomial>(name, term, r, q.fields, q.flavours);
    } else {
      if (action.info().blocks.empty())
        table.refuse(Kind::contradicts, "action",
                     fmt::format("the log det of action {} does not depend on the links; leave the monomial out",
                                 action.name()));
      made = std::make_unique<LogDetMonomial>(name, term, q.determinants,
                                              q.sites == "even"  ? Subset::even
                                              : q.sites == "odd" ? Subset::odd
                                                                 : Subset::full);
    }
  });
  return made;
}

}  // namespace quarksmith::runs
