#include "runs/measure_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runs/checkpoints.hpp"
#include "runs/contraction.hpp"
#include "runs/measure_fixing.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/sequential.hpp"

namespace quarksmith::runs {
namespace {

constexpr int columns_of_dirac = 12;  ///< of staggered quarks there are three
constexpr std::array<Complex64, directions> no_phases = {1, 1, 1, 1};

template <class Vector>
std::vector<long long> flat(const std::vector<Vector>& all) {
  std::vector<long long> numbers;
  for (const Vector& x : all) numbers.insert(numbers.end(), x.begin(), x.end());
  return numbers;
}

void multiply_sites(SpinorField& psi, const BasisInfo& basis, const SourcePhase& phase) {
  HostSpinor column(psi.domain().lattice());
  for (int n = 0; n < psi.rhs(); ++n) {
    download(psi, column, basis, n);
    for (long long x = 0; x < column.lattice.sites(); ++x)
      for (Complex64& number : column.site[x]) number *= phase(column.lattice.coordinates(x));
    upload(column, psi, basis, n);
  }
}

}  // namespace

MeasureRun::MeasureRun(const MeasurePlan& plan, const Configuration& configuration, NamedGauge named, Session& session,
                       Stops& stops, std::function<void(double, const std::string&)> progress, std::string split)
    : plan_(plan),
      configuration_(configuration),
      named_(std::move(named)),
      session_(session),
      stops_(stops),
      progress_(std::move(progress)),
      domain_(session.open_domain(named_.gauge.lattice(), plan.reach)),
      links_(std::make_unique<SmearedLinks>(named_.gauge, domain_, session, [this] { stops_.look(); })),
      split_(std::move(split)),
      quarks_(plan.quarks.size()),
      propagators_(plan.nodes.size()) {
  for (const MeasureSource& s : plan_.sources)
    positions_.push_back(s.positions_on(named_.gauge.lattice(), configuration.number));
  solves_.resize(plan_.nodes.size() * plan_.positions() * columns_of_dirac * 2);
  known_.assign(plan_.nodes.size() * plan_.positions(), named_.gauge.lattice().global_extent(3) / 2);
}
MeasureRun::~MeasureRun() = default;

std::optional<Propagator> MeasureRun::sequential_source(int node, int position) {
  const PropagatorNode& n = plan_.nodes[node];
  if (!n.sequential) return {};
  std::vector<const Propagator*> inputs;
  for (const int input : n.sequential->inputs) inputs.push_back(propagators_[input].get());
  const Coordinates& origin = positions_[n.source][position];
  const int time = (origin[3] + n.sequential->separation) % named_.gauge.lattice().global_extent(3);
  SinkSource made = n.sequential->make(inputs, {time, n.sequential->momentum, origin});
  at_sink_[node].push_back(made.two_point);
  smear_quarks(n.sink, n.links, made.source.field());
  return std::move(made.source);
}

SpinorField MeasureRun::sources(int node, int position, int first, int count, const BasisInfo& basis,
                                const std::optional<Propagator>& sequential) {
  const PropagatorNode& n = plan_.nodes[node];
  const MeasureSource& s = plan_.sources[n.source];
  const Coordinates& origin = positions_[n.source][position];
  const SourceSettings settings = s.at(origin, named_.gauge.lattice(), configuration_.number);
  SpinorField b(domain_, find_precision("double"), Subset::full, count, plan_.quarks[n.quark].action.spins());
  if (sequential) {
    sequential->give(first, b, basis);
    return b;
  }
  SourcePhase phase;
  if (s.momentum != Momentum{})
    phase = [&](const Coordinates& x) { return phase_at(named_.gauge.lattice(), x, s.momentum, origin); };
  for (int i = 0; i < count; ++i)
    set_source(settings, (first + i) / 3, (first + i) % 3, b, basis, i, s.smearing ? SourcePhase() : phase);
  smear_quarks(s.smearing, s.links, b);
  if (s.smearing && phase) multiply_sites(b, basis, phase);
  return b;
}

void MeasureRun::smear_quarks(const QuarkSmearing& how, const std::string& links, SpinorField& psi) {
  if (how) smear(how, links_->for_quarks(links), psi, [this] { stops_.look(); });
}

void MeasureRun::require_converged(const std::vector<SolveReport>& reports, const Quark& q,
                                   const std::function<std::string(int)>& title) const {
  tell_events(reports, title, session_);
  for (int i = 0; i < static_cast<int>(reports.size()); ++i)
    if (const SolveReport& r = reports[i]; !r.converged)
      throw Error(fmt::format("{}: {}", title(i), failure_text(r, q.settings, q.of->action, q.choice_names)));
}

std::vector<SolveReport> MeasureRun::solve_columns(const std::vector<int>& together, int first, SpinorField& x,
                                                   const SpinorField& b) {
  Quark& q = quark(plan_.nodes[together[0]].quark);
  if (together.size() == 1) {
    const auto kept = on_slices_.find(together[0]);
    if (kept == on_slices_.end()) return solve_sources(q, x, b);
    return q.solver->solve_sources(x, b, [&](const SpinorField& vectors) {
      kept->second.take(first, q.solver->dirac(), vectors, q.solver->basis());
    });
  }
  auto& solver = of_masses_[together];
  if (!solver) {
    std::vector<double> masses;
    for (const int n : together) masses.push_back(plan_.quarks[plan_.nodes[n].quark].action.values()["mass"]);
    const Action& action = plan_.quarks[plan_.nodes[together[0]].quark].action;
    solver = std::make_unique<MassSolver>(action, masses, named_.gauge, domain_, q.settings);
  }
  return solver->solve(x, b);
}

void MeasureRun::solve(int node, int position) {
  const PropagatorNode& n = plan_.nodes[node];
  const std::vector<int> together = plan_.solved_with(node);
  Quark& q = quark(plan_.nodes[together[0]].quark);
  const BasisInfo& basis = q.solver->basis();
  const int columns = plan_.columns(n), spins = columns / 3, masses = static_cast<int>(together.size());
  const int width = masses > 1 ? 1 : this->width(q);
  const std::optional<Propagator> sequential = sequential_source(node, position);
  for (const int one : together) propagators_[one] = std::make_unique<Propagator>(domain_, spins);
  if (n.on_slices) on_slices_.try_emplace(node, domain_, plan_.quarks[n.quark].action.slices());
  std::vector<double> worst(together.size());
  for (int first = 0; first < columns; first += width) {
    const int count = std::min(width, columns - first);
    progress_(made_ + masses * first, n.name);
    const SpinorField b = sources(node, position, first, count, basis, sequential);
    SpinorField x(domain_, find_precision("double"), Subset::full, count * masses, spins);
    const std::vector<SolveReport> reports = solve_columns(together, first, x, b);
    const auto node_of = [&](int i) { return together[i / count]; };
    const auto title = [&](int i) {
      return fmt::format("configuration {}: propagator '{}': spin {} colour {}", configuration_.number,
                         plan_.nodes[node_of(i)].name, (first + i % count) / 3, (first + i % count) % 3);
    };
    require_converged(reports, q, title);
    for (int i = 0; i < count * masses; ++i) {
      const long long column = (position * plan_.nodes.size() + node_of(i)) * columns_of_dirac + first + i % count;
      solves_[2 * column] = reports[i].iterations;
      solves_[2 * column + 1] = reports[i].residual;
      worst[i / count] = std::max(worst[i / count], reports[i].residual);
    }
    for (int k = 0; k < masses; ++k) propagators_[together[k]]->take(first, x.columns(k * count, count), basis);
  }
  for (int k = 0; k < masses; ++k)
    known_[position * plan_.nodes.size() + together[k]] =
        warn_of_far_slices(fmt::format("propagator '{}'", plan_.nodes[together[k]].name), *propagators_[together[k]],
                           worst[k], q.of->solves->solve, session_);
  made_ += masses * columns;
}

void MeasureRun::make(int node, int position) {
  const PropagatorNode& n = plan_.nodes[node];
  if (propagators_[node]) return;  // by the solve for another mass
  if (n.of < 0) return solve(node, position);
  auto propagator = std::make_unique<Propagator>(domain_);
  propagator->field().copy_from(propagators_[n.of]->field());
  known_[position * plan_.nodes.size() + node] = known_[position * plan_.nodes.size() + n.of];
  smear_quarks(n.sink, n.links, propagator->field());
  propagators_[node] = std::move(propagator);
}

void MeasureRun::contract(int correlator, int position, RecordArray& to) {
  const MeasureCorrelator& c = plan_.correlators[correlator];
  std::vector<const Propagator*> inputs;
  for (const int node : c.propagators) inputs.push_back(propagators_[node].get());
  const Coordinates& origin = positions_[plan_.nodes[c.propagators[0]].source][position];
  const auto ahead = [&](bool phase) {
    return [this, &c, phase](const Propagator& s, int mu) {
      const MeasureQuark& q = plan_.quarks[c.ahead];
      const auto& boundary = phase ? q.action.setting().boundary : no_phases;
      return ahead_of(s, mu, links_->whole(q.smear_links()), boundary);
    };
  };
  const auto on_slices = on_slices_.find(c.propagators[0]);
  const auto sums = c.contract(inputs, {{c.momenta.all(), origin},
                                        ahead(true),
                                        ahead(false),
                                        on_slices == on_slices_.end() ? nullptr : &on_slices->second});
  const auto means = c.momenta.averaged(sums, static_cast<int>(c.structures.size()), origin[3]);
  std::copy(means.begin(), means.end(), std::get<std::vector<Complex64>>(to.numbers).begin() + position * means.size());
}

LoopSum MeasureRun::loop_of(const LoopPlan& loop, const MomentumPhases& phases, int number) {
  const Lattice& lattice = named_.gauge.lattice();
  Quark& q = quark(loop.quark);
  const BasisInfo& basis = q.solver->basis();
  const std::uint64_t seed = noise_seed(loop.seed, configuration_.number);
  const HostSpinor noise = independent_noise(lattice, seed, static_cast<std::uint64_t>(number), loop.order);
  const long long parts = loop.dilution.parts(lattice);
  LoopSum sum(phases);
  for (long long first = 0; first < parts; first += width(q)) {
    const int count = static_cast<int>(std::min<long long>(width(q), parts - first));
    SpinorField b(domain_, find_precision("double"), Subset::full, count);
    SpinorField solution = b.like();
    for (int i = 0; i < count; ++i) upload(loop.dilution.part(noise, first + i), b, basis, i);
    progress_(made_, fmt::format("noise {}", number));
    const std::vector<SolveReport> reports = solve_sources(q, solution, b);
    const auto title = [&](int i) {
      return fmt::format("configuration {}: noise {} part {}", configuration_.number, number, first + i);
    };
    require_converged(reports, q, title);
    SpinorField eta = b.like(), x = b.like();
    to_propagator_basis(b, eta, basis);
    to_propagator_basis(solution, x, basis);
    sum.add(eta, x);
    made_ += count;
  }
  return sum;
}

void MeasureRun::measure_loop(const MeasureCorrelator& c, RecordArray& to) {
  auto& numbers = std::get<std::vector<Complex64>>(to.numbers);
  for (int n = 0; n < c.loop->count; ++n) {
    const auto sums = loop_of(*c.loop, {c.momenta.all(), {}}, n).sums(c.loop->gammas);
    const auto means = c.momenta.averaged(sums, static_cast<int>(c.structures.size()), 0);
    std::copy(means.begin(), means.end(), numbers.begin() + n * static_cast<long long>(means.size()));
  }
}

Record MeasureRun::begun() {
  const std::string digest = gauge_digest(named_.gauge, session_);
  plaquette_ = gauge_averages(named_.gauge, domain_).plaquette;
  const Coordinates extent = named_.gauge.lattice().global_extent();
  Record record{configuration_.label(),
                {{"number", configuration_.number},
                 {"gauge", named_.origin},
                 {"gauge_digest", digest},
                 {"lattice", std::vector<long long>(extent.begin(), extent.end())},
                 {"plaquette", plaquette_}},
                {}};
  std::vector<RecordArray> of_links;
  const auto look = [this] { stops_.look(); };
  if (plan_.fixing) of_links.push_back(fix_gauge(plan_, configuration_, digest, named_, domain_, session_, look));
  const ObservablePlace place{named_.gauge, domain_, [this](const std::string& how) { return links_->whole(how); },
                              look};
  for (const MeasureObservable& o : plan_.observables) {
    RecordArray& array = of_links.emplace_back(o.measure(place));
    array.name = o.name;
    array.attributes["kind"] = o.kind;
  }
  for (const MeasureCorrelator& c : plan_.correlators) {
    const int rows = c.loop ? c.loop->count : plan_.positions();
    const std::vector<std::uint64_t> size = {static_cast<std::uint64_t>(rows), c.momenta.names.size(),
                                             c.structures.size(), static_cast<std::uint64_t>(extent[3])};
    std::vector<std::string> quarks;
    for (const int node : c.propagators) quarks.push_back(plan_.nodes[node].name);
    record.arrays.push_back({c.name,
                             size,
                             std::vector<Complex64>(size[0] * size[1] * size[2] * size[3]),
                             {{"kind", c.kind},
                              {"axes", c.loop ? "noise momentum structure t" : "position momentum structure t"},
                              {"propagators", fmt::format("{}", fmt::join(quarks, " "))},
                              {"structures", fmt::format("{}", fmt::join(c.structures, " "))},
                              {"momenta", flat(c.momenta.names)},
                              {"positions", c.loop ? std::vector<long long>{0, 0, 0, 0}
                                                   : flat(positions_[plan_.nodes[c.propagators[0]].source])}}});
  }
  std::move(of_links.begin(), of_links.end(), std::back_inserter(record.arrays));
  return record;
}

std::string MeasureRun::spent() const {
  return fmt::format("configuration {}: propagators {:.3g} s, smeared sinks {:.3g} s, correlators {:.3g} s",
                     configuration_.number, solving_, smearing_, contracting_);
}

Record MeasureRun::operator()() {
  Record record = begun();
  choose_groups();
  const int nodes = static_cast<int>(plan_.nodes.size());
  const std::vector<GraphStep> steps = schedule(plan_.graph(named_.gauge.lattice()));
  for (int position = 0; position < plan_.positions(); ++position)
    for (const GraphStep& step : steps) {
      stops_.look();
      const double begun = now();
      if (step.node < nodes) {
        make(step.node, position);
        (plan_.nodes[step.node].of < 0 ? solving_ : smearing_) += now() - begun;
      } else {
        const MeasureCorrelator& c = plan_.correlators[step.node - nodes];
        if (!c.loop)
          contract(step.node - nodes, position, record.arrays[step.node - nodes]);
        else if (position == 0)
          measure_loop(c, record.arrays[step.node - nodes]);
        (c.loop ? solving_ : contracting_) += now() - begun;
      }
      for (const int n : step.freed)
        if (n < nodes) {
          propagators_[n].reset();
          on_slices_.erase(n);
        }
    }
  for (std::size_t n = 0; n < plan_.correlators.size(); ++n)
    if (const int node = plan_.correlators[n].sequential; node >= 0)
      record.arrays[n].attributes["two_point_at_sink"] = at_sink_[node];
  if (nodes == 0) return record;
  std::vector<std::string> names;
  for (const PropagatorNode& n : plan_.nodes) names.push_back(n.name);
  record.arrays.push_back({"solves",
                           {static_cast<std::uint64_t>(plan_.positions()), plan_.nodes.size(), columns_of_dirac, 2},
                           solves_,
                           {{"axes", "position propagator column (iterations, residual)"},
                            {"propagators", fmt::format("{}", fmt::join(names, " "))}}});
  if (std::ranges::min(known_) < named_.gauge.lattice().global_extent(3) / 2)
    record.arrays.back().attributes["known_slices"] = known_;
  return record;
}

}  // namespace quarksmith::runs
