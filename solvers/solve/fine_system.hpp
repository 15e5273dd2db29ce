/// \file
/// The finest level of multigrid.
#pragma once

#include "solvers/actions/dirac.hpp"
#include "solvers/multigrid/even_odd_system.hpp"

namespace quarksmith {

/// The finest level: an action on all sites, and in even-odd form if it has one.
class FineSystem final : public EvenOddSystem {
 public:
  /// \param dirac outlives this. \param rhs right-hand sides at most.
  FineSystem(const DiracOperator& dirac, EvenOddForm even_odd_form, int rhs)
      : system_(dirac, even_odd_form, rhs), divided_(even_odd_form == EvenOddForm::symmetric) {}
  const LinearOperator& full() const override { return system_.matrix(); }
  const LinearOperator& even_odd_operator() const override { return system_.a(); }
  void prepare(SpinorField& reduced, const SpinorField& b) const override {
    system_.even_odd() ? system_.even_odd()->prepare(reduced, b) : reduced.copy_from(b);
  }
  void source(SpinorField& b, const SpinorField& reduced) const override {
    divided_ ? system_.even_odd()->multiply_term(b, reduced) : b.copy_from(reduced);
  }
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override {
    system_.even_odd() ? system_.even_odd()->reconstruct(x, reduced, b) : x.copy_from(reduced);
  }

 private:
  SystemOperator system_;
  bool divided_;  ///< whether the form is symmetric, divided by T
};

}  // namespace quarksmith
