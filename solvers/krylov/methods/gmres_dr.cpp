// GMRES that keeps approximate eigenvectors (solvers/krylov/gmres_dr.hpp), then CG on the normal equations.
#include "solvers/krylov/gmres_dr.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/search_space.hpp"

namespace quarksmith::methods {

extern constinit const MethodKind gmres_dr = {
    .names = {"gmres-dr"},
    .source = "Morgan 2002; Morgan and Wilcox 2007",
    .storage = "8; M + 2 K in all",
    .applications = "1",
    .traffic = "",
    .use = "the same, where A^+ A is much worse than A",
    .numbers = {{search_number, keep_number}},
    .check =
        [](const MethodParameters& p) {
          if (p.keep + 1 >= p.search)
            throw UsageError(fmt::format(
                "solver gmres-dr with search = {} and keep = {}: nothing is left to search; use a search of "
                "{} or more, or keep fewer",
                p.search, p.keep, p.keep + 2));
        },
    .fields = field_count<8>,
    .make = make_cg<CgForm::normal>,
    .outer_solver = [](const OuterSolverSetting& s, const MethodParameters& p) -> std::unique_ptr<OuterSolver> {
      return std::make_unique<DeflatedGmres>(s, p.search, p.keep);
    },
    .one_by_one = true,
    .least_bits = 24};

}  // namespace quarksmith::methods
