// Gauge fixing in runs of measure, and the files that it writes.
#include "runs/measure_fixing.hpp"

#include <fmt/format.h>

#include "runs/checkpoints.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith::runs {
namespace {

/// \throws UsageError other links are there already.
void write_links(const std::filesystem::path& path, const Configuration& c, const HostGauge& fixed, Session& session) {
  if (!session.overwrite && exists_on_root(path, session)) {  // a run that was killed has left them, or they are others
    const NamedGauge there = open_gauge(path.string(), "", session);
    if (there.gauge.lattice() == fixed.lattice && gauge_digest(there.gauge, session) == gauge_digest(fixed, session))
      return;
    throw UsageError(
        fmt::format("{}: holds other links than configuration {} in the gauge of this run; choose another out of "
                    "[gauge_fixing], or replace it with --overwrite",
                    path.string(), c.number));
  }
  Output output(path, Existing::replace, session.ranks());
  write_gauge(output, fixed, "ildg", 64);
  session.info(fmt::format("wrote {}", path.string()));
}

/// As three colour vectors, the columns of g(x), with their checksums and a seal. \throws UsageError likewise.
void write_transformation(const std::filesystem::path& path, const PropagatorHeader& header, const HostGauge& g,
                          Session& session) {
  if (!session.overwrite && exists_on_root(path, session)) {
    const PropagatorReader there(path, session.ranks());
    return there.require(header, g.lattice.global_extent(),
                         "choose another transformation of [gauge_fixing], or replace it with --overwrite");
  }
  PropagatorFile file(path, g.lattice, header, session.overwrite, session.ranks());
  HostSpinor column(g.lattice);
  for (int colour = 0; colour < header.form.each; ++colour) {
    for (std::size_t x = 0; x < g.site.size(); ++x)
      for (int row = 0; row < 3; ++row) column.site[x][row] = g.site[x][0][3 * row + colour];
    file.write(0, colour, column, {});
  }
  file.finish();
  session.info(fmt::format("wrote {}", path.string()));
}

}  // namespace

RecordArray fix_gauge(const MeasurePlan& plan, const Configuration& c, const std::string& digest, NamedGauge& named,
                      const DomainPointer& domain, Session& session, const std::function<void()>& look) {
  const GaugeFixing& how = *plan.fixing;
  GaugeFixer fixer(named.gauge, domain, how);
  const GaugeFixingReport r = fixer(look);
  if (!r.converged)
    throw Error(
        fmt::format("configuration {}: [gauge_fixing]: not converged: the functional {:.12f} changes by {:.1e} "
                    "after {} steps; use a larger max_steps, or a larger tol",
                    c.number, r.functional, r.change, r.steps));
  named.gauge = fixer.links(named.gauge.phase());
  const auto& [links, transformation] = plan.fixing_files;
  const auto number = static_cast<std::uint64_t>(c.number);
  if (!links.empty()) write_links(configuration_name(links, number), c, named.gauge, session);
  if (!transformation.empty())
    write_transformation(configuration_name(transformation, number, ".h5"),
                         {{{"content", "gauge transformation"},
                           {"gauge_digest", digest},
                           {"condition", how.condition == GaugeCondition::landau ? "landau" : "coulomb"},
                           {"boost", how.boost},
                           {"tolerance", how.tolerance}},
                          {{"gauge", named.origin}, {"program_version", QUARKSMITH_VERSION}},
                          {.staggered = true, .first = 1}},
                         fixer.transformation(), session);
  return {"gauge_fixing",
          {6},
          std::vector<double>{r.before, r.functional, r.average, r.change, r.theta, static_cast<double>(r.steps)},
          {{"axes", "(functional before, functional, mean of the last step, its change, theta, steps)"}}};
}

}  // namespace quarksmith::runs
