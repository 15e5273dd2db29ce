/// \file
/// Quenched SU(N) configurations with the Wilson plaquette action.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/fields/gauge.hpp"

namespace quarksmith {

/// State of a run: continuing from it gives the same bits as not having stopped.
struct HeatbathState {
  double beta = 6.0;
  std::uint64_t seed = 1;
  int overrelax = 4;         ///< over-relaxation passes after each heat-bath pass
  std::uint64_t sweeps = 0;  ///< done so far
  std::string start = "cold";
};

/// A configuration on a device, on several ranks the local lattice, and its updates.
///
/// A sweep is one heat-bath pass (Cabibbo and Marinari with the SU(2) draw of Kennedy and Pendleton) and `overrelax`
/// microcanonical passes; a pass updates the links of one direction and parity at a time. Random numbers depend on
/// seed, sweep and global site alone. Several ranks update padded lattices with a halo of one site, which is exchanged
/// after each update: the bits are those of one rank.
class HeatbathRun {
 public:
  /// \throws UsageError beta not positive, negative number of passes, or the build lacks the kernels. Collective, as
  /// all calls.
  HeatbathRun(const HostGauge& start, DomainPointer domain, const HeatbathState& state);

  void sweep();
  GaugeAverages averages() const { return gauge_averages(links_); }
  HostGauge configuration() const { return download(links_); }
  const HeatbathState& state() const { return state_; }

 private:
  void pass(const Kernel& kernel, LinkField& links, std::uint64_t number);

  HeatbathState state_;
  LinkField links_;
  const PaddedLattice* padded_;  ///< null for one rank
  std::vector<int> blocks_[2];   ///< CPU: blocks of each parity that hold local sites
  const Kernel *heatbath_, *overrelax_;
};

/// Type of the LIME record in which a configuration keeps its state.
inline constexpr const char* heatbath_record = "quarksmith-heatbath";
/// The state as the text of that record.
std::string state_text(const HeatbathState& state);
/// The state of such a text. \param file that the text is of, for messages. \throws Error the text is damaged.
HeatbathState state_of(const std::string& text, const std::string& file);

/// Kinds of starts, each with the name of the number that follows a colon.
inline constexpr std::pair<std::string_view, std::string_view> starts[] = {{"cold", ""}, {"hot", ""}, {"weak", "EPS"}};
/// Links for the start of a run: cold, hot or weak:EPS. \throws UsageError any other text.
HostGauge start_gauge(const std::string& start, const Lattice& lattice, std::uint64_t seed, int colours = 3);

}  // namespace quarksmith
