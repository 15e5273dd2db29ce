// Multigrid as a solver sees it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "solvers/krylov/solver_parts.hpp"

namespace quarksmith {
namespace {

/// An action as multigrid sees it: on all sites, and on even ones where it has such a form.
class FineSystem final : public EvenOddSystem {
 public:
  FineSystem(const DiracOperator& dirac, Reduction reduction, int rhs) : system_(dirac, reduction, rhs) {}
  const LinearOperator& full() const override { return system_.matrix(); }
  const LinearOperator& reduced() const override { return system_.a(); }
  void prepare(SpinorField& reduced, const SpinorField& b) const override {
    system_.even_odd() ? system_.even_odd()->prepare(reduced, b) : reduced.copy_from(b);
  }
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override {
    system_.even_odd() ? system_.even_odd()->reconstruct(x, reduced, b) : x.copy_from(reduced);
  }

 private:
  SystemOperator system_;
};

}  // namespace

/// Cycles work in single, whatever iterations do.
void Solver::Parts::make_multigrid(int rhs) {
  if (!multigrid_) {
    const DiracOperator& operators = dirac(find_precision("single"));
    const MultigridParameters chosen =
        settings.multigrid.value_or(multigrid_for(domain->lattice(), operators.matrix().slices()));
    if (settings.tell) settings.tell(text_of(chosen, domain->lattice()));
    multigrid_ = std::make_unique<Multigrid>(
        [this](const PrecisionInfo& p, int n) { return std::make_unique<FineSystem>(dirac(p), cycle_form_, n); },
        links.basis(), chosen, *precision.inner);
    if (settings.tell)
      settings.tell(fmt::format("multigrid: set up in {:.3g} s; a step reduces the residual by {:.3f}",
                                multigrid_->setup_seconds(), fmt::join(multigrid_->factors(), ", ")));
  }
  multigrid_->reserve(rhs);
  settings.parameters.given = multigrid_.get();
}

namespace {

bool is_cg(Method method) { return method == Method::cg || method == Method::hermitian_cg; }

}  // namespace

}  // namespace quarksmith
