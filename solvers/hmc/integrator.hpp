/// \file
/// Integrators of molecular dynamics, nested on several time scales (J. C. Sexton and D. H. Weingarten, Nucl. Phys. B
/// 380 (1992) 665).
#pragma once

#include <string>
#include <vector>

namespace quarksmith {

/// The dynamics that is integrated: momenta P and links U.
class Dynamics {
 public:
  virtual ~Dynamics() = default;
  /// P += step F, where F is the force of these monomials at U, or at exp(displacement F) U. \param count kicks of the
  /// scheme that are merged into this one.
  virtual void kick(const std::vector<int>& monomials, double step, double displacement, int count) = 0;
  /// U = exp(step P) U
  virtual void drift(double step) = 0;
};

/// A kick of a schedule, in units of a step.
struct Kick {
  double time = 0, weight = 0;
  std::vector<int> monomials;
};

/// One level: kicks by its monomials, and between them the next level or, of the innermost, drifts.
struct IntegratorLevel {
  enum class Scheme {
    leapfrog,
    omelyan,         ///< of second order, with lambda (I. P. Omelyan, I. M. Mryglod and R. Folk, Phys. Rev. E 65 (2002)
                     ///< 056706)
    omelyan4,        ///< of fourth order: 4MN5FV and, QPQ, 4MN4FP of T. Takaishi and Ph. de Forcrand, hep-lat/0505020
    force_gradient,  ///< of fourth order, by forces at displaced links (H. Yin and R. D. Mawhinney, arXiv:1111.5059)
    schedule         ///< kicks at any times
  } scheme = Scheme::leapfrog;
  bool momenta_first = true;  ///< PQP; false: QPQ
  int steps = 1;
  double longest = 0;  ///< not 0: replaces `steps` by the fewest that are not longer than this
  double lambda = 0.1931833275037836;
  std::vector<int> monomials;
  std::vector<Kick> kicks;  ///< of a schedule, in order; times may decrease
};

/// Whether a step is symmetric in time, which is necessary for the right distribution.
bool is_reversible(const IntegratorLevel& level);

/// Integrates `dynamics` over `length`. \param levels the outermost first. Adjacent drifts of consecutive steps are
/// merged, and so are kicks by the same monomials at the same links, on any level.
void integrate(const std::vector<IntegratorLevel>& levels, double length, Dynamics& dynamics);

}  // namespace quarksmith
