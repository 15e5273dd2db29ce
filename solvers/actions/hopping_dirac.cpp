#include "solvers/actions/hopping_dirac.hpp"

#include "runtime/error.hpp"

namespace quarksmith {

std::unique_ptr<EvenOddOperator> HoppingDirac::even_odd_operator(EvenOddForm form, int rhs, Parity kept) const {
  return even_odd(hopping_, form, rhs, kept);
}

std::unique_ptr<EvenOddOperator> HoppingDirac::square(Parity parity, int rhs) const {
  if (hopping_.has_term() || !values().info().anti_hermitian) return DiracOperator::square(parity, rhs);
  return std::make_unique<HermitianEvenOdd>(hopping_, rhs, parity);
}

std::unique_ptr<DiracOperator> HoppingDirac::with(const ActionValues& values) const {
  if (hopping_.has_term() || !values.info().anti_hermitian) return DiracOperator::with(values);
  return std::make_unique<HoppingDirac>(fields_, hopping_.with(values), source_, sink_);
}

std::unique_ptr<DiracOperator> HoppingDirac::dirichlet() const {
  if (values().info().reach > 1) return DiracOperator::dirichlet();
  return std::make_unique<HoppingDirac>(fields_, hopping_.dirichlet(), source_, sink_);
}

double HoppingDirac::log_det(Parity parity) const {
  return hopping_.term().stored() == nullptr ? 0 : hopping_.term().log_det(parity, 0);
}

}  // namespace quarksmith
