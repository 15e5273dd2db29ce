/// \file
/// What `quarksmith measure` shows: the graph of a run, and its results as JSON.
#pragma once

#include "runs/measure_file.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {

/// A configuration of the list, whose lattice must be that of the others. \throws Error, UsageError
NamedGauge open_configuration(const Configuration& c, const ConfigurationList& list, Session& session);

/// What is made on each configuration, in which order, with its memory. \param seconds of an iteration, by quark.
void print_graph(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                 const std::vector<double>& seconds, Session& session);
nlohmann::ordered_json graph_json(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                                  const std::vector<double>& seconds);

/// `run` and an empty list `configurations`.
nlohmann::ordered_json json_head(const MeasurePlan& plan);
/// An entry of that list.
nlohmann::ordered_json json_of(const Record& record);

}  // namespace quarksmith::runs
