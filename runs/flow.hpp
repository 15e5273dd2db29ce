/// \file
/// The gradient flow of a configuration, with energy density and topological charge.
#pragma once

#include "runs/session.hpp"
#include "solvers/gauge/gradient_flow.hpp"

namespace quarksmith::runs {

struct FlowDescription : Description {
  std::string gauge, lattice, out, format, precision = "double", action = "wilson";
  FlowSchedule schedule{.step = 0.01};
  void list(Members& members) override;
};

struct FlowResult {
  Coordinates lattice;         ///< extents of the whole lattice
  std::string origin, device;  ///< origin of the links; description of the device
  std::vector<FlowPoint> points = {};
  std::vector<FlowScale> scales = {};  ///< scales that the flow reaches
  FlowWork work = {};
  std::optional<HostGauge> gauge = {};  ///< links at the end, if they are wanted in a file or in memory

  double seconds_per_step() const { return work.steps > 0 ? work.seconds / work.steps : 0; }
};
/// \throws UsageError a member is missing or wrong; NotSU3; Error a file cannot be read or written.
FlowResult run(FlowDescription& description, Session& session);

}  // namespace quarksmith::runs
