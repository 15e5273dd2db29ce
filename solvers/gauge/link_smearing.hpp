/// \file
/// Smearing of links, on the stored links, boundary phases left out.
#pragma once

#include <string>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// How links are smeared: those of all directions in all planes, or in space alone, which leaves time links as they
/// are.
///
/// stout (C. Morningstar and M. Peardon, hep-lat/0311018): U' = exp(rho TA(C U^+)) U, C the sum of the staples.
/// ape (M. Albanese et al., Phys. Lett. B 192 (1987) 163): U' is the SU(3) matrix that maximises
/// Re tr(U'^+ [(1 - alpha) U + alpha/n C]), n the number of staples, 6 or 4.
/// hyp (A. Hasenfratz and F. Knechtli, hep-lat/0103029): three levels inside hypercubes, projected as ape; all links.
struct LinkSmearing {
  enum class Kind { none, stout, ape, hyp } kind = Kind::none;
  double strength = 0;           ///< rho, alpha, or alpha_1 of hyp
  double second = 0, third = 0;  ///< alpha_2, alpha_3 of hyp
  int steps = 0;
  bool space = false;
};
/// `stout:rho,N` or `ape:alpha,N`, in space alone with `,space` behind; `hyp:alpha_1,alpha_2,alpha_3,N`.
/// \throws UsageError any other text.
LinkSmearing link_smearing_of(const std::string& text);
/// \throws UsageError rho is not between -1 and 1, an alpha not between 0 and 1, or the steps are too many.
void check(const LinkSmearing& how);

/// The smeared links in double precision; of a part of a lattice that part. Collective.
/// \throws NotSU3 the links are not SU(3); MissingKernel the build lacks the expression.
HostGauge smear(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain);

}  // namespace quarksmith
