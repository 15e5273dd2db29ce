#include "runs/hmc_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runs/hmc_monomials.hpp"
#include "solvers/solve/few_sites.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

using Kind = Refusal::Kind;

constexpr int most_steps = 1000000;
constexpr double most_time = 10;  ///< of a kick, in units of a step
constexpr double most_anisotropy = 100;
const std::vector<std::string> schemes = {"leapfrog", "omelyan", "omelyan4", "force-gradient", "schedule"};

/// Monomials by name; each is kicked in one level.
struct Names {
  std::vector<std::string> names;
  std::vector<int> level;  ///< that has it; -1: none so far

  void list(Members::Adder& add, std::vector<std::string>& monomials) const {
    add("monomials", monomials, "names of those that are kicked").required().count(1).among(names);
  }
  /// Numbers of those that a level lists. \param of_level its number. \param again whether they may be in it already.
  std::vector<int> numbers(const TableReader& table, const std::vector<std::string>& listed, int of_level, bool again) {
    std::vector<int> all;
    for (const std::string& name : listed) {
      const int n = static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
      if (level[n] >= 0 && !(again && level[n] == of_level))
        table.refuse(Kind::contradicts, "monomials",
                     fmt::format("monomial '{}' is in level {} already; leave it in one", name, level[n] + 1));
      if (std::find(all.begin(), all.end(), n) != all.end())
        table.refuse(Kind::twice, "monomials", fmt::format("monomial '{}' is named twice; name it once", name));
      all.push_back(n);
    }
    for (const int n : all) level[n] = of_level;
    return all;
  }
};

std::vector<Kick> read_kicks(TableReader& table, Names& names, int level) {
  std::vector<Kick> kicks;
  for (TableReader& one : table.tables("kicks", "a kick")) {
    one.call(fmt::format("{}: kick {}", table.called(), kicks.size() + 1));
    Kick& kick = kicks.emplace_back();
    std::vector<std::string> monomials;
    one.read_rest([&](Members::Adder& add) {
      add("time", kick.time, "in units of a step, from 0 to 1, and a little beyond where steps go back")
          .required()
          .range(-most_time, most_time);
      add("weight", kick.weight, "in units of a step").required();
      names.list(add, monomials);
    });
    kick.monomials = names.numbers(one, monomials, level, true);
  }
  if (kicks.empty())
    table.refuse(Kind::missing, "kicks",
                 "a schedule without kicks; give kicks = [{time = ..., weight = ..., monomials = [...]}]");
  std::vector<double> sums(names.names.size());
  for (const Kick& kick : kicks)
    for (const int n : kick.monomials) sums[n] += kick.weight;
  for (std::size_t n = 0; n < sums.size(); ++n)
    if (names.level[n] == level && std::abs(sums[n] - 1) > 1e-8)
      table.refuse(
          Kind::contradicts, "kicks",
          fmt::format("the weights of monomial '{}' add up to {}; they have to give 1", names.names[n], sums[n]));
  return kicks;
}

/// \param length of a trajectory.
IntegratorLevel read_level(TableReader table, Names& names, int number, double length) {
  using Scheme = IntegratorLevel::Scheme;
  IntegratorLevel level;
  const std::string kind = table.word("kind", schemes);
  level.scheme = static_cast<Scheme>(std::find(schemes.begin(), schemes.end(), kind) - schemes.begin());
  const bool scheduled = level.scheme == Scheme::schedule;
  if (scheduled) level.kicks = read_kicks(table, names, number);
  if (table.has("steps") && table.has("longest_step"))
    table.refuse(Kind::contradicts, "steps", "steps and longest_step both choose steps; give one of them");
  std::string order = "PQP";
  std::vector<std::string> monomials, orders = {"PQP"};
  if (level.scheme != Scheme::force_gradient) orders.emplace_back("QPQ");
  table.read_rest([&](Members::Adder& add) {
    if (table.has("longest_step"))
      add("longest_step", level.longest, "as few steps as are not longer")
          .range(length / most_steps, std::numeric_limits<double>::infinity());
    else
      add("steps", level.steps, "on the interval of a level").required().range(1, most_steps);
    if (!scheduled) add("order", order, "kicks first, or drifts").among(orders);
    if (!scheduled) names.list(add, monomials);
    if (level.scheme == Scheme::omelyan) add("lambda", level.lambda, "of the first kick").within(0, 0.5);
  });
  level.momenta_first = order == "PQP";
  if (!scheduled) level.monomials = names.numbers(table, monomials, number, false);
  return level;
}

TableReader section(TableReader& file, const std::string& key) {
  if (auto table = file.table(key, "[" + key + "]")) return *table;
  file.refuse(Kind::missing, key, fmt::format("[{}] is missing; its keys are in docs/hmc-file.md", key));
}

HmcSettings read_run(TableReader& file) {
  HmcSettings run;
  std::vector<long long> extents;
  section(file, "lattice").read_rest([&](Members::Adder& add) {
    add("extents", Member::Integers{&extents}, "[X, Y, Z, T], even numbers").required().range(2, 1 << 20).count(4, 4);
    add("gauge", run.gauge, "a configuration, unit, hot, weak:EPS, or as --gauge of propagator").required();
    add("colours", run.colours, "N of SU(N)").range(2, most_colours).recent();
  });
  std::copy(extents.begin(), extents.end(), run.extents.begin());
  std::string norms = "all";
  section(file, "trajectory").read_rest([&](Members::Adder& add) {
    add("length", run.length, "of a trajectory").up_to(1e4);
    add("count", run.count, "trajectories since the start").range(1, double(GaussianNoise::most_trajectories) - 1);
    add("seed", run.seed, "of momenta and noise");
    add("metropolis", run.metropolis, "false: every trajectory is accepted");
    add("force_norms", norms, "of all kicks, or of the first one of each monomial").among({"all", "first"});
    add("momenta_anisotropy", run.anisotropy, "by which steps of time links and of their momenta are divided")
        .range(1 / most_anisotropy, most_anisotropy)
        .recent();
  });
  run.norms = norms == "all" ? ForceNorms::all : ForceNorms::first;
  return run;
}

}  // namespace

HmcPlan read_hmc(const std::filesystem::path& path, const Session& session, std::function<void()> look) {
  const Table tree = session.table(path);
  TableReader file(tree, path.string(), "run");
  std::map<std::string, std::string> keys;
  file.note_in(keys);
  HmcPlan plan{read_run(file), {}};
  RunPlace place{session.partition().local_lattice(plan.description.extents), path.parent_path(),
                 plan.description.colours, session, std::move(look)};
  Names names;
  for (TableReader& table : file.tables("monomial", "a monomial")) {
    plan.monomials.push_back(read_monomial(table, place));
    const std::string& name = plan.monomials.back()->name();
    if (std::find(names.names.begin(), names.names.end(), name) != names.names.end())
      table.fail(fmt::format("there is a monomial '{}' already; give each a name of its own", name));
    names.names.push_back(name);
    names.level.push_back(-1);
  }
  if (plan.monomials.empty()) file.fail("there is no [[monomial]]; give at least one");
  plan.description.reach = place.reach;
  plan.description.remarks = std::move(place.remarks);
  for (TableReader& table : file.tables("integrator", "")) {
    const int number = static_cast<int>(plan.description.levels.size());
    table.call(fmt::format("integrator level {}", number + 1));
    plan.description.levels.push_back(read_level(table, names, number, plan.description.length));
  }
  if (plan.description.levels.empty()) file.fail("there is no [[integrator]]; give at least one level");
  for (std::size_t n = 0; n < names.names.size(); ++n)
    if (names.level[n] < 0)
      file.fail(fmt::format("monomial '{}' is in no level of the integrator; name it in the monomials of one",
                            names.names[n]));
  file.done();
  for (const char* free : {"[lattice]: gauge", "[trajectory]: count"}) keys.erase(free);
  keys.emplace("monomials", fmt::format("{}", fmt::join(names.names, ", ")));  // noise goes by their order
  plan.description.keys = std::move(keys);
  return plan;
}

void rehearse_hmc(const std::filesystem::path& path, const Session& session, const Domain& domain) {
  HmcPlan plan = read_hmc(path, session);
  const HmcSettings& d = plan.description;
  const DomainPointer few = few_sites(domain);
  Hmc trial(unit_gauge(few->lattice(), d.colours), few, std::move(plan.monomials), d.levels, d.length, d.norms,
            d.anisotropy);
  GaussianNoise noise(d.seed, 0);
  trial.trajectory(noise, {});
}

}  // namespace quarksmith::runs
