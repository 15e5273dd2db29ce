// GCR with multigrid as preconditioner.
#include "runtime/error.hpp"
#include "solvers/krylov/method.hpp"

namespace quarksmith::methods {

extern constinit const MethodKind gcr;

namespace {

MethodParameters outer(MethodParameters p) {
  p.restart = 5;
  return p;
}

std::unique_ptr<Recurrence> make_outer(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars, int rhs,
                                       const MethodParameters& p) {
  if (p.given == nullptr) throw UsageError("multigrid is no preconditioner of another method; use --solver multigrid");
  return gcr.make(a, inner, scalars, rhs, outer(p));
}

}  // namespace

extern constinit const MethodKind multigrid = {.names = {"multigrid"},
                                               .source = "Brannick et al. 2008; Frommer et al. 2014",
                                               .storage = "12",
                                               .applications = "1 and those of a cycle",
                                               .traffic = "10 and 17 for each four directions",
                                               .use = "light quarks; Dirac spinors",
                                               .fields = [](const MethodParameters& p) { return gcr.fields(outer(p)); },
                                               .make = make_outer,
                                               .together = 4,       // that read coarse matrices once
                                               .cycle_fields = 8};  // the finest level; others need little beside it

}  // namespace quarksmith::methods
