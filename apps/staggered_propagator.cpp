// quarksmith propagator with a staggered action: sources -> solves of all masses -> pions.
#include <fmt/format.h>

#include <cmath>

#include "apps/staggered_options.hpp"
#include "runtime/error.hpp"
#include "solvers/source.hpp"
#include "solvers/staggered_masses.hpp"
#include "solvers/staggered_mesons.hpp"

namespace quarksmith::apps {
namespace {

class Run {
 public:
  explicit Run(const StaggeredRun& o)
      : o_(o),
        named_(open_gauge(o.action.gauge, o.action.lattice, o.common)),
        choice_(o.action.choose(o.command, named_.gauge, o.common)),
        action_(dynamic_cast<const StaggeredAction&>(*choice_.action)),
        source_(source_of(o.source, lattice())),
        domain_(o.common.open_domain(lattice(), action_.reach())),
        propagators_(o.action.masses.size(), StaggeredPropagator(lattice())) {
    if (source_.smearing.kind != QuarkSmearing::Kind::none)
      throw UsageError(
          fmt::format("--source {}: smearing is for Dirac spinors; use point:x,y,z,t, wall:t or "
                      "corner-wall:t with --action {}",
                      o.source, o.action.action));
  }

  int operator()() {
    make_solver();
    for (int colour = 0; colour < 3; ++colour) solve(colour);
    const nlohmann::ordered_json result = contract();
    if (!o_.correlators.empty()) {
      o_.common.write(o_.correlators, o_.correlators.extension() == ".csv" ? csv(result) : result.dump(1) + "\n");
      o_.common.info(fmt::format("wrote {}", o_.correlators.string()));
    }
    o_.common.write_json(result);
    return 0;
  }

 private:
  const Lattice& lattice() const { return named_.gauge.lattice; }
  const std::vector<double>& masses() const { return o_.action.masses; }

  SolveSettings settings() const {
    SolveSettings chosen = o_.choices.settings(o_.command, named_.gauge, o_.common);
    choose_storage(chosen, action_, o_.command);
    chosen.method = Method::cg;
    chosen.precision = o_.precision;
    return chosen;
  }

  void make_solver() {
    const SolveSettings settings = this->settings();
    if (masses().size() > 1)
      many_ = std::make_unique<StaggeredMassSolver>(action_, masses(), named_.gauge, domain_, settings);
    else
      one_ = std::make_unique<Solver>(choice_.action, named_.gauge, domain_, settings);
  }

  void solve(int colour) {
    const int count = static_cast<int>(masses().size());
    SpinorField b(domain_, find_precision("double"), Subset::full, 1, 1);
    SpinorField x(domain_, find_precision("double"), Subset::full, count, 1);
    const BasisInfo& basis = find_basis("degrand_rossi");
    upload(make_source(source_, lattice(), 0, colour), b, basis);
    const std::vector<SolveReport> reports = many_ ? many_->solve(x, b) : std::vector<SolveReport>{one_->solve(x, b)};
    HostSpinor column(lattice());
    for (int k = 0; k < count; ++k) {
      keep(colour, k, reports[k]);
      download(x, column, basis, k);
      propagators_[k].set_column(colour, column);
    }
  }

  void keep(int colour, int k, const SolveReport& r) {
    const std::string title = fmt::format("colour {} mass {}", colour, masses()[k]);
    nlohmann::ordered_json entry = {{"colour", colour},       {"mass", masses()[k]},  {"iterations", r.iterations},
                                    {"residual", r.residual}, {"seconds", r.seconds}, {"gflops", r.gflops}};
    for (const SolverEvent& e : r.events) {
      entry["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
      o_.common.warn(fmt::format("{}, iteration {}: {}", title, e.iteration, e.what));
    }
    o_.common.info(fmt::format("{}: {} iterations, residual {:.1e}", title, r.iterations, r.residual));
    if (!r.converged)
      throw Error(fmt::format("{}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}", title,
                              r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings(), r, option_names)));
    solves_.push_back(std::move(entry));
  }

  /// Name of a pion's correlator: of one mass `pion`, of several with the masses.
  std::string name(std::size_t i, std::size_t j) const {
    if (masses().size() == 1) return "pion";
    return i == j ? fmt::format("pion_{}", masses()[i]) : fmt::format("pion_{}_{}", masses()[i], masses()[j]);
  }

  nlohmann::ordered_json contract() const {
    nlohmann::ordered_json j;
    j["lattice"] = lattice().global_extent();
    j["plaquette"] = gauge_averages(named_.gauge, domain_).plaquette;
    j["masses"] = masses();
    for (std::size_t i = 0; i < masses().size(); ++i)
      for (std::size_t k = i; k < masses().size(); ++k)
        for (const Complex64& z :
             goldstone_correlator(propagators_[i], propagators_[k], source_.time(), o_.common.ranks())) {
          auto& list = j["correlators"][name(i, k)];
          i == k ? list.push_back(z.real()) : list.push_back({z.real(), z.imag()});
        }
    j["solves"] = solves_;
    j["provenance"] = {{"gauge", named_.origin}, {"source", o_.source}};
    for (const auto& [key, value] : choice_.provenance) j["provenance"][key] = value;
    j["provenance"]["tolerance"] = fmt::format("{:.17g}", o_.choices.tolerance);
    return j;
  }

  /// One line a time slice: t and the correlators, complex ones in two columns.
  static std::string csv(const nlohmann::ordered_json& j) {
    std::string text = "t";
    const auto& all = j["correlators"];
    for (const auto& [name, values] : all.items())
      text += values[0].is_array() ? fmt::format(",{0}_re,{0}_im", name) : "," + name;
    text += "\n";
    for (std::size_t t = 0; t < all.front().size(); ++t) {
      text += std::to_string(t);
      for (const auto& values : all) {
        if (values[t].is_array())
          text += fmt::format(",{:.17g},{:.17g}", values[t][0].get<double>(), values[t][1].get<double>());
        else
          text += fmt::format(",{:.17g}", values[t].get<double>());
      }
      text += "\n";
    }
    return text;
  }

  const StaggeredRun& o_;
  NamedGauge named_;
  ActionChoice choice_;
  const StaggeredAction& action_;
  SourceSettings source_;
  DomainPointer domain_;
  std::vector<StaggeredPropagator> propagators_;  // by mass
  std::unique_ptr<Solver> one_;                   // or, for several masses:
  std::unique_ptr<StaggeredMassSolver> many_;
  nlohmann::ordered_json solves_ = nlohmann::ordered_json::array();
};

}  // namespace

int run_staggered(const StaggeredRun& run) { return Run(run)(); }

}  // namespace quarksmith::apps
