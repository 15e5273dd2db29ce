/// \file
/// What `quarksmith measure` shows: the graph of a run, and its results as JSON.
#pragma once

#include "runs/measure.hpp"
#include "runs/measure_file.hpp"
#include "runs/print.hpp"

namespace quarksmith::runs {

/// Reads a configuration of the list. \throws Error it cannot be read; UsageError its lattice differs from the others'.
NamedGauge open_configuration(const Configuration& c, const ConfigurationList& list, Session& session);

/// \param seconds of an iteration, by quark.
MeasureGraph graph_of(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                      const std::vector<double>& seconds);
void print_graph(const MeasureGraph& graph, const MeasurePlan& plan, Session& session);
Json json_of(const MeasureGraph& graph);
/// What --json writes of a finished run.
Json json_of(const MeasureResult& result);

}  // namespace quarksmith::runs
