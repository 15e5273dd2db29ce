/// \file
/// What `quarksmith measure` shows: the graph of a run, and its results as JSON.
#pragma once

#include "runs/print.hpp"
#include "runs/measure_file.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {

/// A configuration of the list, whose lattice must be that of the others. \throws Error, UsageError
NamedGauge open_configuration(const Configuration& c, const ConfigurationList& list, Session& session);

/// What is made on each configuration, in which order, with its memory. \param seconds of an iteration, by quark.
void print_graph(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                 const std::vector<double>& seconds, Session& session);
Json graph_json(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                const std::vector<double>& seconds);

/// `run` and an empty list `configurations`.
Json json_head(const MeasurePlan& plan);
/// An entry of that list.
Json json_of(const Record& record);

}  // namespace quarksmith::runs
