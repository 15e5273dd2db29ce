/* A code with molecular dynamics of its own calls Quarksmith: links, momenta and pseudofermions in, momenta out. */
#include <math.h>
#include <quarksmith.h>
#include <stdio.h>
#include <stdlib.h>

/* --- docs/howto-forces.md shows what follows --- */
#define TRY(call)                                     \
  do {                                                \
    if ((status = (call)) != QUARKSMITH_OK) goto end; \
  } while (0)

/* p[t][z][y][x][mu][3][3] += step dP/dtau of an Iwasaki action and two flavours of clover quarks, S = phi^+ (M^+ M)^-1
 * phi - 2 log det T_oo; u as p; phi[t][z][y][x][spin][colour] on even sites. */
int kick(const int extent[4], const double* u, double* p, double beta, double kappa, double csw, const double* phi,
         double step, double* action) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_context* context = NULL;
  quarksmith_gauge* gauge = NULL;
  quarksmith_dynamics* dynamics = NULL;
  quarksmith_quark* quark = NULL;
  quarksmith_link_format links;
  quarksmith_spinor_format spinors;
  quarksmith_gauge_loops loops;
  quarksmith_rational inverse; /* r(A) = 1 / A */
  char options[256];
  const double one = 1, zero = 0;
  double gauge_part, quark_part, log_det;
  TRY(quarksmith_link_format_init(&links)); /* change what differs in your code */
  TRY(quarksmith_spinor_format_init(&spinors));
  TRY(quarksmith_gauge_loops_init(&loops));
  TRY(quarksmith_rational_init(&inverse));
  for (int plane = 0; plane < 6; ++plane) loops.planes[plane] = beta * (1 + 8 * 0.331);
  loops.rectangle = -0.331 * beta;
  snprintf(options, sizeof options, "action=clover kappa=%.17g csw=%.17g even-odd=asymmetric", kappa, csw);
  inverse.count = 1, inverse.residues = &one, inverse.poles = &zero;

  TRY(quarksmith_open("auto", extent, &context)); /* once; links and momenta may stay on the device too */
  TRY(quarksmith_gauge_load(context, (const void* const[]){u}, &links, &gauge));
  TRY(quarksmith_dynamics_create(gauge, &dynamics));
  TRY(quarksmith_dynamics_set_momenta(dynamics, (const void* const[]){p}, &links));
  TRY(quarksmith_quark_create(dynamics, options, &quark));

  TRY(quarksmith_gauge_action(dynamics, &loops, &gauge_part));
  TRY(quarksmith_quark_action(quark, &inverse, 1, (const void* const[]){phi}, &spinors, &quark_part));
  TRY(quarksmith_quark_log_det(quark, &log_det));
  *action = gauge_part + quark_part - 2 * log_det;

  TRY(quarksmith_gauge_force(dynamics, &loops, step));
  TRY(quarksmith_quark_force(quark, &inverse, 1, (const void* const[]){phi}, &spinors, step));
  TRY(quarksmith_quark_log_det_force(quark, 2, step));
  TRY(quarksmith_dynamics_get_momenta(dynamics, (void* const[]){p}, &links));
end:
  if (status != QUARKSMITH_OK) fprintf(stderr, "%s\n", quarksmith_message());
  quarksmith_free(quark), quarksmith_free(dynamics), quarksmith_free(gauge), quarksmith_free(context);
  return status;
}
/* --- end --- */

/* Unit links: the gauge action is beta times a number, and nothing pulls at them but the quarks. */
int main(void) {
  const int extent[4] = {4, 4, 4, 4}, sites = 256;
  double *u = calloc((size_t)sites * 72, sizeof *u), *p = calloc((size_t)sites * 72, sizeof *p);
  double* phi = calloc((size_t)sites * 24, sizeof *phi);
  double action = 0, norm = 0;
  for (int n = 0; n < 4 * sites; ++n)
    for (int a = 0; a < 3; ++a) u[18 * n + 8 * a] = 1;
  phi[0] = 1, phi[25] = 2; /* the second site is odd, and does not count */
  const int status = kick(extent, u, p, 2.0, 0.12, 1.0, phi, 0.1, &action);
  for (int n = 0; n < 72 * sites; ++n) norm += p[n] * p[n];
  printf("action %.12g, momenta %.3g\n", action, sqrt(norm));
  free(u), free(p), free(phi);
  return status != QUARKSMITH_OK || !(norm > 0);
}
