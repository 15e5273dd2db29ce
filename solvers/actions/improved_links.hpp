/// \file
/// Fat and long links of improved staggered actions. All links are without staggered phases and boundary phases, which
/// are signs of the hop; with the phases folded in, coefficients of paths with an odd number of steps aside would
/// change their sign, as in MILC's tables. Formulas: generator/actions/staggered.py, docs/links.md.
#pragma once

#include "solvers/actions/action.hpp"
#include "solvers/actions/action_values.hpp"

namespace quarksmith {

/// The epsilon with which a free quark of this bare mass (2m on the diagonal of M) moves at the speed of light at order
/// p^2: the series of hep-lat/0610092 to (a m)^8; for charm.
double naik_epsilon(double mass);

/// Links at each site and direction: `fat` any 3x3 matrices, `longs` products of three links times a number; the long
/// link at x in direction mu leads to x + 3 mu.
struct ImprovedLinks {
  HostGauge fat, longs;
};

/// The links of an action as its statement makes them (generator/actions/staggered.py) from those of a configuration.
/// All ranks of the domain together, each with its part; `gauge.phase` is not part of the links and is copied.
/// \throws UsageError the action makes none, or the lattices differ; MissingKernel the build lacks a kernel;
/// Error a link that is projected on U(3) is singular.
ImprovedLinks improved_links(const ActionValues& action, const HostGauge& gauge, const DomainPointer& domain);

/// Weights of the paths of a stage (docs/forces.md).
struct StapleCoefficients {
  double one = 0, three = 0, five = 0, seven = 0, lepage = 0, naik = 0;
};
/// \throws MissingKernel it has steps that make no such paths.
StapleCoefficients coefficients_of(const LinkStage& stage, const ActionValues& action);

/// Sums of paths, and what the next stage reads: the nearest matrices in U(3).
struct ProjectedLinks {
  LinkField sums, links;
};
/// The same as ImprovedLinks from links on the device, in double with 18 reals, and what they were made from.
struct ImprovedLinkFields {
  LinkField fat, longs;
  std::vector<ProjectedLinks> stages;
};
ImprovedLinkFields improved_link_fields(const ActionValues& action, const LinkField& links);
/// Made once for all actions and precisions in which they are the same.
const ImprovedLinkFields& improved_link_fields(const ActionValues& action, const LinkStore& links);
/// The name of an action and the numbers on which its links depend.
std::string links_made_by(const ActionValues& action);

/// V (V^+ V)^(-1/2) for each link V: the nearest matrix in U(3). Double precision, 18 reals; collective.
/// \throws Error a link is singular.
LinkField project_u3(const LinkField& links);

}  // namespace quarksmith
