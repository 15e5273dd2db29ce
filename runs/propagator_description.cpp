// What describes a propagator.
#include "runs/propagator.hpp"

#include <fmt/format.h>

#include <array>

#include "runs/column_groups.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {

void PropagatorDescription::list(Members& members) {
  const auto of_spinors = [](const ActionInfo& a) { return a.spins == 4; };
  action.list(members);
  auto add = members.of(*this);
  add("source", source, source_forms())
      .offers(names_of<SourceKind>(), ":")
      .offers(names_of<SmearingKind>(), ":")
      .parsed([](const std::string& text) { source_of(text); });
  only_with(add("sink", sink, sink_forms() + " (acts on correlators only)"), action, of_spinors)
      .offers(std::array{"point"})
      .offers(names_of<SmearingKind>(), ":")
      .parsed(sink_of);
  only_with(add("smear_links", smear_links,
                fmt::format("links of the action: {} (default: as they are); sources and sinks use the unsmeared links",
                            link_smearing_forms())),
            action, of_spinors)
      .offers(names_of<LinkSmearingKind>(), ":")
      .parsed(link_smearing_of);
  solve.list(members);
  deflate.list(members);
  add("batch", batch, "columns solved together (default: as many as the GPU's memory holds; on the CPU 1)")
      .range(1, 12)
      .open();
  list_split(add, split, " (default: chosen, docs/howto-groups.md; 1,1,1,1: one group)");
  add("out", out, "propagator (HDF5); an interrupted FILE.part is continued");
  add("correlators", correlators, "correlators: JSON, or CSV if the name ends in .csv");
  add("time_limit", time_limit, "stop with columns and JSON written within this time: SECONDS, MM:SS or HH:MM:SS");
}

void PropagatorDescription::check() {
  if (deflate.is_given())
    refuse_given({"smear_links"},
                 fmt::format("makes other links than those of {}; leave one of them out", called("deflate")));
  if (!solve.near_null.save.empty())
    refuse_given({"split"}, fmt::format("makes groups of ranks, but {} is of all of them; leave one of them out",
                                        called("mg_save")));
  if (!solve.near_null.load.empty() || !solve.near_null.save.empty())
    refuse_given({"smear_links"}, fmt::format("makes other links than those of {} and {}; leave it out",
                                              called("mg_load"), called("mg_save")));
}

PropagatorHeader propagator_header(const PropagatorDescription& o, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette, Session& session) {
  const bool spinors = choice.action.spins() == 4;
  PropagatorHeader header(choice.provenance);
  header.provenance.insert(
      {{"gauge_digest", gauge_digest(named.gauge, session)}, {"source", o.source}, {"tolerance", o.solve.tolerance}});
  if (o.solve.slice_tolerance > 0) header.provenance["slice_tolerance"] = o.solve.slice_tolerance;
  if (spinors)
    header.provenance.insert(
        {{"smear_links", o.smear_links.empty() ? "none" : o.smear_links}, {"basis", "degrand_rossi"}});
  header.remarks = {{"gauge", named.origin},
                    {"plaquette", plaquette},
                    {"program_version", QUARKSMITH_VERSION},
                    {"solver", choice.masses.size() > 1 ? "multi-shift cg"
                               : o.solve.solver.empty() ? choice.solver
                                                        : o.solve.solver},
                    {"precision", o.solve.precision},
                    {"even_odd", settings.even_odd_form == EvenOddForm::none ? "none" : o.solve.even_odd},
                    {"links", settings.links}};
  header.form = {!spinors, spinors ? 4 : static_cast<int>(choice.masses.size()), choice.action.has_midpoint()};
  return header;
}

}  // namespace quarksmith::runs
