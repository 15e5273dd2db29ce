/// \file
/// Options of domain-wall and Moebius actions.
#pragma once

#include <map>

#include "apps/options.hpp"
#include "solvers/actions/domain_wall.hpp"

namespace quarksmith::apps {

struct DomainWallOptions {
  int ls = 16;
  std::string b5 = "1", c5 = "0";
  double m5 = 1.8;

  void add_to(CLI::App& command);
  /// Whether an action is one of these.
  static bool has(const std::string& action) { return action == "domain-wall" || action == "moebius"; }
  /// \throws UsageError numbers that do not suit the slices.
  DomainWallParameters parameters(double mass, const std::array<Complex64, directions>& boundary) const;
  /// Names and values of the parameters.
  static std::map<std::string, std::string> provenance(const DomainWallParameters& p);
};

}  // namespace quarksmith::apps
