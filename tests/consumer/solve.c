/* An existing lattice code calls Quarksmith: its own links and sources in, propagator columns out. */
#include <quarksmith.h>
#include <stdio.h>
#include <stdlib.h>

/* --- docs/howto-c.md shows what follows --- */
#define TRY(call)                                     \
  do {                                                \
    if ((status = (call)) != QUARKSMITH_OK) goto end; \
  } while (0)

/* links[t][z][y][x][mu][3][3], b[i] and x[i] [t][z][y][x][spin][colour]: pairs of double, n > 0. */
int propagate(const int extent[4], const double* links, double kappa, double csw, int n, const double* const b[],
              double* const x[]) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_context* context = NULL;
  quarksmith_gauge* gauge = NULL;
  quarksmith_solver* solver = NULL;
  quarksmith_link_format link_format;
  quarksmith_spinor_format spinor_format;
  char options[256];
  quarksmith_solve_report* reports = malloc((size_t)n * sizeof *reports);
  TRY(quarksmith_solve_report_init(reports));

  TRY(quarksmith_open("auto", extent, &context)); /* a GPU if there is one */
  TRY(quarksmith_link_format_init(&link_format)); /* change what differs in your code */
  TRY(quarksmith_gauge_load(context, (const void* const[]){links}, &link_format, &gauge));

  /* Names and defaults of the command; residuals are true, in double; antiperiodic in time. */
  snprintf(options, sizeof options, "action=clover kappa=%.17g csw=%.17g precision=double-single", kappa, csw);
  TRY(quarksmith_solver_create(gauge, options, &solver));

  TRY(quarksmith_spinor_format_init(&spinor_format));
  TRY(quarksmith_solve(solver, n, (void* const*)x, (const void* const*)b, &spinor_format, reports));
  for (int i = 0; i < n; ++i)
    printf("%d iterations, |b - M x| / |b| = %.2e\n", reports[i].iterations, reports[i].residual);
end:
  if (status != QUARKSMITH_OK) fprintf(stderr, "%s\n", quarksmith_message());
  quarksmith_free(solver), quarksmith_free(gauge), quarksmith_free(context);
  free(reports);
  return status;
}
/* --- end --- */

/* Unit links and two point sources. */
int main(void) {
  const int extent[4] = {4, 4, 4, 8}, sites = 4 * 4 * 4 * 8;
  double* links = calloc((size_t)sites * 72, sizeof *links);
  double *b[2], *x[2];
  for (int u = 0; u < 4 * sites; ++u)
    for (int a = 0; a < 3; ++a) links[18 * u + 8 * a] = 1;
  for (int i = 0; i < 2; ++i) {
    b[i] = calloc((size_t)sites * 24, sizeof **b);
    x[i] = malloc((size_t)sites * 24 * sizeof **x);
    b[i][2 * i] = 1;
  }
  const int status = propagate(extent, links, 0.12, 1.0, 2, (const double* const*)b, x);
  for (int i = 0; i < 2; ++i) free(b[i]), free(x[i]);
  free(links);
  return status;
}
