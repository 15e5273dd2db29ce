#include "solvers/hmc/fermion_operator.hpp"

#include <optional>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/hmc/even_twist.hpp"
#include "solvers/krylov/solve.hpp"

namespace quarksmith {
namespace {

/// Of iterations, where a run does not say it and the build has the kernels.
constexpr const char* default_precision = "double-single";

/// A = 4 m^2 - D_eo D_oe on even sites.
class StaggeredSquare final : public LinearOperator {
 public:
  /// \param hopping outlives this.
  StaggeredSquare(const HoppingTerm& hopping, double mass, int rhs)
      : hopping_(&hopping), square_(4 * mass * mass), odd_(hopping.field(Subset::odd, rhs)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger) const override {
    SpinorField odd = odd_.columns(0, in.rhs());
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

}  // namespace

/// In one precision.
struct FermionOperator::Level {
  Level(const FermionParameters& p, const LinkStore& links, const PrecisionInfo& precision, int rhs)
      : dirac(p.action->make(links, precision)) {
    if (p.action->spins() == 1)
      square = std::make_unique<StaggeredSquare>(*dirac->hops(), p.staggered_mass, rhs);
    else if (p.reduction != Reduction::none)
      reduced = dirac->reduced(p.reduction, rhs);
    if (p.twist == 0) return;
    const HoppingTerm* term = p.reduction == Reduction::symmetric ? dirac->hops() : nullptr;
    twisted = std::make_unique<TwistedOperator>(stated(), p.twist, links.basis(), rhs, term);
  }
  const LinearOperator& stated() const {
    return square ? *square : reduced ? static_cast<const LinearOperator&>(*reduced) : dirac->matrix();
  }
  const LinearOperator& matrix() const { return twisted ? *twisted : stated(); }

  std::unique_ptr<DiracOperator> dirac;
  std::unique_ptr<LinearOperator> square;
  std::unique_ptr<ReducedOperator> reduced;
  std::unique_ptr<TwistedOperator> twisted;
};

/// On the present links.
struct FermionOperator::Parts {
  unsigned long long version;
  LinkStore links;
  Level high;
  std::optional<Level> low;  ///< of mixed precision
  bool solved = false;       ///< the solvers have these operators
};

FermionOperator::FermionOperator(const FermionParameters& parameters, const FermionSolver& solver, bool shifted)
    : parameters_(parameters),
      precision_(solver.precision),
      rhs_(shifted ? MultishiftSolver::most_refined : 1),
      solvers_(std::make_unique<FermionSolvers>(solver.method, parameters.action->spins() == 1)) {}
FermionOperator::~FermionOperator() = default;
FermionOperator::FermionOperator(FermionOperator&&) noexcept = default;
FermionOperator& FermionOperator::operator=(FermionOperator&&) noexcept = default;

void FermionOperator::follow(const EvolvingLinks& links) {
  if (parts_ && parts_->version == links.version()) return;
  parts_.reset();
  const LinkStore& store = links.store(parameters_.stout);
  parts_ = std::make_unique<Parts>(
      Parts{links.version(), store, Level(parameters_, store, find_precision("double"), rhs_), {}});
}

const LinearOperator& FermionOperator::matrix() const { return parts_->high.matrix(); }
const TwistedOperator* FermionOperator::twisted() const { return parts_->high.twisted.get(); }
const DiracOperator& FermionOperator::dirac() const { return *parts_->high.dirac; }

double FermionOperator::log_det(Parity parity) const {
  const HoppingTerm* hops = dirac().hops();
  return hops == nullptr || hops->clover() == nullptr ? 0 : hops->term().log_det(parity, 0);
}

double FermionOperator::log_det() const {
  const double odd = parameters_.reduction == Reduction::none ? 0 : log_det(Parity::odd);
  return parameters_.reduction == Reduction::symmetric ? log_det(Parity::even) + odd : odd;
}

/// With the operators of the present links. Iterations store them with as few reals as there are kernels for.
FermionSolvers& FermionOperator::solvers() {
  Parts& p = *parts_;
  if (p.solved) return *solvers_;
  const PrecisionInfo* inner = precisions_of(precision_.empty() ? default_precision : precision_, 2).inner;
  const bool long_links = is_squared() && parameters_.action->reach() > 1;
  if (inner != &matrix().precision()) {
    try {
      p.low.emplace(parameters_, p.links.with(long_links ? "r13" : "r12"), *inner, rhs_);
    } catch (const MissingKernel&) {
      if (!precision_.empty()) throw;
      precision_ = "double";
    }
  }
  solvers_->follow(matrix(), p.low ? p.low->matrix() : matrix());
  p.solved = true;
  return *solvers_;
}

template <class Solve>
void FermionOperator::timed(SolveWork& work, const Solve& solve) {
  const double begun = now();
  solve(solvers());
  work.seconds += now() - begun;
}

void FermionOperator::solve_normal(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  timed(work, [&](FermionSolvers& s) { s.solve_normal(x, b, tolerance, work); });
}

void FermionOperator::solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  timed(work, [&](FermionSolvers& s) {
    x.fill(0);
    s.solve_adjoint(x, b, tolerance, work);
  });
}

void FermionOperator::solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                    double tolerance, SolveWork& work) {
  timed(work, [&](FermionSolvers& s) { s.solve_shifted(x, b, shifts, tolerance, work); });
}

}  // namespace quarksmith
