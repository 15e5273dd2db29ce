/* Molecular dynamics: wrong handles and arguments are refused by one message, and change nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 4};

typedef struct {
  lattice l;
  quarksmith_context* context;
  quarksmith_gauge* gauge;
  quarksmith_dynamics* dynamics;
  quarksmith_quark* quark;
  quarksmith_link_format links;
  quarksmith_spinor_format spinors;
  quarksmith_gauge_loops loops;
  quarksmith_rational r;
  number* psi;
} set;

static const double numbers[1] = {0.5};

static void check_quarks(set* s) {
  enum { bad = QUARKSMITH_BAD_ARGUMENT, unknown = QUARKSMITH_UNKNOWN_NAME };
  static const struct {
    const char* how;
    int status;
    const char *operand, *remedy;
  } all[] = {{NULL, bad, "mass", "wilson"},
             {"action=willson mass=1", unknown, "action 'willson' is unknown", "wilson"},
             {"mass=0.5 kappa=0.1", bad, "exactly one of", "both give mass"},
             {"kappa=-1", bad, "kappa -1", "a positive number"},
             {"mass=inf", bad, "mass", "finite"},
             {"mass=0.5 ls=4", bad, "ls belongs to", "moebius"},
             {"mass=0.5 even-odd=symetric", unknown, "symetric", "symmetric"},
             {"mass=0.5 action=d234 even-odd=symmetric", bad, "d234 has no even-odd form", "use none"},
             {"mass=0.5 action=staggered even-odd=none", bad, "even_odd=none", "leave it out"},
             {"mass=0.5 stout-rho=0.1", bad, "stout_rho 0.1 with stout_steps 0", "give both"}};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n) {
    quarksmith_quark* q = NULL;
    refused(quarksmith_quark_create(s->dynamics, all[n].how, &q), (quarksmith_status)all[n].status, all[n].operand,
            all[n].remedy);
    check(q == NULL, "no quark is made: %s", all[n].operand);
  }
}

/* Finite numbers whose products are not: refused, and the momenta stay. */
static void check_overflow(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_DATA;
  number* huge = calloc((size_t)(12 * s->l.sites), sizeof *huge);
  const void* phi[1] = {huge};
  double value = 7, before = 0, after = 0;
  quarksmith_gauge_loops loops;
  check_ok(quarksmith_gauge_loops_init(&loops), "loops");
  for (int plane = 0; plane < 6; ++plane) loops.planes[plane] = 1;
  check_ok(quarksmith_gauge_force(s->dynamics, &loops, 1), "a force");
  check_ok(quarksmith_dynamics_kinetic(s->dynamics, &before), "kinetic");
  refused(quarksmith_dynamics_drift(s->dynamics, 1e300), bad, "step 1e+300", "smaller step");
  refused(quarksmith_gauge_force(s->dynamics, &loops, 1e300), bad, "momenta stay", "smaller step");
  loops.planes[0] = 1e308;
  refused(quarksmith_gauge_action(s->dynamics, &loops, &value), bad, "not finite", "smaller coefficients");
  for (int n = 0; n < 12 * s->l.sites; ++n) huge[n] = 1e160;
  refused(quarksmith_quark_outer(s->quark, 1, phi, phi, numbers, &s->spinors, 1), bad, "momenta stay", "smaller");
  check_ok(quarksmith_dynamics_kinetic(s->dynamics, &after), "kinetic");
  check(before > 0 && before == after && value == 7, "what is refused changes nothing");
  free(huge);
}

static void check_arguments(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_ARGUMENT;
  const void* in[1] = {s->psi};
  double value = 7;
  s->loops.rectangle = 1, s->loops.planes[3] = 2;
  refused(quarksmith_gauge_action(s->dynamics, &s->loops, &value), bad, "planes 0 and 2", "make all planes equal");
  s->loops.planes[3] = 0, s->loops.rectangles[5][1] = 3;
  refused(quarksmith_gauge_force(s->dynamics, &s->loops, 1), bad, "rectangle 1 beside rectangles[5][1] 3", "give one");
  s->loops.constant = 2, s->loops.rectangle = 0;
  refused(quarksmith_gauge_force(s->dynamics, &s->loops, 1), bad, "constant 2", "use 0 or 1");
  refused(quarksmith_dynamics_drift(s->dynamics, NAN), bad, "step nan", "finite");
  check_overflow(s);
  /* Links are no momenta; momenta are no links. */
  refused(quarksmith_dynamics_set_momenta(s->dynamics, (const void* const[]){s->l.links}, &s->links),
          QUARKSMITH_BAD_DATA, "anti-Hermitian", "P = i p_a T_a");
  number* nothing = calloc((size_t)(36 * s->l.sites), sizeof *nothing);
  nothing[77] = NAN;
  refused(quarksmith_dynamics_set_momenta(s->dynamics, (const void* const[]){nothing}, &s->links), QUARKSMITH_BAD_DATA,
          "momenta: a matrix", "P = i p_a T_a");
  free(nothing);
  /* A sign in time that the first links did not have. */
  number* turned = malloc(sizeof *turned * (size_t)(36 * s->l.sites));
  memcpy(turned, s->l.links, sizeof *turned * (size_t)(36 * s->l.sites));
  for (int n = 3 * s->l.sites / 4; n < s->l.sites; ++n)
    for (int i = 27; i < 36; ++i) turned[36 * n + i] *= -1;
  refused(quarksmith_dynamics_set_links(s->dynamics, (const void* const[]){turned}, &s->links), QUARKSMITH_BAD_DATA,
          "other phases", "create the dynamics anew");
  memcpy(turned, s->l.links, sizeof *turned * (size_t)(36 * s->l.sites));
  turned[40] *= 1.01;
  refused(quarksmith_dynamics_set_links(s->dynamics, (const void* const[]){turned}, &s->links), QUARKSMITH_BAD_DATA,
          "SU(3)", "molecular dynamics");
  free(turned);
  const double minus = -1;
  s->r.count = 1, s->r.residues = numbers, s->r.poles = &minus;
  refused(quarksmith_quark_action(s->quark, &s->r, 1, in, &s->spinors, &value), bad, "pole -1", "0 or more");
  s->r.poles = NULL;
  refused(quarksmith_quark_force(s->quark, &s->r, 1, in, &s->spinors, 1), bad, "poles is NULL", "pass");
  s->r.count = 0;
  refused(quarksmith_quark_action(s->quark, &s->r, 0, in, &s->spinors, &value), bad, "0 vectors", "at least 1");
  refused(quarksmith_quark_outer(s->quark, 1, in, NULL, numbers, &s->spinors, 1), bad, "y is NULL", "pass");
  check(value == 7, "results are set on success only");
  quarksmith_quark* staggered = NULL;
  check_ok(quarksmith_quark_create(s->dynamics, "action=staggered mass=0.5", &staggered), "staggered");
  refused(quarksmith_quark_outer(staggered, 1, in, in, numbers, &s->spinors, 1), bad, "y of staggered", "pass NULL");
  refused(quarksmith_quark_matrix(staggered, 0, 1, (void* const[]){s->psi}, in, &s->spinors), bad, "staggered quarks",
          "rational function");
  quarksmith_free(staggered);
}

void test_dynamics_statuses(const char* device) {
  set s = {.l = make_lattice(extent, 0.3, 9)};
  s.psi = random_spinor(&s.l, 1);
  check_ok(quarksmith_open(device, extent, &s.context), "open");
  s.gauge = load_gauge(s.context, &s.l);
  quarksmith_link_format_init(&s.links);
  quarksmith_spinor_format_init(&s.spinors);
  quarksmith_gauge_loops_init(&s.loops);
  quarksmith_rational_init(&s.r);
  check_ok(quarksmith_dynamics_create(s.gauge, &s.dynamics), "dynamics");
  check_ok(quarksmith_quark_create(s.dynamics, "mass=0.5", &s.quark), "quark");
  check_quarks(&s);
  check_arguments(&s);
  quarksmith_free(s.dynamics); /* the quark holds on to it */
  double value = 1;
  check_ok(quarksmith_quark_log_det(s.quark, &value), "a quark after its dynamics");
  check(value == 0, "there is no log det without clover");
  quarksmith_free(s.quark), quarksmith_free(s.gauge), quarksmith_free(s.context);
  free(s.psi), free_lattice(&s.l);
}
