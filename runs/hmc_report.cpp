#include "runs/hmc_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "solvers/hmc/fermion_monomials.hpp"

namespace quarksmith::runs {

Json json_of(const TrajectoryReport& report, const Hmc& hmc) {
  Json j = {{"kinetic", report.kinetic}, {"actions", Json::object()}};
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) j["actions"][monomials[n]->name()] = report.actions[n];
  const bool whole = report.kinetic.size() > 1;
  if (whole) {
    j["dH"] = report.dh;
    j["accepted"] = report.accepted;
    j["forces"] = Json::object();
    for (std::size_t n = 0; n < monomials.size(); ++n) {
      auto& list = j["forces"][monomials[n]->name()] = Json::array();
      for (const double norm2 : report.forces[n]) list.push_back({{"norm2", norm2}});
    }
  }
  j["plaquette"] = report.plaquette;
  if (!whole) return j;
  for (std::size_t n = 0; n < monomials.size(); ++n)
    j["work"][monomials[n]->name()] = {
        {"iterations", report.work[n].iterations},       {"seconds", report.work[n].seconds},
        {"solve_seconds", report.work[n].solve_seconds}, {"fallbacks", report.work[n].fallbacks},
        {"refreshes", report.work[n].refreshes},         {"damped", report.work[n].damped}};
  j["seconds"] = report.seconds;
  return j;
}

Json shares_of(const TrajectoryReport& report, const Hmc& hmc, double io) {
  double solves = 0, forces = 0, gauge = 0;
  for (std::size_t n = 0; n < report.work.size(); ++n) {
    const MonomialWork& work = report.work[n];
    solves += work.solve_seconds;
    (hmc.monomials()[n]->of_quarks() ? forces : gauge) += work.seconds - work.solve_seconds;
  }
  const double all = report.seconds + io;
  return {{"solves", solves / all}, {"forces", forces / all}, {"gauge", gauge / all}, {"io", io / all}};
}

void print_trajectory(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc, Session& session) {
  std::string line = fmt::format("trajectory {}: dH {:+.6e} {}, plaquette {:.8f}, {:.3g} s", number, report.dh,
                                 report.accepted ? "accepted" : "rejected", report.plaquette, report.seconds);
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) {
    const MonomialWork& work = report.work[n];
    line += fmt::format("; {} {} iterations {:.3g} s", monomials[n]->name(), work.iterations, work.seconds);
    if (work.fallbacks > 0) line += fmt::format(" ({} fallbacks)", work.fallbacks);
    if (work.refreshes > 0) line += fmt::format(" (vectors made or adapted {} times)", work.refreshes);
    if (work.damped > 0) line += fmt::format(", {} projections damped", work.damped);
  }
  session.print(line + "\n");
  std::fflush(stdout);  // whoever follows a log, or reads that of a killed run, has every trajectory
}

}  // namespace quarksmith::runs
