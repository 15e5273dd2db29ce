/// \file
/// Gauge fixing in runs of `quarksmith measure`.
#pragma once

#include "runs/measure_file.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {

/// The links become those in the gauge of the run; they and the transformation are written where the run says.
/// \param digest of the links before. \param look is called before each step. \throws Error the gauge is not reached;
/// UsageError other files are there.
RecordArray fix_gauge(const MeasurePlan& plan, const Configuration& c, const std::string& digest, NamedGauge& named,
                      const DomainPointer& domain, Session& session, const std::function<void()>& look);

}  // namespace quarksmith::runs
