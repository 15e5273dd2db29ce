/* Operators and solvers of every kind of action by its name, on several right-hand sides; first guesses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 8};
enum { rhs = 3, spinor = 12 * 512, colour_vector = 3 * 512 };

typedef struct {
  const char* how;
  int size;   /* numbers of a quark field */
  int slices; /* of vectors of M */
} action;
static const action actions[] = {{"action=clover kappa=0.12 csw=1.2", spinor, 1},
                                 {"action=clover kappa=0.12 csw=1.2 precision=double-single", spinor, 1},
                                 {"action=twisted-mass mass=0.1 mu=0.2", spinor, 1},
                                 {"action=twisted-mass mass=0.1 mu=0.2 epsilon=0.1 flavours=0,1", spinor, 2},
                                 {"action=staggered mass=0.1", colour_vector, 1},
                                 {"action=hisq mass=0.1", colour_vector, 1},
                                 {"action=moebius mass=0.1 m5=1.4 b5=1.5 c5=0.5 ls=4", spinor, 4},
                                 {"action=domain-wall mass=0.1 m5=1.4 ls=4", spinor, 4},
                                 {"action=d234 mass=0.3", spinor, 1},
                                 /* that of docs/howto-action.md */
                                 {"action=naive mass=0.2 mu=0.1", spinor, 1}};

/* The options of an operator: those of a solver without those of the solve. */
static const char* of_operator(const char* how) {
  char* text = (char*)options("%s", how);
  char* precision = strstr(text, " precision=double-single");
  if (precision != NULL) *precision = 0;
  return text;
}

/* |b - M x| / |b| by the operator of the action. */
static void check_residuals(quarksmith_gauge* gauge, const action* a, const number* const* x, const number* const* b) {
  quarksmith_operator* op = NULL;
  quarksmith_spinor_format format;
  number* mx[rhs];
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_operator_create(gauge, of_operator(a->how), &op), a->how);
  for (int r = 0; r < rhs; ++r) mx[r] = malloc(sizeof(number) * spinor);
  check_ok(quarksmith_matrix_host(op, 0, rhs, (void* const*)mx, (const void* const*)x, &format), "M x");
  for (int r = 0; r < rhs; ++r) {
    check_below(distance(mx[r], b[r], a->size), 1.1e-10, a->how);
    free(mx[r]);
  }
  quarksmith_free(op);
}

/* The first column that the command finds for the same action, whose source is a point. */
static void check_column(quarksmith_context* context, quarksmith_gauge* gauge, const action* a, const number* x) {
  quarksmith_result* result = NULL;
  quarksmith_field* columns = NULL;
  quarksmith_spinor_format format;
  number* column = malloc(sizeof(number) * spinor);
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_run(context, "propagator", options("gauge=links %s", a->how), gauge, &result), a->how);
  check_ok(quarksmith_result_field(result, &columns), "columns");
  check_ok(quarksmith_field_get(columns, 0, column, &format), "column");
  check_below(distance(x, column, a->size), 1e-8, a->how);
  quarksmith_free(columns), quarksmith_free(result);
  free(column);
}

static void check_action(quarksmith_context* context, quarksmith_gauge* gauge, const lattice* l, const action* a) {
  quarksmith_solver* solver = NULL;
  quarksmith_spinor_format format;
  quarksmith_solve_report reports[rhs];
  number *b[rhs], *x[rhs];
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_solve_report_init(reports), "report");
  for (int r = 0; r < rhs; ++r) b[r] = random_spinor(l, 90 + (unsigned)r), x[r] = random_spinor(l, 1);
  memset(b[0], 0, sizeof(number) * spinor);
  b[0][0] = 1; /* the point at the origin */
  check_ok(quarksmith_solver_create(gauge, a->how, &solver), a->how);
  check_ok(quarksmith_solve(solver, rhs, (void* const*)x, (const void* const*)b, &format, reports), a->how);
  for (int r = 0; r < rhs; ++r)
    check(reports[r].converged == 1 && reports[r].residual <= 1e-10 && reports[r].iterations > 0, "%s: report %d",
          a->how, r);
  if (a->slices == 1) check_residuals(gauge, a, (const number* const*)x, (const number* const*)b);
  check_column(context, gauge, a, x[0]);
  quarksmith_free(solver);

  /* From a solution there is nothing left to do. */
  if (a->slices == 1) {
    const char* how = options("%s guess tol=1e-9", a->how);
    const int before = reports[1].iterations;
    check_ok(quarksmith_solver_create(gauge, how, &solver), how);
    check_ok(quarksmith_solve(solver, 1, (void* const*)(x + 1), (const void* const*)(b + 1), &format, reports), how);
    check(reports[0].iterations < before / 4 + 2, "%s: %d iterations, %d without a guess", a->how,
          reports[0].iterations, before);
    quarksmith_free(solver);
  }
  for (int r = 0; r < rhs; ++r) free(b[r]), free(x[r]);
}

/* Fields on the device: of staggered quarks, and of a fifth dimension, whose slices are set one by one. */
static void check_fields(quarksmith_gauge* gauge, const lattice* l, const action* a) {
  quarksmith_operator* op = NULL;
  quarksmith_field *in = NULL, *out = NULL;
  quarksmith_spinor_format format;
  number *psi[4], *by_arrays[4], *back = random_spinor(l, 1);
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_operator_create(gauge, of_operator(a->how), &op), a->how);
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, 1, &in), a->how);
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, 1, &out), a->how);
  for (int s = 0; s < a->slices; ++s) {
    psi[s] = random_spinor(l, 40 + (unsigned)s), by_arrays[s] = random_spinor(l, 1);
    check_ok(quarksmith_field_set(in, s, psi[s], &format), a->how);
  }
  check_ok(quarksmith_matrix(op, 1, out, in), a->how);
  check_ok(quarksmith_matrix_host(op, 1, 1, (void* const*)by_arrays, (const void* const*)psi, &format), a->how);
  for (int s = 0; s < a->slices; ++s) {
    check_ok(quarksmith_field_get(out, s, back, &format), a->how);
    check(memcmp(back, by_arrays[s], sizeof(number) * (size_t)a->size) == 0, "%s: fields as arrays, slice %d", a->how,
          s);
    free(psi[s]), free(by_arrays[s]);
  }
  refused(quarksmith_field_set(in, a->slices, back, &format), QUARKSMITH_BAD_ARGUMENT, "of a field that has",
          "count from 0");
  free(back);
  quarksmith_free(in), quarksmith_free(out), quarksmith_free(op);
}

/* Fields of the caller are what an action takes by their names, and no other. */
static void check_given_fields(quarksmith_gauge* gauge, const lattice* l) {
  const double one[2] = {1, 0};
  quarksmith_operator* op = NULL;
  check_ok(quarksmith_gauge_field(gauge, "mine", 36 * (size_t)l->sites, (const double*)l->links), "field");
  check_ok(quarksmith_gauge_field(gauge, "mine", 1, one), "another of its name");
  refused(quarksmith_operator_create(gauge, "action=staggered mass=0.1 field=fat=mine field=long=mine", &op),
          QUARKSMITH_BAD_ARGUMENT, "field fat", "no field besides the links");
  refused(quarksmith_gauge_field(gauge, NULL, 1, one), QUARKSMITH_BAD_ARGUMENT, "name", "pass its address");
  refused(quarksmith_gauge_field(gauge, "mine", 1, NULL), QUARKSMITH_BAD_ARGUMENT, "numbers", "pass its address");
}

void test_actions(const char* device) {
  lattice l = make_lattice(extent, 0.3, 31);
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  quarksmith_gauge* gauge = load_gauge(context, &l);
  for (size_t n = 0; n < sizeof actions / sizeof *actions; ++n) {
    check_action(context, gauge, &l, &actions[n]);
    check_fields(gauge, &l, &actions[n]);
  }
  check_given_fields(gauge, &l);
  quarksmith_free(gauge), quarksmith_free(context);
  free_lattice(&l);
}
