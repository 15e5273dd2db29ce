/// \file
/// Site terms that are made of fields, on a device.
#pragma once

#include <cmath>
#include <optional>

#include "runtime/fields/given_field.hpp"
#include "solvers/links/link_program.hpp"

namespace quarksmith {

/// C = diagonal + blocks, or diagonal + exponential exp(blocks), its inverse and the logarithm of its determinant: the
/// clover term (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572) and all others of this form, blocks
/// c_k S_k F_k with matrices F_k of fields (generator/operators/blocks.py). Each rank has the sites of its local
/// lattice.
class StoredTerm {
 public:
  /// \param fields with those of the blocks.
  /// \param precision of the fields that kernels read.
  /// \param shift where a twisted mass stands beside C: `inverse` is C (C^2 + shift)^-1, `factor` is there, and
  ///        `log_det` is that of C^2 + shift (see SiteTerm).
  /// \param added a field of kind given_term that is added to C; may be null, or all of C if the action has no blocks.
  /// \throws UsageError the build lacks a kernel; Error C is singular at some site.
  StoredTerm(const ActionValues& values, const StatementFields& fields, const PrecisionInfo& precision,
             std::optional<double> shift = {}, const GivenField* added = nullptr, const DomainPointer& domain = {});
  /// A copy in a precision other than double. \param high in double.
  StoredTerm(const StoredTerm& high, const PrecisionInfo& precision);

  const TermField& term() const { return term_; }
  const TermField& inverse() const { return inverse_; }
  /// (C^2 + shift)^-1; only if there is a shift.
  const TermField& factor() const { return *factor_; }
  /// The blocks in the exponent; only if there is an exponential, in double.
  const TermField& exponent() const { return *exponent_; }
  /// Sum over the sites of a parity of the whole lattice of log |det C|.
  double log_det(Parity parity) const { return log_det_[int(parity)]; }
  /// Whether it has an inverse at every site.
  /// The root mean square of |C psi| / |psi| if something was added to C, else 0.
  double size() const { return size_; }
  bool is_invertible() const { return std::isfinite(log_det_[0] + log_det_[1]); }

  /// Whether an action with these values has such a term: one of its blocks is not zero.
  static bool is_part_of(const ActionValues& values);

 private:
  struct Double {
    TermField term, inverse;
    std::optional<TermField> factor, exponent;
    std::array<double, 2> log_det;
    double size = 0;
  };
  static TermField blocks_of(const ActionValues& values, const StatementFields& fields,
                             std::optional<TermField>& exponent);
  static Double build(const ActionValues& values, const StatementFields& fields, std::optional<double> shift,
                      const GivenField* added, const DomainPointer& domain);
  StoredTerm(Double d, const PrecisionInfo& precision);

  std::array<double, 2> log_det_;
  double size_;
  TermField term_, inverse_;
  std::optional<TermField> factor_, exponent_;
};

/// The arguments of kernels term_ and source_ of an action's blocks: numbers c_k, and the fields of F_k in their order.
void set_blocks(Arguments& a, const ActionValues& values, const std::vector<const LinkField*>& fields);
/// Numbers (indices) of the fields that the blocks of an action take.
std::vector<int> fields_of_blocks(const ActionInfo& info);

}  // namespace quarksmith
