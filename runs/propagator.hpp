/// \file
/// A quark propagator: what describes it, and what follows from that before a solve.
#pragma once

#include "runs/action.hpp"
#include "runs/deflation.hpp"
#include "runs/solve.hpp"

namespace quarksmith::runs {

struct PropagatorDescription : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflate;
  std::string source = "point:0,0,0,0", sink = "point", smear_links, time_limit;
  int batch = 0;  ///< columns solved together; 0: as many as fit
  std::filesystem::path out, correlators;

  void list(Members& members) override;
  void check() override;
};

/// What of the run decides the columns, and what else is worth to know of them. The sink does not touch them.
PropagatorHeader propagator_header(const PropagatorDescription& d, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette, Session& session);

}  // namespace quarksmith::runs
