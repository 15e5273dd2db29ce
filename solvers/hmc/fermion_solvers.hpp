/// \file
/// Solves in molecular dynamics: Krylov methods for a Dirac operator whose links change.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "solvers/hmc/moving_multigrid.hpp"
#include "solvers/krylov/multishift.hpp"
#include "solvers/krylov/outer_solver.hpp"

namespace quarksmith {

/// Settings of solves. Tolerances are always on true residuals in double.
struct FermionSolver {
  /// Method for two flavours. cg: of the normal equations; bicgstab: of M^+, then of M; automatic: bicgstab, then cg
  /// where that fails; multigrid: as bicgstab, each solve preconditioned by cycles of multigrid (moving_multigrid.hpp),
  /// then cg where that fails; eigcg: as cg, each solve beginning with the best guess among the Ritz vectors of the
  /// last ones.
  Method method = Method::automatic;
  /// Precisions of residuals and of iterations (precisions_of), the first of them double. Empty: double-single if the
  /// build has its kernels, else double; for poles on CPUs always double.
  std::string precision;
  /// Called after each iteration, by all ranks; an exception ends the solve.
  std::function<void()> look = {};
  /// Parameters of multigrid; none: as chosen for the lattice. Near-null vectors are made at the first solve of each
  /// trajectory, or of the run if they are kept.
  std::optional<MultigridParameters> multigrid = {};
  MethodParameters parameters = {};  ///< of eigcg
  bool keeps_vectors = false;
};

/// Work of solves.
struct SolveWork {
  long long iterations = 0;
  double seconds = 0;
  int fallbacks = 0;  ///< solves that needed another method or precision
  int refreshes = 0;  ///< times that near-null vectors of multigrid were made, or adapted to the links
};

/// The operator on the present links, at a fixed address.
class PresentOperator final : public LinearOperator {
 public:
  /// \param conjugate whether it is A^+.
  explicit PresentOperator(bool conjugate = false) : conjugate_(conjugate) {}
  /// \param a outlives this, or the next call.
  void set(const LinearOperator& a) { a_ = &a; }
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    a_->apply(out, in, turned(dagger));
  }
  bool apply_summing(SpinorField& out, const SpinorField& in, Dagger dagger, const ProductSums& sums) const override {
    return a_->apply_summing(out, in, turned(dagger), sums);
  }
  int sum_groups() const override { return a_->sum_groups(); }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  Components components() const override { return a_->components(); }
  int slices() const override { return a_->slices(); }
  double flops() const override { return a_->flops(); }
  double bytes_sent() const override { return a_->bytes_sent(); }

 private:
  Dagger turned(Dagger dagger) const { return (dagger == Dagger::yes) != conjugate_ ? Dagger::yes : Dagger::no; }

  const LinearOperator* a_ = nullptr;
  bool conjugate_;
};

/// Solvers with their work space, which are kept when the links change.
class FermionSolvers {
 public:
  /// \param squared whether the operator is A = M^+ M.
  FermionSolvers(const FermionSolver& solver, bool squared);
  FermionSolvers(const FermionSolvers&) = delete;
  FermionSolvers& operator=(const FermionSolvers&) = delete;

  /// Sets the operators on the present links, in double and in the precision of iterations, which may be the same one.
  /// They must exist until the next call.
  /// \param cycles of multigrid, if that is the method.
  void follow(const LinearOperator& high, const LinearOperator& low, const CycleOperators& cycles);
  bool has_cycles() const { return moving_.has_value(); }
  /// Discards eigenvectors and near-null vectors at the end of a trajectory, unless they are kept.
  void forget();
  // x is the first guess. \throws Error the tolerance is missed.
  /// x = (M^+ M)^-1 b; y, which need not be initialised, becomes M x = (M^+)^-1 b, to the tolerance.
  void solve_normal(SpinorField& x, SpinorField& y, const SpinorField& b, double tolerance, SolveWork& work);
  /// x = (M^+)^-1 b
  void solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work);
  /// x_k = (M^+ M + shift_k)^-1 b, to the tolerance of each; without a guess.
  void solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                     const std::vector<double>& tolerances, SolveWork& work);
  /// Ritz values of M^+ M at both ends from the last multishift solve (MultishiftSolver::ritz_values).
  std::optional<std::pair<double, double>> ritz_values() const {
    return multishift_ ? multishift_->ritz_values() : std::nullopt;
  }

 private:
  enum class System { plain, adjoint, normal };
  /// The solvers of one precision.
  struct Level {
    PresentOperator plain, adjoint{true};
    std::unique_ptr<NormalOperator> normal;  // made when first asked for
    const LinearOperator& of(System system, bool squared);
  };
  bool mixed() const { return high_.plain.precision().name != low_.plain.precision().name; }
  KrylovBatch& batch(System system, Method method, bool low);
  void solve(System system, SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work);

  SolverOptions options_of(double tolerance) const;
  SolverResult improve(SpinorField& x, const SpinorField& b, double tolerance);
  SolverResult cycle(KrylovBatch& krylov, SpinorField& x, const SpinorField& b, double tolerance);

  bool normal_alone() const { return method_ == Method::cg || method_ == Method::eigcg; }

  Method method_;
  MethodParameters parameters_;
  bool squared_, keeps_, moved_ = true;
  std::function<void()> look_;
  std::optional<MovingMultigrid> moving_;
  Level high_, low_;
  std::map<std::tuple<System, Method, bool>, std::unique_ptr<KrylovBatch>> batches_;
  std::unique_ptr<OuterSolver> outer_solver_;  ///< of the normal equations
  std::unique_ptr<MultishiftSolver> multishift_;
  std::optional<SpinorField> between_;  ///< (M^+)^-1 b
};

}  // namespace quarksmith
