/// \file
/// Gauge fixing in runs of `quarksmith measure`.
#pragma once

#include "runs/measure_file.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {

/// Transforms the links of `named` to the gauge of the run, and writes them and the transformation to the files of the
/// run. \param digest of the original links. \param look called before each step. \throws Error the gauge is not
/// reached; UsageError such files exist with other content.
RecordArray fix_gauge(const MeasurePlan& plan, const Configuration& c, const std::string& digest, NamedGauge& named,
                      const DomainPointer& domain, Session& session, const std::function<void()>& look);

}  // namespace quarksmith::runs
