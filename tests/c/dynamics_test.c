/* Molecular dynamics: actions against plain C, forces against differences of actions, momenta in any order. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 4};
enum { sites = 256, numbers = 36 * sites };

/* Random momenta: anti-Hermitian and traceless. */
static number* random_momenta(unsigned long long seed) {
  number* p = malloc(sizeof(number) * numbers);
  for (int n = 0; n < 4 * sites; ++n) {
    number m[3][3], trace = 0;
    for (int i = 0; i < 9; ++i) {
      const double re = draw(&seed), im = draw(&seed);
      m[i / 3][i % 3] = re + I * im;
    }
    for (int i = 0; i < 3; ++i) trace += (m[i][i] - conj(m[i][i])) / 2;
    for (int i = 0; i < 9; ++i)
      p[9 * n + i] = (m[i / 3][i % 3] - conj(m[i % 3][i / 3])) / 2 - (i % 4 == 0 ? trace / 3 : 0);
  }
  return p;
}

/* sum -Re tr a b over links: p_a q_a / 2. */
static double dot(const number* a, const number* b) {
  double sum = 0;
  for (int n = 0; n < 4 * sites; ++n)
    for (int i = 0; i < 9; ++i) sum -= creal(a[9 * n + i] * b[9 * n + 3 * (i % 3) + i / 3]);
  return sum;
}

static void set_momenta(quarksmith_dynamics* d, const number* p) {
  quarksmith_link_format format;
  quarksmith_link_format_init(&format);
  check_ok(quarksmith_dynamics_set_momenta(d, (const void* const[]){p}, &format), "set momenta");
}

static number* get_momenta(quarksmith_dynamics* d) {
  quarksmith_link_format format;
  quarksmith_link_format_init(&format);
  number* p = malloc(sizeof(number) * numbers);
  check_ok(quarksmith_dynamics_get_momenta(d, (void* const[]){p}, &format), "get momenta");
  return p;
}

/* A term of the action: its value, and P += step dP/dtau. */
typedef struct {
  const char* name;
  double (*value)(quarksmith_dynamics* d, void* of);
  void (*force)(quarksmith_dynamics* d, void* of, double step);
  void* of;
} term;

/* The force of a term is minus the slope of its action along U' = exp(tau P) U: dS/dtau = -2 P . dP/dtau. */
static void check_force(quarksmith_dynamics* d, const term* t, double limit) {
  number* p = random_momenta(5);
  set_momenta(d, p);
  t->force(d, t->of, 0.75);
  t->force(d, t->of, 0.25); /* momenta are added to */
  number* moved = get_momenta(d);
  for (int i = 0; i < numbers; ++i) moved[i] -= p[i];
  const double wanted = -2 * dot(p, moved), h = 2e-3;
  set_momenta(d, p);
  double s[7]; /* at -3h ... 3h */
  check_ok(quarksmith_dynamics_drift(d, -3 * h), "drift");
  for (int n = 0; n < 7; ++n) {
    s[n] = t->value(d, t->of);
    check_ok(quarksmith_dynamics_drift(d, n < 6 ? h : -3 * h), "drift");
  }
  const double slope = (45 * (s[4] - s[2]) - 9 * (s[5] - s[1]) + (s[6] - s[0])) / (60 * h);
  check(fabs(wanted) > 1e-3, "%s: the force is there", t->name);
  check(fabs(slope / wanted - 1) < limit, "%s: slope %.15g, by the force %.15g", t->name, slope, wanted);
  free(p), free(moved);
}

/* --- gauge actions --- */

static double gauge_value(quarksmith_dynamics* d, void* of) {
  double s = 0;
  check_ok(quarksmith_gauge_action(d, of, &s), "gauge action");
  return s;
}

static void gauge_force(quarksmith_dynamics* d, void* of, double step) {
  check_ok(quarksmith_gauge_force(d, of, step), "gauge force");
}

static void check_gauge(quarksmith_dynamics* d, const lattice* l) {
  static const struct {
    const char* name;
    double planes[6], rectangle, chair, rectangles[6][2], two_plaquettes[3], squares[2];
  } all[] = {{"Wilson", {6, 6, 6, 6, 6, 6}, 0, 0, {{0}}, {0}, {0}},
             {"anisotropic", {2, 2, 2, 8, 8, 8}, 0, 0, {{0}}, {0}, {0}},
             {"rectangles", {8, 8, 8, 8, 8, 8}, -0.7, 0, {{0}}, {0}, {0}},
             {"twisted loops", {7, 7, 7, 7, 7, 7}, -0.5, 0.2, {{0}}, {0}, {0}},
             {"rectangles by orientation",
              {3, 3, 3, 7, 7, 7},
              0,
              0,
              {{-0.2, -0.2}, {-0.2, -0.2}, {-0.2, -0.2}, {-0.5, 0}, {-0.5, 0}, {-0.5, 0.1}},
              {0},
              {0}},
             {"pairs of plaquettes", {9, 9, 9, 5, 5, 5}, 0, 0, {{0}}, {-2, -1, 0.5}, {0}},
             {"squares of plaquettes", {4, 4, 4, 4, 4, 4}, 0, 0, {{0}}, {0}, {0.7, -0.3}}};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n) {
    quarksmith_gauge_loops loops;
    check_ok(quarksmith_gauge_loops_init(&loops), "loops");
    memcpy(loops.planes, all[n].planes, sizeof loops.planes);
    memcpy(loops.rectangles, all[n].rectangles, sizeof loops.rectangles);
    memcpy(loops.two_plaquettes, all[n].two_plaquettes, sizeof loops.two_plaquettes);
    memcpy(loops.squares, all[n].squares, sizeof loops.squares);
    loops.rectangle = all[n].rectangle, loops.chair = all[n].chair;
    const double s = gauge_value(d, &loops);
    if (n == 0) check_below(fabs(s / (-6.0 * 6 * sites * plaquette_of(l)) - 1), 1e-13, "Wilson's action");
    loops.constant = 1;
    double coefficients = 12 * loops.rectangle + 16 * loops.chair;
    for (int plane = 0; plane < 6; ++plane)
      coefficients += loops.planes[plane] + loops.rectangles[plane][0] + loops.rectangles[plane][1] + loops.squares[0] +
                      loops.squares[1];
    for (int plane = 0; plane < 3; ++plane) coefficients += loops.two_plaquettes[plane] / 2;
    check_below(fabs(gauge_value(d, &loops) - s - coefficients * sites), 1e-8, "its constant");
    check_force(d, &(term){all[n].name, gauge_value, gauge_force, &loops}, 1e-9);
  }
}

/* --- quarks --- */

enum { vectors = 2, most_slices = 4 };
typedef struct {
  quarksmith_quark* quark;
  quarksmith_rational r;
  quarksmith_spinor_format format;
  const void* phi[vectors * most_slices];
  int slices, reals, staggered;
} pseudofermion;

static double quark_value(quarksmith_dynamics* d, void* of) {
  (void)d;
  const pseudofermion* f = of;
  double s = 0;
  check_ok(quarksmith_quark_action(f->quark, &f->r, vectors, f->phi, &f->format, &s), "action of quarks");
  return s;
}

static void quark_force(quarksmith_dynamics* d, void* of, double step) {
  (void)d;
  const pseudofermion* f = of;
  check_ok(quarksmith_quark_force(f->quark, &f->r, vectors, f->phi, &f->format, step), "force of quarks");
}

/* The same of x_k = (A + pole_k)^-1 phi and y_k = M x_k, all vectors in one pass. */
static void outer_force(quarksmith_dynamics* d, void* of, double step) {
  (void)d;
  const pseudofermion* f = of;
  const int n = vectors * f->r.count;
  void *x[2 * vectors * most_slices], *y[2 * vectors * most_slices];
  double weights[2 * vectors];
  for (int k = 0; k < n * f->slices; ++k) {
    x[k] = calloc((size_t)f->reals * sites, sizeof(double));
    y[k] = calloc((size_t)f->reals * sites, sizeof(double));
  }
  for (int k = 0; k < f->r.count; ++k) {
    const double one = 1;
    quarksmith_rational pole;
    check_ok(quarksmith_rational_init(&pole), "rational");
    pole.count = 1, pole.residues = &one, pole.poles = &f->r.poles[k];
    void** at = x + k * vectors * f->slices;
    check_ok(quarksmith_quark_rational(f->quark, &pole, vectors, at, f->phi, &f->format), "pole");
    for (int v = 0; v < vectors; ++v) weights[k * vectors + v] = f->r.residues[k];
  }
  if (!f->staggered) check_ok(quarksmith_quark_matrix(f->quark, 0, n, y, (const void* const*)x, &f->format), "y = M x");
  check_ok(quarksmith_quark_outer(f->quark, n, (const void* const*)x, f->staggered ? NULL : (const void* const*)y,
                                  weights, &f->format, step),
           "force of vectors");
  for (int k = 0; k < n * f->slices; ++k) free(x[k]), free(y[k]);
}

static double log_det_value(quarksmith_dynamics* d, void* of) {
  (void)d;
  double s = 0;
  check_ok(quarksmith_quark_log_det(of, &s), "log det");
  return -2 * s;
}

static void log_det_force(quarksmith_dynamics* d, void* of, double step) {
  (void)d;
  check_ok(quarksmith_quark_log_det_force(of, 2, step), "force of log det");
}

/* Twist and flavours, smeared links, fat links, a fifth dimension, hops over two sites. */
static const struct {
  const char *name, *how;
  int slices, staggered;
} quarks[] = {
    {"Wilson", "action=wilson kappa=0.12 even-odd=none", 1, 0},
    {"clover", "action=clover mass=0.2 csw=1.2 even-odd=symmetric", 1, 0},
    {"stout clover",
     "action=clover mass=0.2 csw-r=1.2 csw-t=0.8 xi0=1.5 even-odd=asymmetric stout-rho=0.1 stout-steps=2", 1, 0},
    {"twisted mass", "action=twisted-mass mass=0.2 mu=0.3", 1, 0},
    {"doublet", "action=twisted-mass mass=0.2 mu=0.3 epsilon=0.1", 2, 0},
    {"Moebius", "action=moebius ls=4 mass=0.1 m5=1.6 b5=1.5 c5=0.5", 4, 0},
    {"staggered", "action=staggered mass=0.2", 1, 1},
    {"HISQ", "action=hisq mass=0.2", 1, 1},
    {"D234", "action=d234 mass=0.4", 1, 0},
};

static void check_quark(quarksmith_dynamics* d, const lattice* l, size_t n) {
  static const double residues[2] = {0.7, 1.3}, poles[2] = {0.05, 0.4};
  pseudofermion f = {.slices = quarks[n].slices, .staggered = quarks[n].staggered};
  f.reals = f.staggered ? 6 : 24;
  check_ok(quarksmith_quark_create(d, options("%s tol=1e-13", quarks[n].how), &f.quark), quarks[n].name);
  check_ok(quarksmith_spinor_format_init(&f.format), "format");
  check_ok(quarksmith_rational_init(&f.r), "rational");
  f.r.constant = 0.3, f.r.count = 2, f.r.residues = residues, f.r.poles = poles;
  for (int k = 0; k < vectors * f.slices; ++k) f.phi[k] = random_spinor(l, 70 + (unsigned)k);
  check_force(d, &(term){quarks[n].name, quark_value, quark_force, &f}, 1e-9);
  check_force(d, &(term){quarks[n].name, quark_value, outer_force, &f}, 1e-9);
  if (strstr(quarks[n].how, "clover") != NULL)
    check_force(d, &(term){"log det", log_det_value, log_det_force, f.quark}, 2e-8); /* it is large beside its slope */
  for (int k = 0; k < vectors * f.slices; ++k) free((void*)f.phi[k]);
  quarksmith_free(f.quark);
}

/* M and phi^+ (M^+ M)^-1 phi against plain C, on links that are not those of the start. */
static void check_matrix(quarksmith_dynamics* d, lattice* l) {
  const double one = 1, zero = 0;
  quarksmith_rational inverse;
  quarksmith_spinor_format format;
  quarksmith_quark* quark = NULL;
  quarksmith_rational_init(&inverse);
  quarksmith_spinor_format_init(&format);
  inverse.count = 1, inverse.residues = &one, inverse.poles = &zero;
  check_ok(quarksmith_quark_create(d, "action=wilson mass=0.3 even-odd=none tol=1e-13", &quark), "quark");
  l->mass = 0.3;
  number *eta = random_spinor(l, 8), *phi = random_spinor(l, 9), *expected = random_spinor(l, 9);
  check_ok(quarksmith_quark_matrix(quark, 1, 1, (void* const[]){phi}, (const void* const[]){eta}, &format), "M^+");
  matrix(l, degrand_rossi, 1, expected, eta);
  check_below(distance(phi, expected, 12 * sites), 1e-14, "M^+ eta");
  double s = 0, norm = 0;
  for (int i = 0; i < 12 * sites; ++i) norm += creal(eta[i] * conj(eta[i]));
  check_ok(quarksmith_quark_action(quark, &inverse, 1, (const void* const[]){phi}, &format, &s), "action");
  check_below(fabs(s / norm - 1), 1e-11, "S = |eta|^2");
  free(eta), free(phi), free(expected);
  quarksmith_free(quark);
}

/* Momenta go through arrays of another order and back; their energy is that of plain C. */
static void check_momenta(quarksmith_dynamics* d) {
  number *p = random_momenta(11), *back, *four[4];
  quarksmith_link_format format;
  quarksmith_link_format_init(&format);
  format.sites = QUARKSMITH_EVEN_ODD, format.order = QUARKSMITH_DIRECTION_MAJOR,
  format.colour = QUARKSMITH_COLUMN_MAJOR;
  for (int mu = 0; mu < 4; ++mu) four[mu] = malloc(sizeof(number) * 9 * sites);
  set_momenta(d, p);
  double energy = 0;
  check_ok(quarksmith_dynamics_kinetic(d, &energy), "kinetic");
  check_below(fabs(energy / dot(p, p) - 1), 1e-13, "kinetic energy");
  check_ok(quarksmith_dynamics_get_momenta(d, (void* const[]){four[0], four[1], four[2], four[3]}, &format), "get");
  check(four[1][1] == p[9 + 3] && four[3][2] == p[27 + 6], "momenta stand where links would");
  check_ok(quarksmith_dynamics_set_momenta(d, (const void* const[]){four[0], four[1], four[2], four[3]}, &format),
           "set");
  back = get_momenta(d);
  check_below(distance(back, p, numbers), 1e-15, "momenta come back");
  for (int mu = 0; mu < 4; ++mu) free(four[mu]);
  free(p), free(back);
}

void test_dynamics(const char* device) {
  quarksmith_context* context = NULL;
  quarksmith_dynamics* d = NULL;
  quarksmith_link_format format;
  check_ok(quarksmith_open(device, extent, &context), "open");
  lattice start = make_lattice(extent, 0.3, 3), l = make_lattice(extent, 0.2, 4);
  quarksmith_gauge* gauge = load_gauge(context, &start);
  check_ok(quarksmith_dynamics_create(gauge, &d), "dynamics");
  quarksmith_free(gauge);
  quarksmith_link_format_init(&format);
  check_ok(quarksmith_dynamics_set_links(d, (const void* const[]){l.links}, &format), "set links");
  check_momenta(d);
  check_matrix(d, &l);
  check_gauge(d, &l);
  for (size_t n = 0; n < sizeof quarks / sizeof *quarks; ++n) check_quark(d, &l, n);
  number* links = malloc(sizeof(number) * numbers);
  check_ok(quarksmith_dynamics_get_links(d, (void* const[]){links}, &format), "get links");
  check_below(distance(links, l.links, numbers), 1e-12, "links that went there and back");
  free(links), free_lattice(&start), free_lattice(&l);
  quarksmith_free(d), quarksmith_free(context);
}

int print_dynamics(const char* path) {
  quarksmith_context* context = NULL;
  quarksmith_gauge* gauge = NULL;
  quarksmith_dynamics* d = NULL;
  quarksmith_quark* quark = NULL;
  quarksmith_gauge_loops loops;
  double norm2 = 0;
  check_ok(quarksmith_open("cpu", extent, &context), "open");
  check_ok(quarksmith_gauge_read(context, path, &gauge), "read");
  check_ok(quarksmith_dynamics_create(gauge, &d), "dynamics");
  quarksmith_gauge_loops_init(&loops);
  for (int plane = 0; plane < 6; ++plane) loops.planes[plane] = 2.2 * (1 + 8 * 0.331);
  loops.rectangle = -2.2 * 0.331, loops.constant = 1;
  const char* clover = "action=clover kappa=0.13 csw=1.5 even-odd=asymmetric stout-rho=0.1 stout-steps=2";
  check_ok(quarksmith_quark_create(d, clover, &quark), "quark");
  check_ok(quarksmith_gauge_force(d, &loops, 1), "gauge force");
  check_ok(quarksmith_dynamics_kinetic(d, &norm2), "norm");
  printf("gauge %.17g %.17g\n", gauge_value(d, &loops), norm2);
  number* zero = calloc(numbers, sizeof *zero);
  set_momenta(d, zero);
  log_det_force(d, quark, 1);
  check_ok(quarksmith_dynamics_kinetic(d, &norm2), "norm");
  printf("clover %.17g %.17g\n", log_det_value(d, quark), norm2);
  free(zero), quarksmith_free(quark), quarksmith_free(d), quarksmith_free(gauge), quarksmith_free(context);
  int failed = 0;
  checks(&failed);
  return failed == 0 ? 0 : 1;
}
