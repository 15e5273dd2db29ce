// Multigrid as a solver sees it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "solvers/solve/fine_system.hpp"
#include "solvers/solve/solver_parts.hpp"

namespace quarksmith {
/// Cycles work in single, whatever iterations do.
void Solver::Parts::make_multigrid(int rhs) {
  if (!multigrid_) {
    const DiracOperator& operators = dirac(find_precision("single"));
    const MultigridParameters chosen =
        settings.multigrid.value_or(multigrid_for(domain->lattice(), operators.matrix().slices()));
    if (settings.tell) settings.tell(text_of(chosen, domain->lattice()));
    const auto look = [this] {
      if (settings.options.observer) settings.options.observer(0, 1);
    };
    multigrid_ = std::make_unique<Multigrid>(
        [this](const PrecisionInfo& p, int n) { return std::make_unique<FineSystem>(dirac(p), settings.reduction, n); },
        links.basis(), chosen, *precision.inner, settings.near_null.get(), look);
    if (settings.tell)
      settings.tell(fmt::format(
          "multigrid: set up in {:.3g} s with {} round{} of adaptation; a step reduces the residual by {:.3f}",
          multigrid_->setup_seconds(), multigrid_->rounds(), multigrid_->rounds() == 1 ? "" : "s",
          fmt::join(multigrid_->factors(), ", ")));
    if (settings.tell && !changes_parity(multigrid_->stencil()))
      settings.tell(
          fmt::format("multigrid: blocks are coupled to {} neighbours, some across corners: coarse levels "
                      "have no even-odd form",
                      multigrid_->stencil().size()));
  }
  multigrid_->reserve(rhs);
  settings.parameters.given = multigrid_.get();
}

}  // namespace quarksmith
