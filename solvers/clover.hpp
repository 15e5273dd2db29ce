/// \file
/// The clover term on a device.
#pragma once

#include <optional>

#include "runtime/field.hpp"

namespace quarksmith {

/// T = diagonal - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu, its inverse and the logarithm of its determinant.
/// B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572; F as in hep-lat/9605038. Made by all ranks of the
/// links' domain together: each has the sites of its part.
class CloverTerm {
 public:
  /// \param links double precision, 18 reals, without boundary phases.
  /// \param space,time coefficients c_ij and c_i4.
  /// \param precision of the fields that kernels read.
  /// \throws UsageError the build lacks a kernel; Error T is singular at some site.
  CloverTerm(const LinkField& links, double space, double time, double diagonal, const PrecisionInfo& precision);

  const TermField& term() const { return term_; }
  const TermField& inverse() const { return inverse_; }
  /// Sum over the sites of a parity of the whole lattice of log |det T|.
  double log_det(Parity parity) const { return log_det_[int(parity)]; }

 private:
  struct Double {
    TermField term, inverse;
    std::array<double, 2> log_det;
  };
  static Double build(const LinkField& links, double space, double time, double diagonal);
  CloverTerm(Double d, const PrecisionInfo& precision);

  std::array<double, 2> log_det_;
  TermField term_, inverse_;
};

}  // namespace quarksmith
