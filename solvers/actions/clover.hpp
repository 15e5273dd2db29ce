/// \file
/// The clover term on a device.
#pragma once

#include <optional>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// T = diagonal - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu, its inverse and the logarithm of its determinant.
/// B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572; F as in hep-lat/9605038. Made by all ranks of the
/// links' domain together: each has the sites of its part.
class CloverTerm {
 public:
  /// \param links double precision, 18 reals, without boundary phases.
  /// \param space,time coefficients c_ij and c_i4.
  /// \param precision of the fields that kernels read.
  /// \param shift where a twisted mass stands beside T: `inverse` is T (T^2 + shift)^-1, `factor` is there, and
  ///        `log_det` is that of T^2 + shift (see SiteTerm).
  /// \throws UsageError the build lacks a kernel; Error T is singular at some site.
  CloverTerm(const LinkField& links, double space, double time, double diagonal, const PrecisionInfo& precision,
             std::optional<double> shift = {});
  /// The same in another precision than double. \param high in double.
  CloverTerm(const CloverTerm& high, const PrecisionInfo& precision);

  const TermField& term() const { return term_; }
  const TermField& inverse() const { return inverse_; }
  /// (T^2 + shift)^-1; only if there is a shift.
  const TermField& factor() const { return *factor_; }
  /// Sum over the sites of a parity of the whole lattice of log |det T|.
  double log_det(Parity parity) const { return log_det_[int(parity)]; }

 private:
  struct Double {
    TermField term, inverse;
    std::optional<TermField> factor;
    std::array<double, 2> log_det;
  };
  static Double build(const LinkField& links, double space, double time, double diagonal, std::optional<double> shift);
  CloverTerm(Double d, const PrecisionInfo& precision);

  std::array<double, 2> log_det_;
  TermField term_, inverse_;
  std::optional<TermField> factor_;
};

}  // namespace quarksmith
