/// \file
/// Fat and long links of improved staggered actions.
#pragma once

#include "runs/session.hpp"

namespace quarksmith::runs {

struct LinksDescription : Description {
  std::string action = "hisq", gauge, lattice, fat, longs;
  double u0 = 1, epsilon = 0, charm = 0;
  void list(Members& members) override;
};

struct LinksResult {
  struct Field {
    double link_trace;               ///< average of Re tr / 3
    std::optional<HostGauge> links;  ///< of runs in memory; without phases of boundaries or of staggered quarks
  };
  std::string origin;          ///< of the configuration
  double u0 = 1, epsilon = 0;  ///< of asqtad; of HISQ, from `charm` too
  Field fat = {}, longs = {};  ///< long ones with Naik's coefficient
};
/// \throws UsageError a member is missing or wrong; Error a file cannot be read or written.
LinksResult run(LinksDescription& description, Session& session);

}  // namespace quarksmith::runs
