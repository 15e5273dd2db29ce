/// \file
/// Configurations with smeared links.
#pragma once

#include "runs/session.hpp"

namespace quarksmith::runs {

struct SmearDescription : Description {
  std::string kind;  ///< `stout`, `ape` or `hyp`
  std::string in, out, lattice, format, links = "all", hyp = "0.75,0.6,0.3";
  double rho = 0.1, alpha = 0.5;
  int steps = 1, bits = 0;
  void list(Members& members) override;
};

struct SmearResult {
  HostGauge gauge;  ///< the smeared links
  GaugeAverages before = {}, after = {};
  double strength = 0, seconds = 0;  ///< rho, alpha or alpha_1; of the smearing alone
};
/// \throws UsageError a member is missing or wrong; NotSU3; Error a file cannot be read or written.
SmearResult run(SmearDescription& description, Session& session);

}  // namespace quarksmith::runs
