#include "solvers/hmc/fermion_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/multishift.hpp"

namespace quarksmith {
namespace {

constexpr int most_iterations = 100000;

/// A = 4 m^2 - D_eo D_oe on even sites.
class StaggeredSquare final : public LinearOperator {
 public:
  /// \param hopping outlives this.
  StaggeredSquare(const HoppingTerm& hopping, double mass, int rhs)
      : hopping_(&hopping), square_(4 * mass * mass), odd_(hopping.field(Subset::odd, rhs)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger) const override {
    SpinorField odd = odd_.slice(0, in.rhs());
    hopping_->apply(odd, in, Parity::odd, Dagger::no);
    hopping_->apply(out, square_, in, -hopping_->h() * hopping_->h(), odd, Parity::even, Dagger::no);
  }
  Subset subset() const override { return Subset::even; }
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  int spins() const override { return hopping_->spins(); }
  double flops() const override { return hopping_->flops(Epilogue::none) + hopping_->flops(Epilogue::axpby); }

 private:
  const HoppingTerm* hopping_;
  double square_;
  mutable SpinorField odd_;
};

/// \throws Error a solve missed its tolerance.
void require_converged(const SolverResult& result, double tolerance) {
  if (!result.converged)
    throw Error(
        fmt::format("a solve ended after {} iterations with residual {:.2e}, not {:.2e}{}{}; use a larger "
                    "tolerance or a larger mass",
                    result.iterations, result.residual, tolerance, result.trouble.empty() ? "" : ": ", result.trouble));
}

SolverOptions options_of(double tolerance) {
  SolverOptions options;
  options.tolerance = tolerance;
  options.max_iterations = most_iterations;
  return options;
}

}  // namespace

/// Vectors that are solved for together at most: shifts that are refined.
constexpr int width = MultishiftSolver::most_refined;

struct FermionOperator::Parts {
  Parts(const FermionParameters& p, const EvolvingLinks& links)
      : version(links.version()), dirac(p.action->make(links.store(p.stout), find_precision("double"))) {
    if (p.action->spins() == 1)
      square = std::make_unique<StaggeredSquare>(*dirac->hops(), p.staggered_mass, width);
    else if (p.reduction != Reduction::none)
      reduced = dirac->reduced(p.reduction, width);
  }
  const LinearOperator& matrix() const {
    return square ? *square : reduced ? static_cast<const LinearOperator&>(*reduced) : dirac->matrix();
  }

  unsigned long long version;
  std::unique_ptr<DiracOperator> dirac;
  std::unique_ptr<LinearOperator> square;
  std::unique_ptr<ReducedOperator> reduced;
};

FermionOperator::FermionOperator(const FermionParameters& parameters) : parameters_(parameters) {}
FermionOperator::~FermionOperator() = default;
FermionOperator::FermionOperator(FermionOperator&&) noexcept = default;

void FermionOperator::follow(const EvolvingLinks& links) {
  if (!parts_ || parts_->version != links.version()) parts_ = std::make_unique<Parts>(parameters_, links);
}

const LinearOperator& FermionOperator::matrix() const { return parts_->matrix(); }
const DiracOperator& FermionOperator::dirac() const { return *parts_->dirac; }

double FermionOperator::log_det(Parity parity) const {
  const HoppingTerm* hops = parts_->dirac->hops();
  return hops == nullptr || hops->clover() == nullptr ? 0 : hops->term().log_det(parity, 0);
}

double FermionOperator::log_det() const {
  const double odd = parameters_.reduction == Reduction::none ? 0 : log_det(Parity::odd);
  return parameters_.reduction == Reduction::symmetric ? log_det(Parity::even) + odd : odd;
}

void FermionOperator::solve_normal(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) const {
  const double begun = now();
  x.fill(0);
  const std::optional<NormalOperator> normal =
      is_squared() ? std::nullopt : std::optional<NormalOperator>(std::in_place, matrix(), 1);
  const LinearOperator& a = normal ? static_cast<const LinearOperator&>(*normal) : matrix();
  KrylovBatch cg(a, a, Method::hermitian_cg, 1);
  const SolverResult result = cg.solve(x, b, options_of(tolerance), {tolerance})[0];
  work.iterations += result.iterations;
  work.seconds += now() - begun;
  require_converged(result, tolerance);
}

void FermionOperator::solve(SpinorField& x, const SpinorField& b, Dagger dagger, double tolerance,
                            SolveWork& work) const {
  SpinorField y = b.like();
  if (dagger == Dagger::yes) {  // (M^+)^-1 = M (M^+ M)^-1
    solve_normal(y, b, tolerance, work);
    matrix().apply(x, y, Dagger::no);
  } else {  // M^-1 = (M^+ M)^-1 M^+
    matrix().apply(y, b, Dagger::yes);
    solve_normal(x, y, tolerance, work);
  }
}

void FermionOperator::solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                    double tolerance, SolveWork& work) const {
  const double begun = now();
  MultishiftSolver solver(matrix(), matrix(), static_cast<int>(shifts.size()),
                          is_squared() ? MultishiftSolver::Form::hermitian : MultishiftSolver::Form::normal);
  const std::vector<double> tolerances(shifts.size(), tolerance);
  const auto results = solver.solve(x, b, shifts, tolerances, options_of(tolerance));
  long long shared = 0;
  for (const ShiftResult& r : results) {
    shared = std::max<long long>(shared, r.shared_iterations);
    work.iterations += r.iterations - r.shared_iterations;
    require_converged(r, tolerance);
  }
  work.iterations += shared;
  work.seconds += now() - begun;
}

}  // namespace quarksmith
