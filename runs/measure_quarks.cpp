// Solvers of the quarks of a measurement: of all ranks, or of groups of them.
#include <fmt/format.h>

#include <algorithm>

#include "runs/checkpoints.hpp"
#include "runs/measure_run.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {

void MeasureRun::choose_groups() {
  const std::string member = session_.wording.name("split");
  bool can = false, independent = true;
  int columns = 12;
  for (int n = 0; n < static_cast<int>(plan_.quarks.size()); ++n) {
    const MeasureQuark& q = plan_.quarks[n];
    if (!can_be_split(n)) continue;
    can = true;
    columns = std::min(columns, 3 * q.action.spins());
    const SolveSettings settings = q.solves->solve.settings(named_.gauge, q.action, session_);
    independent = independent && are_independent(settings, domain_->device());
  }
  if (!can && !split_.empty())
    throw UsageError(
        fmt::format("{} {}: no quark is solved for without fields, eigenvectors, smeared links, several "
                    "masses at a time and slices of a fifth dimension; leave it out",
                    member, split_));
  groups_ = ColumnGroups::chosen(split_, member, can && independent, columns, named_, domain_, session_);
}

bool MeasureRun::can_be_split(int quark) const {
  const MeasureQuark& q = plan_.quarks[quark];
  if (q.deflated() || !q.smear_links().empty() || !q.action.setting().fields.empty()) return false;
  bool is_solved = std::ranges::any_of(plan_.correlators,
                                       [&](const MeasureCorrelator& c) { return c.loop && c.loop->quark == quark; });
  for (int n = 0; n < static_cast<int>(plan_.nodes.size()); ++n) {
    const PropagatorNode& node = plan_.nodes[n];
    if (node.quark != quark || node.of >= 0) continue;
    if (node.on_slices || plan_.solved_with(n).size() > 1) return false;
    is_solved = true;
  }
  return is_solved;
}

int MeasureRun::width(const Quark& q) const { return q.split ? q.width * groups_->count() : q.width; }

std::vector<SolveReport> MeasureRun::solve_sources(Quark& q, SpinorField& x, const SpinorField& b) {
  if (!q.split) return q.solver->solve_sources(x, b);
  const auto of_group = [&](const SpinorField& source, std::vector<SpinorField>& own) {
    return q.solver->solve_sources(own[0], source);
  };
  return groups_->solve(b, {&x}, false, of_group, &stops_);
}

std::unique_ptr<Solver> MeasureRun::make_solver(const MeasureQuark& q, const SolveSettings& settings) {
  if (q.smear_links().empty()) return std::make_unique<Solver>(q.action, named_.gauge, domain_, settings);
  return std::make_unique<Solver>(q.action, links_->whole(q.smear_links()), settings);
}

std::shared_ptr<const Deflation> MeasureRun::deflation_of(const MeasureQuark& q, const SolveSettings& settings) const {
  if (!q.deflated()) return nullptr;
  DeflationDescription here;
  here.text = q.solves->deflation.text;
  here.member = q.solves->deflation.member;
  here.wording = q.solves->deflation.wording;
  if (here.text.find_first_not_of("0123456789") != std::string::npos)
    here.text = configuration_name(here.text, static_cast<std::uint64_t>(configuration_.number), ".h5").string();
  here.check();
  return here.make({q.action, provenance_of(q.action, {}, session_), {}, ""}, named_.gauge, domain_, settings,
                   q.solves->solve.even_odd, session_, [this] { stops_.look(); });
}

MeasureRun::Quark& MeasureRun::quark(int n) {
  if (quarks_[n]) return *quarks_[n];
  const MeasureQuark& q = plan_.quarks[n];
  auto made = std::make_unique<Quark>();
  made->of = &q;
  warn_beyond_critical(fmt::format("quark '{}'", q.name), q.action, plaquette_, session_);
  made->settings = q.solves->solve.settings(named_.gauge, q.action, session_);
  made->choice_names = q.solves->solve.choice_names();
  made->split = groups_ && can_be_split(n);
  made->settings.options.observer = [this, split = made->split](int, double) {
    split ? stops_.look_among(groups_->session().ranks()) : stops_.look();
  };
  made->settings.deflation = deflation_of(q, made->settings);
  for (const PropagatorNode& node : plan_.nodes)
    if (node.quark == n && node.of < 0) made->settings.sources += 3 * q.action.spins() * plan_.positions();
  const int columns = 3 * q.action.spins();
  if (made->split) {
    made->settings.sources = (made->settings.sources + groups_->count() - 1) / groups_->count();
    groups_->together([&] {
      made->solver = std::make_unique<Solver>(q.action, groups_->named().gauge, groups_->domain(), made->settings);
      made->width = columns_at_once(*made->solver, q.action, columns, groups_->session());
    });
    made->width = -static_cast<int>(session_.ranks().largest(-made->width));
  } else {
    made->solver = make_solver(q, made->settings);
    made->width = columns_at_once(*made->solver, q.action, columns, session_);
  }
  tell(made->solver->link_deviation(), made->settings, session_);
  quarks_[n] = std::move(made);
  return *quarks_[n];
}

double MeasureRun::seconds_per_iteration(int n) {
  constexpr int few = 12;
  const MeasureQuark& q = plan_.quarks[n];
  SolveSettings settings = q.solves->solve.settings(named_.gauge, q.action, session_);
  settings.options.max_iterations = few;
  const std::unique_ptr<Solver> solver = make_solver(q, settings);
  const int width = columns_at_once(*solver, q.action, 3 * q.action.spins(), session_);
  SpinorField b(domain_, find_precision("double"), Subset::full, width, q.action.spins()), x = b.like();
  const HostSpinor noise = independent_noise(named_.gauge.lattice(), 1, 0, 4);
  for (int i = 0; i < width; ++i) upload(noise, b, solver->basis(), i);
  double seconds = 0, iterations = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first takes work space, and what is made when it is asked for
    seconds = iterations = 0;
    for (const SolveReport& r : solver->solve_sources(x, b)) {
      seconds += r.seconds;
      iterations += r.iterations;
    }
  }
  return session_.ranks().largest(seconds / std::max(iterations, 1.0));
}

}  // namespace quarksmith::runs
