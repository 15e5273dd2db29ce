/// \file
/// Components of a multigrid cycle: approximate inverses that are made of others.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/preconditioner.hpp"
#include "solvers/multigrid/even_odd_system.hpp"
#include "solvers/multigrid/site_matrices.hpp"
#include "solvers/multigrid/parameters.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// A^-1 as a dense matrix, for any operator on few sites.
class DirectSolve final : public Preconditioner {
 public:
  /// \param a with work space for spinor_numbers right-hand sides; only used in the constructor.
  /// \throws UsageError A has more than most_unknowns unknowns.
  /// \throws Error A is singular to working accuracy.
  explicit DirectSolve(const LinearOperator& a);
  /// Unknowns of a system of all ranks.
  static long long unknowns(const LinearOperator& a);
  /// Allocates work space for `rhs` right-hand sides.
  void reserve(int rhs) const { inverse_.reserve(rhs); }
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return 1; }

 private:
  SiteMatrices inverse_;
};

/// M^-1 by an approximate inverse of the even-odd form.
class EvenOddSolve final : public Preconditioner {
 public:
  /// \param system outlives this.
  EvenOddSolve(const EvenOddSystem& system, std::shared_ptr<Preconditioner> reduced, int rhs)
      : system_(&system), reduced_(std::move(reduced)), b_(system.even_odd_operator().field(rhs)), x_(b_.like()) {}
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return reduced_->applications(); }

 private:
  const EvenOddSystem* system_;
  std::shared_ptr<Preconditioner> reduced_;
  SpinorField b_, x_;
};

/// An approximate inverse of A between conversions of its fields.
class Converted final : public Preconditioner {
 public:
  /// \param a in the precision of k. \param outer precision of the fields of `apply`.
  Converted(std::shared_ptr<Preconditioner> k, const LinearOperator& a, const PrecisionInfo& outer, int rhs)
      : k_(std::move(k)), convert_(a, a.precision(), outer, rhs), in_(a.field(rhs)), out_(in_.like()) {}
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return k_->applications(); }

 private:
  std::shared_ptr<Preconditioner> k_;
  Converter convert_;
  SpinorField in_, out_;
};

/// A cycle for the even-odd form A x = r, which is equivalent to M with a source b on even sites only: x = P C^-1 P^+
/// b, then x += S (r - A x). Residuals of M on odd sites are always zero, so that P and P^+ need only even sites.
class Cycle final : public Preconditioner {
 public:
  /// \param system,transfer outlive this. \param coarse approximate inverse on the coarse level. \param smoother S
  Cycle(const EvenOddSystem& system, const Transfer& transfer, std::unique_ptr<Preconditioner> coarse,
        std::unique_ptr<Preconditioner> smoother, int rhs);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return 1 + smoother_->applications(); }

 private:
  const EvenOddSystem* system_;
  const Transfer* transfer_;
  std::unique_ptr<Preconditioner> coarse_, smoother_;
  SpinorField coarse_b_, coarse_x_, r_, x_;
  Blas blas_;
};

}  // namespace quarksmith
