/// \file
/// Fat and long links of improved staggered actions. All links are without staggered phases and boundary phases, which
/// are signs of the hop; with the phases folded in, coefficients of paths with an odd number of steps aside would
/// change their sign, as in MILC's tables. Formulas and literature: docs/links.md.
#pragma once

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Coefficients of a smearing level: one link, 3-, 5-, 7-link staples, Lepage's straight five links, Naik's three.
struct StapleCoefficients {
  double one, three, five, seven, lepage, naik;
};

/// K. Orginos, D. Toussaint and R. L. Sugar, hep-lat/9903032: couplings of gluons of momentum pi vanish, derivatives
/// are correct to order a^2 at tree level; tadpole factors: 1/u0 for every link but the first.
/// \throws UsageError u0 is not positive.
StapleCoefficients asqtad_coefficients(double u0);
/// Fat7, the first level of HISQ (E. Follana et al., hep-lat/0610092).
StapleCoefficients fat7_coefficients();
/// The second level of HISQ (hep-lat/0610092, arXiv:1004.0342): a doubled Lepage term, and Naik's times 1 + epsilon.
StapleCoefficients hisq_coefficients(double naik_epsilon);
/// The epsilon with which a free quark of this bare mass (2m on the diagonal of M) moves at the speed of light at order
/// p^2: the series of hep-lat/0610092 to (a m)^8; for charm.
double naik_epsilon(double mass);

/// Links at each site and direction: `fat` any 3x3 matrices, `longs` products of three links times the
/// coefficient naik; the long link at x in direction mu leads to x + 3 mu.
struct ImprovedLinks {
  HostGauge fat, longs;
};

/// All ranks of the domain together, each with its part; `gauge.phase` is not part of the links and is copied.
/// \throws UsageError u0 is not positive, the lattices differ or the build lacks the kernels.
ImprovedLinks asqtad_links(const HostGauge& gauge, const DomainPointer& domain, double u0);
/// Fat7 links, projected on U(3) and smeared again: the tree-level highly improved staggered action.
/// \throws Error a fat7 link is singular, so that it has no projection; UsageError as above.
ImprovedLinks hisq_links(const HostGauge& gauge, const DomainPointer& domain, double naik_epsilon = 0);

// What these are made of. Double precision, 18 reals; collective.

/// One level of smearing of any links. \param longs receives the long links unless null.
LinkField smear(const LinkField& links, const StapleCoefficients& c, LinkField* longs = nullptr);
/// V (V^+ V)^(-1/2) for each link V: the nearest matrix in U(3). \throws Error a link is singular.
LinkField project_u3(const LinkField& links);

/// The sum of V's staples in the plane of mu and nu,
/// p = U_nu(x) V_mu(x+nu) U_nu(x+mu)^+ + U_nu(x-nu)^+ V_mu(x-nu) U_nu(x-nu+mu): out_mu = p, unless `out` is null, and
/// sum_mu += b p. Fields are different objects unless both are read, and of a whole lattice: on a part make them with a
/// border (runtime/ranks/bordered.hpp).
void add_staples(const LinkField& u, const LinkField& v, int mu, int nu, LinkField* out, double b, LinkField& sum);

}  // namespace quarksmith
