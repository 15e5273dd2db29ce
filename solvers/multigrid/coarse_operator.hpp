/// \file
/// P^+ M P on the lattice of blocks.
#pragma once

#include <memory>

#include "solvers/multigrid/even_odd_system.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// P^+ M P with a matrix for each site and each of its eight neighbours, found by applying M to P e on blocks that have
/// no neighbour in common: M is a LinearOperator, of which nothing else is known.
class CoarseOperator final : public LinearOperator, public EvenOddSystem {
 public:
  /// \param fine only read here. \param rhs right-hand sides at most of the even-odd form.
  /// \throws UsageError M couples blocks that do not touch: a random vector is not mapped as by P^+ M P.
  CoarseOperator(const Transfer& transfer, const LinearOperator& fine, int rhs);
  ~CoarseOperator() override;

  /// Work space of the even-odd form.
  void reserve(int rhs);
  /// \throws UsageError the conjugate is asked for.
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return domain_; }
  const PrecisionInfo& precision() const override { return *precision_; }
  int slices() const override { return slices_; }
  double flops() const override;

  const LinearOperator& full() const override { return *this; }
  /// 1 - X_ee^-1 C_eo X_oo^-1 C_oe, X the matrices of the sites themselves.
  const LinearOperator& reduced() const override;
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;

 private:
  class Reduced;
  /// Matrices of the sites of a parity on the device.
  struct Matrices {
    int points = 0;
    Memory first, other_first, panel, record;
  };
  class Probe;

  Matrices matrices(Parity parity, const std::vector<std::vector<Complex64>>& all, int points, bool hops) const;
  /// out = a x + b C in on the sites of a parity; x may be null. `in` has the sites of the other for hops.
  void run(const Matrices& c, SpinorField& out, Parity parity, double a, const SpinorField* x, double b,
           const SpinorField& in, Parity in_parity) const;
  SpinorField half(Subset subset, int rhs) const { return {domain_, *precision_, subset, rhs, {}, slices_}; }

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  int slices_, rows_, tiles_;
  const Kernel* apply_;
  std::array<Matrices, 2> hops_, own_, inverse_;
  mutable SpinorField even_, odd_, other_;
  std::unique_ptr<Reduced> reduced_;
};

}  // namespace quarksmith
