// What quarksmith propagator is told.
#include "apps/propagator_options.hpp"

namespace quarksmith::apps {

SolveSettings propagator_settings(const PropagatorOptions& o, const CLI::App& command, const HostGauge& gauge,
                                  const ActionChoice& choice) {
  SolveSettings s = o.choices.settings(command, gauge, choice.action, o.common);
  s.method = method_of(o.solver.empty() ? choice.solver : o.solver);
  s.precision = o.precision;
  return s;
}

PropagatorHeader propagator_header(const PropagatorOptions& o, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette) {
  const bool spinors = choice.action.spins() == 4;
  PropagatorHeader header(choice.provenance);
  header.provenance.insert({{"gauge_digest", gauge_digest(named.gauge, o.common)},
                            {"source", o.source},
                            {"tolerance", o.choices.tolerance}});
  if (spinors)
    header.provenance.insert(
        {{"smear_links", o.smear_links.empty() ? "none" : o.smear_links}, {"basis", "degrand_rossi"}});
  header.remarks = {{"gauge", named.origin},
                    {"plaquette", plaquette},
                    {"program_version", QUARKSMITH_VERSION},
                    {"solver", choice.masses.size() > 1 ? "multi-shift cg"
                               : o.solver.empty()       ? choice.solver
                                                        : o.solver},
                    {"precision", o.precision},
                    {"even_odd", settings.reduction == Reduction::none ? "none" : o.choices.even_odd},
                    {"links", settings.links}};
  header.form = {!spinors, spinors ? 4 : static_cast<int>(choice.masses.size()), choice.action.has_midpoint()};
  return header;
}

}  // namespace quarksmith::apps
