// Conjugate gradients that find eigenvectors (solvers/krylov/eigcg.hpp), then plain ones.
#include "solvers/krylov/eigcg.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/search_space.hpp"

namespace quarksmith::methods {

extern constinit const MethodKind eigcg = {
    .names = {"eigcg"},
    .source = "Stathopoulos and Orginos 2010",
    .storage = "5; M + 2 K in all, and K a source",
    .applications = "2",
    .traffic = "",
    .use = "several sources, one after another (below)",
    .numbers = {{search_number, keep_number}},
    .check =
        [](const MethodParameters& p) {
          if (2 * p.keep >= p.search)
            throw UsageError(fmt::format(
                "solver eigcg with search = {} and keep = {}: a restart takes twice as many as are kept; use a "
                "search of {} or more, or keep fewer",
                p.search, p.keep, 2 * p.keep + 1));
        },
    .fields = field_count<5>,
    .make = make_cg<CgForm::normal>,
    .outer_solver = [](const OuterSolverSetting& s, const MethodParameters& p) -> std::unique_ptr<OuterSolver> {
      return std::make_unique<EigenConjugateGradients>(s, p.search, p.keep);
    },
    .one_by_one = true,
    .least_bits = 24};

}  // namespace quarksmith::methods
