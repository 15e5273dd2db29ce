/// \file
/// The operators of an action of hopping shape in four dimensions.
#pragma once

#include <memory>

#include "solvers/actions/even_odd.hpp"

namespace quarksmith {

class HoppingDirac final : public FlavouredDirac {
 public:
  /// \param source,sink as of FlavouredDirac.
  HoppingDirac(std::shared_ptr<const ActionFields> fields, HoppingTerm hopping, int source = 0, int sink = 0)
      : FlavouredDirac(source, sink), fields_(std::move(fields)), hopping_(std::move(hopping)), matrix_(hopping_) {}
  const HoppingTerm& hopping() const { return hopping_; }
  const ActionFields& fields() const override { return *fields_; }
  const HoppingMatrix& matrix() const override { return matrix_; }
  std::unique_ptr<EvenOddOperator> even_odd_operator(EvenOddForm form, int rhs,
                                                     Parity kept = Parity::even) const override;
  std::unique_ptr<EvenOddOperator> square(Parity parity, int rhs) const override;
  std::unique_ptr<DiracOperator> with(const ActionValues& values) const override;
  std::unique_ptr<DiracOperator> dirichlet() const override;
  int work_fields() const override { return hopping_.has_term() ? 2 : 1; }
  const StoredTerm* stored_term() const override { return hopping_.term().stored(); }
  double log_det(Parity parity) const override;

 private:
  std::shared_ptr<const ActionFields> fields_;
  HoppingTerm hopping_;
  HoppingMatrix matrix_;
};

}  // namespace quarksmith
