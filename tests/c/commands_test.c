/* Commands in this process: eigenvectors and what they deflate, multigrid, measurements, links that are left. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 8};
static const char* const wilson = "action=wilson mass=0.05";

typedef struct {
  lattice l;
  quarksmith_context* context;
  quarksmith_gauge* gauge;
  quarksmith_spinor_format format;
} set;

/* Runs a command on the links; its JSON. */
static quarksmith_result* run(set* s, const char* command, const char* how, const char** json) {
  quarksmith_result* result = NULL;
  check_ok(quarksmith_run(s->context, command, how, s->gauge, &result), command);
  *json = "";
  check_ok(quarksmith_result_text(result, QUARKSMITH_JSON, json), "JSON");
  return result;
}

/* Number `n` of the list after a key. */
static double listed(const char* json, const char* key, int n) {
  const char* at = strstr(json, key);
  if (at == NULL || (at = strchr(at, '[')) == NULL) return NAN;
  while (n-- > 0)
    if ((at = strchr(at + 1, ',')) == NULL) return NAN;
  return strtod(at + 1, NULL);
}

/* A solve of one random right-hand side: its iterations; the residual by plain C. */
static int iterations(set* s, const char* how) {
  quarksmith_solver* solver = NULL;
  quarksmith_solve_report report;
  number *b = random_spinor(&s->l, 5), *x = random_spinor(&s->l, 6), *mx = random_spinor(&s->l, 6);
  quarksmith_solve_report_init(&report);
  report.iterations = 0;
  check_ok(quarksmith_solver_create(s->gauge, how, &solver), how);
  check_ok(quarksmith_solve(solver, 1, (void* const[]){x}, (const void* const[]){b}, &s->format, &report), how);
  matrix(&s->l, degrand_rossi, 0, mx, x);
  check_below(distance(mx, b, 12 * s->l.sites), 1.05e-10, how);
  quarksmith_free(solver);
  free(b), free(x), free(mx);
  return report.iterations;
}

static void test_eigenvectors(set* s) {
  enum { count = 8 };
  const char* json;
  quarksmith_operator* op = NULL;
  quarksmith_field *v = NULL, *mv = NULL, *av = NULL;
  quarksmith_solver* solver = NULL;
  double norm2[count], dot[2 * count];
  quarksmith_result* result = run(
      s, "eigen", options("gauge=links %s count=%d even-odd=none out=c_test_eigen.h5 overwrite", wilson, count), &json);
  check_ok(quarksmith_result_field(result, &v), "vectors");
  check_ok(quarksmith_operator_create(s->gauge, wilson, &op), "operator");
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, count, &mv), "M v");
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, count, &av), "M^+ M v");
  check_ok(quarksmith_matrix(op, 0, mv, v), "M v");
  check_ok(quarksmith_matrix(op, 1, av, mv), "M^+ M v");
  check_ok(quarksmith_norm2(v, norm2), "norms");
  check_ok(quarksmith_dot(v, av, dot), "v^+ M^+ M v");
  for (int n = 0; n < count; ++n) {
    check_below(fabs(norm2[n] - 1), 1e-10, "|v|");
    check_below(fabs(dot[2 * n] / listed(json, "\"eigenvalues\"", n) - 1), 1e-8, "v^+ M^+ M v");
  }
  quarksmith_free(v), quarksmith_free(mv), quarksmith_free(av), quarksmith_free(op), quarksmith_free(result);

  const int plain = iterations(s, options("%s solver=cg even-odd=none", wilson)),
            saved = iterations(s, options("%s solver=cg even-odd=none deflate=c_test_eigen.h5", wilson)),
            made = iterations(s, options("%s solver=cg even-odd=none deflate=%d", wilson, count));
  check(saved < plain && made < plain, "iterations: %d, deflated %d and %d", plain, saved, made);
  refused(quarksmith_solver_create(
              s->gauge, "action=twisted-mass mass=0.05 mu=0.1 even-odd=none deflate=c_test_eigen.h5", &solver),
          QUARKSMITH_BAD_ARGUMENT, "eigenvectors of another operator", "make those of this one");
  remove("c_test_eigen.h5");
}

static void test_multigrid(set* s) {
  const char* how = options("%s solver=multigrid mg-save=c_test_null.h5", wilson);
  quarksmith_solver* solver = NULL;
  remove("c_test_null.h5");
  const int made = iterations(s, how);
  refused(quarksmith_solver_create(s->gauge, how, &solver), QUARKSMITH_BAD_ARGUMENT, "c_test_null.h5", "overwrite");
  const int loaded = iterations(s, options("%s solver=multigrid mg-load=c_test_null.h5", wilson));
  check(loaded <= made + 2, "%d iterations with near-null vectors of a file, %d with new ones", loaded, made);
  refused(quarksmith_solver_create(s->gauge, "mass=0.5 solver=multigrid mg-load=c_test_null.h5", &solver),
          QUARKSMITH_BAD_ARGUMENT, "near-null vectors of another operator", "mg_refresh");
  FILE* file = fopen("c_test_mg.toml", "w");
  fputs("levels = 2\nblocs = 3\n", file);
  fclose(file);
  refused(quarksmith_solver_create(s->gauge, "mass=0.5 solver=multigrid mg=c_test_mg.toml", &solver),
          QUARKSMITH_BAD_ARGUMENT, "c_test_mg.toml", "");
  remove("c_test_null.h5"), remove("c_test_mg.toml");
}

static void test_measurements(set* s) {
  static const char* const plan =
      "[configurations]\nfiles = [\"links\"]\n[[source]]\nname = \"p\"\nat = [[0, 0, 0, 0]]\n"
      "[[quark]]\nname = \"q\"\naction = \"wilson\"\nmass = 0.2\n"
      "[[propagator]]\nname = \"S\"\nquark = \"q\"\nsource = \"p\"\n"
      "[[correlator]]\nname = \"pion\"\nkind = \"meson\"\nquarks = [\"S\", \"S\"]\ngammas = [\"g5\"]\n";
  const char *json, *printed, *measured;
  quarksmith_field* columns = NULL;
  quarksmith_result* none = NULL;
  double norm2[12], sum = 0, pion = 0;
  FILE* file = fopen("c_test_measure.toml", "w");
  fputs(plan, file);
  fclose(file);
  quarksmith_result* result = run(s, "propagator", "gauge=links action=wilson mass=0.2", &json);
  check_ok(quarksmith_result_field(result, &columns), "columns");
  check_ok(quarksmith_norm2(columns, norm2), "norms");
  for (int n = 0; n < 12; ++n) sum += norm2[n];
  for (int t = 0; t < extent[3]; ++t) pion += listed(json, "\"pion\"", t);
  check_below(fabs(pion / sum - 1), 1e-12, "the pion is the sum of |S|^2");
  quarksmith_result* results = run(s, "measure", "run=c_test_measure.toml out=c_test_measure.h5 overwrite", &measured);
  check(strstr(measured, "\"pion\"") != NULL, "measurements: %.300s", measured);
  check_ok(quarksmith_result_text(results, QUARKSMITH_PRINTED, &printed), "printed");
  refused(quarksmith_result_gauge(results, &s->gauge), QUARKSMITH_BAD_ARGUMENT, "left no links", "heatbath");
  refused(quarksmith_result_field(results, &columns), QUARKSMITH_BAD_ARGUMENT, "left no spinors", "eigen");
  refused(quarksmith_result_text(results, 3, &printed), QUARKSMITH_BAD_ARGUMENT, "text 3", "QUARKSMITH_LOG");
  file = fopen("c_test_measure.toml", "a");
  fputs("[[corelator]]\nname = \"x\"\n", file);
  fclose(file);
  refused(quarksmith_run(s->context, "measure", "run=c_test_measure.toml dry-run", s->gauge, &none),
          QUARKSMITH_BAD_ARGUMENT, "c_test_measure.toml:", "did you mean correlator?");
  check(none == NULL, "results are set on success only");
  quarksmith_free(columns), quarksmith_free(result), quarksmith_free(results);
  remove("c_test_measure.toml"), remove("c_test_measure.h5");
}

static void test_links(set* s) {
  const char* json;
  quarksmith_gauge* smeared = NULL;
  double before[3], after[3];
  quarksmith_result* result = run(s, "smear", "kind=stout in=links rho=0.1 steps=2", &json);
  check_ok(quarksmith_result_gauge(result, &smeared), "smeared links");
  check_ok(quarksmith_gauge_plaquette(s->gauge, before), "plaquette");
  check_ok(quarksmith_gauge_plaquette(smeared, after), "plaquette");
  check(after[0] > before[0] && after[0] < 1, "smeared links are smoother: %g, %g", before[0], after[0]);
  quarksmith_free(result), quarksmith_free(smeared);
  result = run(s, "heatbath", "lattice=4,4,4,4 beta=6 sweeps=1", &json);
  refused(quarksmith_result_gauge(result, &smeared), QUARKSMITH_WRONG_LATTICE, "4x4x4x4", "open one of that lattice");
  quarksmith_free(result);
}

static void test_mistakes(set* s) {
  static const struct {
    const char *command, *how;
    quarksmith_status status;
    const char *operand, *remedy;
  } all[] = {{"eigne", NULL, QUARKSMITH_UNKNOWN_NAME, "'eigne'", "did you mean eigen?"},
             {"man", NULL, QUARKSMITH_UNKNOWN_NAME, "'man'", "use"},
             {"eigen", "gauge=links mass=0.1 cuont=3", QUARKSMITH_UNKNOWN_NAME, "'cuont'", "did you mean count?"},
             {"eigen", "mass=0.1 count=3", QUARKSMITH_BAD_ARGUMENT, "gauge is required", "quarksmith_help(\"eigen\""},
             {"eigen", "gauge=links count=3", QUARKSMITH_BAD_ARGUMENT, "mass", ""},
             {"eigen", "gauge=none.ildg mass=0.1", QUARKSMITH_FAILED, "none.ildg", ""},
             {"flow", "gauge=links step=-1", QUARKSMITH_BAD_ARGUMENT, "step", ""},
             {"measure", "run=none.toml out=x.h5", QUARKSMITH_FAILED, "none.toml", "name a TOML file"},
             {"multigrid", "what=tune gauge=links mass=0.1", QUARKSMITH_BAD_ARGUMENT, "out", ""},
             {"propagator", "gauge=links mass=0.1 max-iterations=2", QUARKSMITH_FAILED, "not converged", "larger"},
             {"heatbath", "lattice=4,4,4,5 sweeps=1", QUARKSMITH_WRONG_LATTICE, "5", "even extents"}};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n) {
    quarksmith_result* result = NULL;
    refused(quarksmith_run(s->context, all[n].command, all[n].how, s->gauge, &result), all[n].status, all[n].operand,
            all[n].remedy);
    check(result == NULL, "nothing is left of %s", all[n].command);
  }
}

void test_commands(const char* device) {
  set s = {.l = make_lattice(extent, 0.3, 41)};
  s.l.mass = 0.05;
  check_ok(quarksmith_open(device, extent, &s.context), "open");
  quarksmith_spinor_format_init(&s.format);
  s.gauge = load_gauge(s.context, &s.l);
  test_eigenvectors(&s);
  test_multigrid(&s);
  test_measurements(&s);
  test_links(&s);
  test_mistakes(&s);
  quarksmith_free(s.gauge), quarksmith_free(s.context);
  free_lattice(&s.l);
}

int print_offered(char* const* names) {
  static char help[65536];
  for (; *names != NULL; ++names)
    if (quarksmith_help(*names, help, sizeof help) == QUARKSMITH_OK) printf("%s\n", *names);
  return 0;
}
