#include "solvers/hmc/fermion_operator.hpp"

#include <algorithm>
#include <optional>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/actions/even_twist.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {
namespace {

/// Default precision of iterations, if the build has the kernels. Poles that share a Krylov space continue one by one
/// where single precision ends: a batch of them is cheap on GPUs, but on CPUs one space in double is cheaper.
const char* usual_precision(bool shifted, const Device& device) {
  return shifted && !device.asynchronous() ? "double" : "double-single";
}

}  // namespace

/// The operator in one precision.
struct FermionOperator::Level {
  Level(const FermionParameters& p, const LinkStore& links, const PrecisionInfo& precision, int rhs)
      : dirac(p.action.make(links, precision)) {
    if (p.even_odd_form != EvenOddForm::none)
      reduced =
          p.action.is_squared() ? dirac->square(Parity::even, rhs) : dirac->even_odd_operator(p.even_odd_form, rhs);
    if (p.twist == 0) return;
    const EvenOddOperator* symmetric = p.even_odd_form == EvenOddForm::symmetric ? reduced.get() : nullptr;
    twisted = std::make_unique<TwistedOperator>(stated(), p.twist, links.basis(), rhs, symmetric);
  }
  const DiracMatrix& stated() const { return reduced ? *reduced : dirac->matrix(); }
  const LinearOperator& matrix() const { return twisted ? *twisted : static_cast<const LinearOperator&>(stated()); }

  std::unique_ptr<DiracOperator> dirac;
  std::unique_ptr<EvenOddOperator> reduced;
  std::unique_ptr<TwistedOperator> twisted;
};

/// On the present links.
struct FermionOperator::Parts {
  unsigned long long version;
  LinkStore links;
  Level high;
  std::optional<Level> low;                            ///< of mixed precision
  std::unique_ptr<DiracOperator> single = nullptr;     ///< of cycles of multigrid, if `low` is not
  std::unique_ptr<DiracOperator> conjugate = nullptr;  ///< of these for M^+, in single, where that is another action
  std::optional<Level> conjugate_level = {};           ///< the same in the precision of iterations
  bool solved = false;                                 ///< the solvers have these operators
};

FermionOperator::FermionOperator(const FermionParameters& parameters, const FermionSolver& solver, bool shifted)
    : parameters_(parameters),
      precision_(solver.precision),
      rhs_(shifted ? MultishiftSolver::most_refined : 1),
      solvers_(std::make_unique<FermionSolvers>(
          solver, parameters.action.is_squared() && parameters.even_odd_form != EvenOddForm::none)) {}
FermionOperator::~FermionOperator() = default;
FermionOperator::FermionOperator(FermionOperator&&) noexcept = default;
FermionOperator& FermionOperator::operator=(FermionOperator&&) noexcept = default;

void FermionOperator::follow(const EvolvingLinks& links) {
  if (parts_ && parts_->version == links.version()) return;
  parts_.reset();
  const LinkStore& store = links.store(parameters_.smearing);
  // Links are in SU(N) to rounding; the third row costs less than reading it.
  const LinkStore few = compact(store);
  const bool built = std::ranges::any_of(links.domain()->device().kernels(), [&](const Kernel& k) {
    return k.operation == parameters_.action.info().hopping && k.precision == "double" && k.links == few.storage();
  });
  parts_ = std::make_unique<Parts>(
      Parts{links.version(), store, Level(parameters_, built ? few : store, find_precision("double"), rhs_), {}});
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
  const double odd = parameters_.even_odd_form == EvenOddForm::none ? 0 : log_det(Parity::odd);
  return parameters_.even_odd_form == EvenOddForm::symmetric ? log_det(Parity::even) + odd : odd;
}

/// The action itself, or with the sign of one parameter changed, as that of a twisted mass.
const Action& FermionOperator::conjugate_action(const DiracOperator& single) {
  if (conjugate_) return *conjugate_;
  const Action& action = parameters_.action;
  const LinkStore links = compact(parts_->links);
  const auto serves = [&](const DiracOperator& other) {
    return gamma5_deviation(single.matrix(), other.matrix(), links.basis()) <= 1e-4;
  };
  if (!serves(single))
    for (const ActionParameter& p : action.info().parameters) {
      if (p.several || action.values()[p.name] == 0) continue;
      try {
        const Action other(action.values().with(p.name, -action.values()[p.name]), action.setting());
        if (!serves(*other.make(links, find_precision("single")))) continue;
        conjugate_ = std::make_unique<Action>(other);
        break;
      } catch (const UsageError&) {  // out of its range
      }
    }
  if (!conjugate_) conjugate_ = std::make_unique<Action>(action);
  return *conjugate_;
}

/// The operators for cycles of multigrid, if solves use them.
CycleOperators FermionOperator::cycles() {
  if (!solvers_->has_cycles()) return {};
  if (parameters_.twist != 0)
    throw UsageError("solver multigrid serves M with M^+ = gamma_5 M gamma_5, not with twist; use auto or cg");
  Parts& p = *parts_;
  const Level& iterated = p.low ? *p.low : p.high;
  const PrecisionInfo &single = find_precision("single"), &inner = iterated.matrix().precision();
  const LinkStore compact_links = compact(p.links);
  if (&inner != &single) p.single = parameters_.action.make(compact_links, single);
  const EvenOddForm form = parameters_.even_odd_form;
  const auto of = [&](const DiracOperator& dirac, const Level& level) {
    return CycleOperator{&dirac, form == EvenOddForm::symmetric ? level.reduced.get() : nullptr};
  };
  CycleOperators all;
  all.plain = all.conjugate = of(p.single ? *p.single : *iterated.dirac, iterated);
  all.smoothing = form;
  if (form == EvenOddForm::none && parameters_.action.has_even_odd()) all.smoothing = EvenOddForm::symmetric;
  all.iterated = &iterated.matrix();
  all.basis = &p.links.basis();
  const Action& conjugate = conjugate_action(*all.plain.dirac);
  if (conjugate.values().text() == parameters_.action.values().text()) return all;
  FermionParameters other = parameters_;
  other.action = conjugate;
  p.conjugate_level.emplace(other, compact_links, inner, rhs_);
  if (&inner != &single) p.conjugate = conjugate.make(compact_links, single);
  all.conjugate = of(p.conjugate ? *p.conjugate : *p.conjugate_level->dirac, *p.conjugate_level);
  return all;
}

/// Links with as few reals as there are kernels for and as hold them to rounding.
LinkStore FermionOperator::compact(const LinkStore& links) const {
  return links.with(parameters_.action.default_links(compact_storage(links.colours()).name));
}

/// Solvers with the operators of the present links, stored for iterations with as few reals as there are kernels for.
FermionSolvers& FermionOperator::solvers() {
  Parts& p = *parts_;
  if (p.solved) return *solvers_;
  const std::string asked = precision_.empty() ? usual_precision(rhs_ > 1, matrix().domain()->device()) : precision_;
  const PrecisionInfo* inner = precisions_of(asked, 2).inner;
  if (inner != &matrix().precision()) {
    try {
      p.low.emplace(parameters_, compact(p.links), *inner, rhs_);
    } catch (const MissingKernel&) {
      if (!precision_.empty()) throw;
      precision_ = "double";
    }
  }
  solvers_->follow(matrix(), p.low ? p.low->matrix() : matrix(), cycles());
  p.solved = true;
  return *solvers_;
}

template <class Solve>
void FermionOperator::timed(SolveWork& work, const Solve& solve) {
  matrix().domain()->device().synchronize();  // what was begun before is not theirs
  const double begun = now();
  solve(solvers());
  work.seconds += now() - begun;
}

void FermionOperator::solve_normal(SpinorField& x, SpinorField& y, const SpinorField& b, double tolerance,
                                   SolveWork& work) {
  timed(work, [&](FermionSolvers& s) { s.solve_normal(x, y, b, tolerance, work); });
}

void FermionOperator::solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work) {
  timed(work, [&](FermionSolvers& s) { s.solve_adjoint(x, b, tolerance, work); });
}

void FermionOperator::solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                    const std::vector<double>& tolerances, SolveWork& work) {
  timed(work, [&](FermionSolvers& s) { s.solve_shifted(x, b, shifts, tolerances, work); });
}

std::optional<std::pair<double, double>> FermionOperator::ritz_values() const { return solvers_->ritz_values(); }

}  // namespace quarksmith
