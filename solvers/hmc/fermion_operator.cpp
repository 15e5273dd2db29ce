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

}  // namespace

/// In one precision.
struct FermionOperator::Level {
  Level(const FermionParameters& p, const LinkStore& links, const PrecisionInfo& precision, int rhs)
      : dirac(p.action.make(links, precision)) {
    if (p.reduction != Reduction::none)
      reduced = p.action.is_squared() ? dirac->square(Parity::even, rhs) : dirac->reduced(p.reduction, rhs);
    if (p.twist == 0) return;
    const ReducedOperator* symmetric = p.reduction == Reduction::symmetric ? reduced.get() : nullptr;
    twisted = std::make_unique<TwistedOperator>(stated(), p.twist, links.basis(), rhs, symmetric);
  }
  const DiracMatrix& stated() const { return reduced ? *reduced : dirac->matrix(); }
  const LinearOperator& matrix() const { return twisted ? *twisted : static_cast<const LinearOperator&>(stated()); }

  std::unique_ptr<DiracOperator> dirac;
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
      solvers_(std::make_unique<FermionSolvers>(
          solver.method, parameters.action.is_squared() && parameters.reduction != Reduction::none, solver.look)) {}
FermionOperator::~FermionOperator() = default;
FermionOperator::FermionOperator(FermionOperator&&) noexcept = default;
FermionOperator& FermionOperator::operator=(FermionOperator&&) noexcept = default;

void FermionOperator::follow(const EvolvingLinks& links) {
  if (parts_ && parts_->version == links.version()) return;
  parts_.reset();
  const LinkStore& store = links.store(parameters_.smearing);
  parts_ = std::make_unique<Parts>(
      Parts{links.version(), store, Level(parameters_, store, find_precision("double"), rhs_), {}});
}

const LinearOperator& FermionOperator::matrix() const { return parts_->high.matrix(); }
const DiracOperator& FermionOperator::dirac() const { return *parts_->high.dirac; }

void FermionOperator::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  parts_->high.stated().add_force(force, x, y, weight);
  if (parts_->high.twisted) parts_->high.twisted->add_force(force, x, y, weight);
}

void FermionOperator::add_squared_force(ForceSink& force, const SpinorField& x,
                                        const std::vector<double>& residues) const {
  parts_->high.reduced->add_squared_force(force, x, residues);
}

double FermionOperator::log_det(Parity parity) const { return dirac().log_det(parity); }

double FermionOperator::log_det() const {
  const double odd = parameters_.reduction == Reduction::none ? 0 : log_det(Parity::odd);
  return parameters_.reduction == Reduction::symmetric ? log_det(Parity::even) + odd : odd;
}

/// With the operators of the present links. Iterations store them with as few reals as there are kernels for.
FermionSolvers& FermionOperator::solvers() {
  Parts& p = *parts_;
  if (p.solved) return *solvers_;
  const PrecisionInfo* inner = precisions_of(precision_.empty() ? default_precision : precision_, 2).inner;
  if (inner != &matrix().precision()) {
    try {
      p.low.emplace(parameters_,
                    p.links.with(parameters_.action.default_links(compact_storage(p.links.colours()).name)), *inner,
                    rhs_);
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
