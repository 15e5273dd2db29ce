// Conjugate gradients in one Krylov space: the rounds of the solver (solvers/krylov/block_cg.hpp), then each by itself.
#include "solvers/krylov/block_cg.hpp"

#include "solvers/krylov/cg.hpp"

namespace quarksmith {
namespace {

/// Beside those of the CG that follows; its outer fields, of double precision, count as four of half.
int fields_of_block(const MethodParameters&) {
  const auto [inner, outer] = BlockConjugateGradients::fields();
  return 5 + inner + 4 * outer;
}

}  // namespace

namespace methods {
extern constinit const MethodKind block_cg = {
    .names = {"block-cg"},
    .source = "O'Leary 1980; Dubrulle 2001 (below)",
    .storage = "11, and 2 of residuals",
    .applications = "2",
    .traffic = "",
    .use = "several sources at light masses",
    .fields = fields_of_block,
    .make = make_cg<CgForm::normal>,
    .outer_solver = [](const OuterSolverSetting& s, const MethodParameters&) -> std::unique_ptr<OuterSolver> {
      return std::make_unique<BlockConjugateGradients>(s);
    }};
}  // namespace methods

}  // namespace quarksmith
