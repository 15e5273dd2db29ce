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

constexpr int most_steps = 1000000;
constexpr double most_time = 10;  ///< of a kick, in units of a step
constexpr double most_anisotropy = 100;
const std::vector<std::string> schemes = {"leapfrog", "omelyan", "omelyan4", "force-gradient", "schedule"};

/// Monomials by name; each is kicked in one level.
struct Names {
  std::vector<std::string> names;
  std::vector<int> level;  ///< that has it; -1: none so far

  /// Numbers of the monomials of a level. \param level,same its number; whether they may be there already.
  std::vector<int> numbers(TableReader& table, int of_level, bool again) {
    std::vector<int> all;
    for (const std::string& name : table.texts("monomials")) {
      const int line = table.find("monomials")->line;
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end())
        table.fail(line, fmt::format("there is no monomial '{}'; use {}", name, fmt::join(names, ", ")));
      const int n = static_cast<int>(found - names.begin());
      if (level[n] >= 0 && !(again && level[n] == of_level))
        table.fail(line, fmt::format("monomial '{}' is in {} already; leave it in one", name,
                                     level[n] == of_level ? "this level" : fmt::format("level {}", level[n] + 1)));
      if (std::find(all.begin(), all.end(), n) != all.end())
        table.fail(line, fmt::format("monomial '{}' is named twice; name it once", name));
      all.push_back(n);
    }
    if (all.empty()) table.fail(table.find("monomials")->line, "a level without monomials does nothing; name some");
    for (const int n : all) level[n] = of_level;
    return all;
  }
};

std::vector<Kick> read_kicks(TableReader& table, Names& names, int level) {
  std::vector<Kick> kicks;
  for (TableReader& one : table.tables("kicks", "a kick")) {
    one.call(fmt::format("{}: kick {}", table.called(), kicks.size() + 1));
    Kick kick;
    kick.time = one.number("time");
    kick.weight = one.number("weight");
    kick.monomials = names.numbers(one, level, true);
    one.done();
    if (!(std::abs(kick.time) <= most_time))
      one.fail(
          fmt::format("time = {}; times are in units of a step, from 0 to 1, and a little beyond where steps go "
                      "back",
                      kick.time));
    kicks.push_back(std::move(kick));
  }
  if (kicks.empty())
    table.fail("a schedule without kicks; give kicks = [{time = ..., weight = ..., monomials = [...]}]");
  std::vector<double> sums(names.names.size());
  for (const Kick& kick : kicks)
    for (const int n : kick.monomials) sums[n] += kick.weight;
  for (std::size_t n = 0; n < sums.size(); ++n)
    if (names.level[n] == level && std::abs(sums[n] - 1) > 1e-8)
      table.fail(
          fmt::format("the weights of monomial '{}' add up to {}; they have to give 1", names.names[n], sums[n]));
  return kicks;
}

/// \param length of a trajectory.
IntegratorLevel read_level(TableReader table, Names& names, int number, double length) {
  using Scheme = IntegratorLevel::Scheme;
  IntegratorLevel level;
  const std::string kind = table.word("kind", schemes);
  level.scheme = static_cast<Scheme>(std::find(schemes.begin(), schemes.end(), kind) - schemes.begin());
  if (table.has("longest_step")) {
    level.longest = table.positive("longest_step");
    if (level.longest * most_steps < length)
      table.fail(fmt::format("longest_step = {}; use at least {}", level.longest, length / most_steps));
  } else {
    level.steps = static_cast<int>(table.integer("steps", 1, most_steps));
  }
  if (level.scheme == Scheme::schedule) {
    level.kicks = read_kicks(table, names, number);
  } else {
    level.momenta_first = table.word("order", {"PQP", "QPQ"}, "PQP") == "PQP";
    if (level.scheme == Scheme::force_gradient && !level.momenta_first)
      table.fail(table.find("order")->line, "force-gradient is there in the order PQP alone; leave order out");
    level.monomials = names.numbers(table, number, false);
  }
  if (level.scheme == Scheme::omelyan) {
    level.lambda = table.number("lambda", level.lambda);
    if (!(level.lambda > 0 && level.lambda < 0.5))
      table.fail(table.find("lambda")->line, fmt::format("lambda = {}; use a number between 0 and 0.5", level.lambda));
  }
  table.done();
  return level;
}

HmcSettings read_run(TableReader& file) {
  HmcSettings run;
  auto lattice = file.table("lattice", "[lattice]"), trajectory = file.table("trajectory", "[trajectory]");
  if (!lattice) file.fail("[lattice] is missing; give it extents = [X, Y, Z, T] and gauge");
  if (!trajectory) file.fail("[trajectory] is missing; give it length, count and seed");
  const std::vector<double> extents = lattice->numbers("extents");
  for (const double n : extents)
    if (extents.size() != directions || n != std::floor(n) || n < 2 || n > 1 << 20)
      lattice->fail(lattice->find("extents")->line, "extents are four even numbers [X, Y, Z, T]");
  if (extents.empty()) lattice->fail(lattice->find("extents")->line, "extents are four even numbers [X, Y, Z, T]");
  std::copy(extents.begin(), extents.end(), run.extents.begin());
  run.gauge = lattice->text("gauge");
  if (lattice->has("colours")) run.colours = static_cast<int>(lattice->integer("colours", 2, most_colours));
  lattice->done();
  run.length = trajectory->number("length", 1);
  if (!(run.length > 0 && run.length <= 1e4))
    trajectory->fail(fmt::format("length = {}; use a positive number up to 10000", run.length));
  run.count = trajectory->integer("count", 1, static_cast<long long>(GaussianNoise::most_trajectories) - 1, 1);
  run.seed = static_cast<std::uint64_t>(trajectory->integer("seed", 0, INT64_MAX, 1));
  run.metropolis = trajectory->flag("metropolis", true);
  run.norms = trajectory->word("force_norms", {"all", "first"}, "all") == "all" ? ForceNorms::all : ForceNorms::first;
  if (trajectory->has("momenta_anisotropy")) {
    run.anisotropy = trajectory->number("momenta_anisotropy");
    if (!(run.anisotropy >= 1 / most_anisotropy && run.anisotropy <= most_anisotropy))
      trajectory->fail(trajectory->find("momenta_anisotropy")->line,
                       fmt::format("momenta_anisotropy = {}; use a number from {} to {}", run.anisotropy,
                                   1 / most_anisotropy, most_anisotropy));
  }
  trajectory->done();
  return run;
}

}  // namespace

HmcPlan read_hmc(const std::filesystem::path& path, const Session& session, std::function<void()> look) {
  const Table tree = read_toml(path);
  TableReader file(tree, path.string(), "run");
  std::map<std::string, std::string> keys;
  file.note_in(keys);
  HmcPlan plan{read_run(file), {}};
  RunPlace place{session.partition().part(plan.description.extents), path.parent_path(), plan.description.colours,
                 session, std::move(look)};
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
