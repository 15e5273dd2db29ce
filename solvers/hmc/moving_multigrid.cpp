#include "solvers/hmc/moving_multigrid.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/solve/fine_system.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {
namespace {

/// A refresh over its applications of M alone (docs/performance.md).
constexpr double overhead = 2;

}  // namespace

/// A cycle on the sites of the operator.
class MovingMultigrid::Cycle final : public Preconditioner {
 public:
  Cycle(MovingMultigrid& owner, bool adjoint) : owner_(&owner), adjoint_(adjoint) {}

  void apply(SpinorField& out, const SpinorField& in, int width) override {
    if (!adjoint_) return owner_->multigrid_->apply(out, in, width);
    const CycleOperators& a = owner_->present_;
    const EvenOddOperator* const symmetric = a.conjugate.symmetric;
    Multigrid& multigrid = owner_->conjugate_ ? *owner_->conjugate_ : *owner_->multigrid_;
    if (!work_ || work_->rhs() < width || &work_->precision() != &in.precision() || work_->subset() != in.subset())
      make_room(in, width);
    SpinorField to = out.columns(0, width), b = work_->columns(0, width);
    owner_->gamma5_->turn(b, in.columns(0, width), Dagger::no);
    if (symmetric == nullptr) {
      multigrid.apply(to, b, width);
    } else {
      SpinorField source = source_->columns(0, width), solution = solution_->columns(0, width);
      source.copy_half(Parity::even, b);
      multigrid.apply(solution, source, width);
      b.copy_half(Parity::even, solution);
      symmetric->multiply_term(to, b);
    }
    owner_->gamma5_->turn(to, to, Dagger::yes);
  }
  int applications() const override { return owner_->multigrid_ ? owner_->multigrid_->applications() : 1; }

 private:
  void make_room(const SpinorField& in, int width) {
    const CycleOperators& a = owner_->present_;
    work_.emplace(a.iterated->field(width));
    if (a.conjugate.symmetric == nullptr) return;
    source_.emplace(
        SpinorField(in.domain_pointer(), in.precision(), Subset::full, width, in.components(), in.slices()));
    solution_.emplace(source_->like());
    source_->fill(0);  // odd sites stay so
  }

  MovingMultigrid* owner_;
  bool adjoint_;
  std::optional<SpinorField> work_, source_, solution_;
};

MovingMultigrid::MovingMultigrid(std::optional<MultigridParameters> parameters, std::function<void()> look)
    : parameters_(std::move(parameters)),
      look_(std::move(look)),
      plain_(std::make_unique<Cycle>(*this, false)),
      adjoint_(std::make_unique<Cycle>(*this, true)) {}
MovingMultigrid::~MovingMultigrid() = default;

Preconditioner& MovingMultigrid::plain() { return *plain_; }
Preconditioner& MovingMultigrid::adjoint() { return *adjoint_; }

void MovingMultigrid::follow(const CycleOperators& present) {
  present_ = present;
  moved_ = true;
}

double gamma5_deviation(const LinearOperator& m, const LinearOperator& conjugate, const BasisInfo& basis) {
  const TwistedOperator gamma5(m, 1, basis, 1);
  SpinorField v = m.field(1), w = v.like(), x = v.like(), y = v.like();
  draw(v, basis, 77);
  gamma5.turn(w, v, Dagger::no);
  conjugate.apply(x, w, Dagger::no);
  gamma5.turn(x, x, Dagger::yes);
  m.apply(y, v, Dagger::yes);
  const Blas blas(v);
  const double size = blas.norm2(y);
  return std::sqrt(blas.residual(x, y) / size);
}

Multigrid::MakeSystem MovingMultigrid::system(const CycleOperator CycleOperators::*of) const {
  return [this, of](const PrecisionInfo& precision, int rhs) -> std::unique_ptr<EvenOddSystem> {
    const DiracOperator& dirac = *(present_.*of).dirac;
    if (&dirac.matrix().precision() != &precision) return nullptr;
    return std::make_unique<FineSystem>(dirac, present_.smoothing, rhs);
  };
}

std::unique_ptr<Multigrid> MovingMultigrid::make(const CycleOperator CycleOperators::*of,
                                                 const MultigridParameters& parameters,
                                                 const NearNullVectors* begin) const {
  return std::make_unique<Multigrid>(system(of), *present_.basis, parameters, present_.iterated->precision(), begin,
                                     look_);
}

void MovingMultigrid::make_conjugate() {
  conjugate_.reset();
  if (!has_two()) return;
  const NearNullVectors begin{multigrid_->vectors()};
  conjugate_ = make(&CycleOperators::conjugate, multigrid_->parameters(), &begin);
}

void MovingMultigrid::set_up() {
  const LinearOperator& m = present_.plain.dirac->matrix();
  if (!(gamma5_deviation(m, present_.conjugate.dirac->matrix(), *present_.basis) <= 1e-4))
    throw UsageError(
        "solver multigrid needs M^+ = gamma_5 M gamma_5, or that with the sign of a parameter changed; use auto or cg");
  const bool own = parameters_ && !KernelRehearsal::under_way();  // a rehearsal is on another lattice
  multigrid_ =
      make(&CycleOperators::plain, own ? *parameters_ : multigrid_for(m.domain()->lattice(), m.slices()), nullptr);
  make_conjugate();
}

bool MovingMultigrid::prepare() {
  if (!std::exchange(moved_, false)) return false;
  gamma5_ = std::make_unique<TwistedOperator>(*present_.iterated, 1, *present_.basis, 1);
  if (!multigrid_) {
    set_up();
    first_rate_ = coarse_rate_ = lost_by_vectors_ = lost_by_coarse_ = 0;
    ++refreshes_;
    return true;
  }
  const auto pays = [&](double lost, Refresh refresh) { return lost > overhead * multigrid_->applications(refresh); };
  const Refresh refresh = pays(lost_by_vectors_, Refresh::vectors) ? Refresh::vectors
                          : pays(lost_by_coarse_, Refresh::coarse) ? Refresh::coarse
                                                                   : Refresh::none;
  multigrid_->follow(system(&CycleOperators::plain), refresh);
  if (conjugate_ && refresh != Refresh::vectors) conjugate_->follow(system(&CycleOperators::conjugate), refresh);
  if (refresh == Refresh::vectors) {
    make_conjugate();
    first_rate_ = lost_by_vectors_ = 0;
    ++refreshes_;
  }
  if (refresh != Refresh::none) coarse_rate_ = lost_by_coarse_ = 0;
  return true;
}

void MovingMultigrid::solved(int iterations, double decades) {
  if (iterations < 1 || !(decades > 0)) return;
  const double rate = decades / iterations, each = multigrid_->applications() + 1;
  if (coarse_rate_ == 0) coarse_rate_ = rate;
  if (first_rate_ == 0) first_rate_ = rate;
  const auto lost = [&](double now, double before) { return each * iterations * std::max(0.0, 1 - now / before); };
  lost_by_coarse_ += lost(rate, coarse_rate_);
  lost_by_vectors_ += lost(coarse_rate_, first_rate_);
}

void MovingMultigrid::failed() { lost_by_vectors_ = INFINITY; }

}  // namespace quarksmith
