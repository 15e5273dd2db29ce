/* M and M^+ with clover, on host arrays and on fields of the device; vector operations; memory; solvers. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 6, 2, 8};
enum { rhs = 3 };

typedef struct {
  const char* name;
  double xi0, nu, csw, csw_r, csw_t;
} parameters;
static const parameters actions[] = {{"Wilson", 1, 1, 0, 0, 0},
                                     {"anisotropic", 2.5, 0.9, 0, 0, 0},
                                     {"clover", 1, 1, 1.7, 0, 0},
                                     {"anisotropic clover", 2.5, 0.9, 0, 1.2, 0.8}};

/* A lattice with an action, and that for the library. */
static lattice with_action(const parameters* a, double epsilon, const char** action) {
  lattice l = make_lattice(extent, epsilon, 21);
  l.mass = 0.2;
  l.xi0 = a->xi0;
  l.nu = a->nu;
  l.csw_r = a->csw != 0 ? a->csw : a->csw_r;
  l.csw_t = a->csw != 0 ? a->csw : a->csw_t;
  *action = action_of(&l);
  if (a->csw != 0) *action = options("action=clover mass=%.17g csw=%.17g", l.mass, a->csw);
  return l;
}

/* M by the library on three right-hand sides, host arrays and fields, in a stored precision. */
static void check_matrix(quarksmith_operator* op, quarksmith_context* context, const lattice* l, double limit) {
  quarksmith_spinor_format format;
  quarksmith_field *in = NULL, *out = NULL;
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, rhs, &in), "field");
  check_ok(quarksmith_operator_field(op, QUARKSMITH_FULL, rhs, &out), "field");
  void* outs[rhs];
  const void* ins[rhs];
  number *expected = random_spinor(l, 1), *back = random_spinor(l, 1);
  for (int r = 0; r < rhs; ++r) {
    ins[r] = random_spinor(l, 30 + (unsigned)r);
    outs[r] = random_spinor(l, 40);
    check_ok(quarksmith_field_set(in, r, ins[r], &format), "set");
  }
  for (int dagger = 0; dagger < 2; ++dagger) {
    check_ok(quarksmith_matrix_host(op, dagger, rhs, outs, ins, &format), "matrix on host arrays");
    check_ok(quarksmith_matrix(op, dagger, out, in), "matrix on fields");
    check_ok(quarksmith_synchronize(context), "synchronize");
    for (int r = 0; r < rhs; ++r) {
      matrix(l, degrand_rossi, dagger, expected, ins[r]);
      check_below(distance(outs[r], expected, 12 * l->sites), limit, "M on host arrays");
      check_ok(quarksmith_field_get(out, r, back, &format), "get");
      check(memcmp(back, outs[r], sizeof(number) * 12 * (size_t)l->sites) == 0, "M on fields is M on arrays");
    }
    memcpy(back, ins[1], sizeof(number) * 12 * (size_t)l->sites);
    check_ok(quarksmith_matrix_host(op, dagger, 1, (void*[]){back}, (const void*[]){back}, &format), "in place");
    check_below(distance(back, outs[1], 12 * l->sites), limit, "M in place");
  }
  for (int r = 0; r < rhs; ++r) free(outs[r]), free((void*)ins[r]);
  free(expected), free(back);
  quarksmith_free(in), quarksmith_free(out);
}

/* A x_e = reduced for M x = b; x is found again from its even sites. */
static void check_even_odd(quarksmith_gauge* gauge, const lattice* l, const char* action, const char* form) {
  quarksmith_operator *m = NULL, *a = NULL;
  quarksmith_field *x = NULL, *b = NULL, *even = NULL, *reduced = NULL, *out = NULL;
  quarksmith_spinor_format f;
  quarksmith_spinor_format_init(&f);
  check_ok(quarksmith_operator_create(gauge, action, &m), "M");
  check_ok(quarksmith_operator_create(gauge, options("%s even-odd=%s", action, form), &a), form);
  check_ok(quarksmith_operator_field(m, QUARKSMITH_FULL, 2, &x), "x");
  check_ok(quarksmith_operator_field(m, QUARKSMITH_FULL, 2, &b), "b");
  check_ok(quarksmith_operator_field(a, QUARKSMITH_EVEN, 2, &even), "x_e");
  check_ok(quarksmith_operator_field(a, QUARKSMITH_EVEN, 2, &reduced), "reduced");
  check_ok(quarksmith_operator_field(a, QUARKSMITH_EVEN, 2, &out), "A x_e");
  number *psi[2], *back = random_spinor(l, 1);
  for (int r = 0; r < 2; ++r) {
    psi[r] = random_spinor(l, 60 + (unsigned)r);
    check_ok(quarksmith_field_set(x, r, psi[r], &f), "set");
    check_ok(quarksmith_field_set(even, r, psi[r], &f), "set");
  }
  const double one[2] = {1, 0}, minus[2] = {-1, 0};
  double norm2[2] = {0, 0};
  check_ok(quarksmith_matrix(m, 0, b, x), "M x");
  check_ok(quarksmith_reduce(a, reduced, b), "reduce");
  check_ok(quarksmith_matrix(a, 0, out, even), "A x_e");
  check_ok(quarksmith_axpby(minus, reduced, one, out), "difference");
  check_ok(quarksmith_norm2(out, norm2), "norm2");
  check(norm2[0] < 1e-24 * l->sites && norm2[1] < 1e-24 * l->sites, "A x_e is the reduced right-hand side: %g",
        norm2[0]);
  check_ok(quarksmith_reconstruct(a, x, even, b), "reconstruct");
  for (int r = 0; r < 2; ++r) {
    check_ok(quarksmith_field_get(x, r, back, &f), "get");
    check_below(distance(back, psi[r], 12 * l->sites), 1e-13, "x from its even sites");
    free(psi[r]);
  }
  refused(quarksmith_reduce(m, reduced, b), QUARKSMITH_BAD_ARGUMENT, "on all sites", "even-odd=symmetric");
  refused(quarksmith_matrix(a, 0, x, b), QUARKSMITH_BAD_ARGUMENT, "field out", "QUARKSMITH_EVEN");
  quarksmith_free(m), quarksmith_free(a), quarksmith_free(x), quarksmith_free(b), quarksmith_free(even);
  quarksmith_free(reduced), quarksmith_free(out);
  free(back);
}

void test_operators(const char* device) {
  static const struct {
    const char* how;
    double limit;
  } stored[] = {{"", 1e-14},
                {"precision=single reconstruct=12", 1e-6},
                {"precision=half reconstruct=12", 5e-4},
                {"reconstruct=18 basis=degrand_rossi", 1e-14}};
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  for (size_t n = 0; n < sizeof actions / sizeof *actions; ++n) {
    const char* action;
    lattice l = with_action(&actions[n], 1.0, &action);
    quarksmith_gauge* gauge = load_gauge(context, &l);
    for (size_t k = 0; k < sizeof stored / sizeof *stored; ++k) {
      quarksmith_operator* op = NULL;
      check_ok(quarksmith_operator_create(gauge, options("%s %s", action, stored[k].how), &op), actions[n].name);
      check_matrix(op, context, &l, stored[k].limit);
      for (int parity = 0; parity < 2 && l.csw_t != 0; ++parity) {
        double log_det = 0;
        check_ok(quarksmith_term_log_det(op, parity, &log_det), "log det");
        check_below(fabs(log_det / log_det_of(&l, parity) - 1), 1e-13, "log det of the clover term");
      }
      quarksmith_free(op);
    }
    check_even_odd(gauge, &l, action, n % 2 ? "asymmetric" : "symmetric");
    quarksmith_free(gauge);
    free_lattice(&l);
  }

  /* Links that are not SU(3): 18 reals are chosen. */
  const char* action;
  lattice l = with_action(&actions[0], 1.0, &action);
  for (int i = 0; i < 36 * l.sites; ++i) l.links[i] *= 1.1;
  quarksmith_gauge* gauge = load_gauge(context, &l);
  quarksmith_operator* op = NULL;
  refused(quarksmith_operator_create(gauge, action, &op), QUARKSMITH_BAD_DATA, "not SU(3)", "allow_non_su3");
  check_ok(quarksmith_operator_create(gauge, options("%s allow-non-su3", action), &op), "operator on other links");
  check_matrix(op, context, &l, 1e-14);
  quarksmith_free(op), quarksmith_free(gauge), quarksmith_free(context);
  free_lattice(&l);
}

static double real_at(const quarksmith_field_memory* m, size_t word) {
  return m->word_bytes == 8 ? ((const double*)m->data)[word] : ((const float*)m->data)[word];
}

/* Norms, products, sums and copies of fields against plain loops; b[r] becomes what y holds then. */
static void check_algebra(const lattice* l, quarksmith_field* x, quarksmith_field* y, number* const* a,
                          number* const* b, double limit) {
  const int n = 12 * l->sites;
  const double alpha[2] = {0.5, -1}, beta[2] = {2, 0.25};
  double norm2[rhs], dot[2 * rhs];
  number* back = random_spinor(l, 1);
  quarksmith_spinor_format format;
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_norm2(x, norm2), "norm2");
  check_ok(quarksmith_dot(x, y, dot), "dot");
  check_ok(quarksmith_axpby(alpha, x, beta, y), "axpby");
  for (int r = 0; r < rhs; ++r) {
    double size = 0;
    number overlap = 0;
    for (int i = 0; i < n; ++i) {
      size += creal(a[r][i] * conj(a[r][i]));
      overlap += conj(a[r][i]) * b[r][i];
      b[r][i] = (alpha[0] + I * alpha[1]) * a[r][i] + (beta[0] + I * beta[1]) * b[r][i];
      if (a[r][i] == 0) back[i] = 0; /* what a field of one parity does not hold */
    }
    check_below(fabs(norm2[r] / size - 1), 10 * limit, "norm2 of a right-hand side");
    check_below(cabs(dot[2 * r] + I * dot[2 * r + 1] - overlap) / size, 10 * limit, "dot of a right-hand side");
    check_ok(quarksmith_field_get(x, r, back, &format), "get");
    check_below(distance(back, a[r], n), limit, "set and get");
    check_ok(quarksmith_field_get(y, r, back, &format), "get");
    check_below(distance(back, b[r], n), 4 * limit, "axpby of a right-hand side");
  }
  check_ok(quarksmith_field_copy(y, x), "copy");
  check_ok(quarksmith_field_get(y, 1, back, &format), "get");
  check_below(distance(back, a[1], n), limit, "copy");
  free(back);
}

/* Where numbers lie: `psi` is what the last right-hand side of x holds. */
static void check_memory(const lattice* l, quarksmith_field* x, int sites, int half, const number* psi) {
  quarksmith_field_memory memory;
  check_ok(quarksmith_field_memory_init(&memory), "memory");
  check_ok(quarksmith_field_describe(x, &memory), "describe");
  check((memory.scales != NULL) == half, "only half has scales");
  const size_t held = (size_t)l->sites / (sites == QUARKSMITH_FULL ? 1 : 2);
  check(memory.words == 24u * held * (size_t)(memory.lanes / memory.boxes), "words of a right-hand side");
  for (int site = 0; site < l->sites; ++site) {
    int at[4];
    size_t word = 0;
    coordinates_of(l, site, at);
    if (sites == QUARKSMITH_ODD && parity_at(l, site) == 0) continue;
    check_ok(quarksmith_field_word(x, at, 5, &word), "word");
    if (memory.vector_words > 0) { /* the rule that the header states for GPUs */
      const size_t v = (size_t)memory.vector_words;
      const size_t s = (size_t)site / 2;
      const size_t b = (size_t)memory.block_sites, inside = s % b;
      const size_t odd = sites == QUARKSMITH_FULL && parity_at(l, site) ? memory.odd : 0;
      const size_t expected = odd + (s - inside) * (size_t)memory.site_words + (5 / v * b + inside) * v + 5 % v;
      check(word == expected, "word of site %d", site);
    } else if (!half) {
      for (int copy = 0; copy < memory.lanes; copy += memory.boxes)
        check_below(fabs(real_at(&memory, (rhs - 1) * memory.words + word + (size_t)copy) - cimag(psi[12 * site + 2])),
                    1e-7, "the number in memory");
    }
  }
}

void test_fields(const char* device) {
  static const char* const precisions[] = {"double", "single", "half"};
  static const double limits[] = {1e-15, 1e-7, 1e-4};
  static const int sites[] = {QUARKSMITH_FULL, QUARKSMITH_ODD};
  lattice l = make_lattice(extent, 1.0, 22);
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  quarksmith_spinor_format format;
  quarksmith_spinor_format_init(&format);
  for (int k = 0; k < 6; ++k) {
    quarksmith_field *x = NULL, *y = NULL;
    const char* kind = options("precision=%s sites=%s basis=degrand_rossi rhs=%d", precisions[k % 3],
                               sites[k / 3] == QUARKSMITH_FULL ? "all" : "odd", rhs);
    check_ok(quarksmith_field_create(context, kind, &x), "field");
    check_ok(quarksmith_field_create(context, kind, &y), "field");
    number *a[rhs], *b[rhs];
    double norm2[rhs];
    check_ok(quarksmith_norm2(x, norm2), "norm2");
    check(norm2[0] == 0 && norm2[rhs - 1] == 0, "a new field is zero");
    for (int r = 0; r < rhs; ++r) {
      a[r] = random_spinor(&l, 50 + (unsigned)r);
      b[r] = random_spinor(&l, 60 + (unsigned)r);
      check_ok(quarksmith_field_set(x, r, a[r], &format), "set");
      check_ok(quarksmith_field_set(y, r, b[r], &format), "set");
      for (int i = 0; i < 12 * l.sites; ++i) /* what an odd field does not hold */
        if (sites[k / 3] == QUARKSMITH_ODD && parity_at(&l, i / 12) == 0) a[r][i] = b[r][i] = 0;
    }
    check_algebra(&l, x, y, a, b, limits[k % 3]);
    check_memory(&l, x, sites[k / 3], k % 3 == 2, a[rhs - 1]);
    for (int r = 0; r < rhs; ++r) free(a[r]), free(b[r]);
    quarksmith_free(x), quarksmith_free(y);
  }
  quarksmith_free(context);
  free_lattice(&l);
}

/* (M^+ M + shift) x = b for several shifts, by the plain operator, in double and in mixed precision. */
static void check_shifted(quarksmith_gauge* gauge, const lattice* l, const char* action) {
  enum { count = 3 };
  static const double shifts[count] = {0.7, 0, 0.02};
  static const char* const precisions[] = {"double", "double-single"};
  quarksmith_spinor_format format;
  quarksmith_solve_report reports[count];
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_solve_report_init(reports), "report");
  number *b = random_spinor(l, 5), *first = random_spinor(l, 6), *second = random_spinor(l, 6), *x[count];
  for (int k = 0; k < count; ++k) x[k] = random_spinor(l, 7);
  for (int n = 0; n < 2; ++n) {
    quarksmith_shifted* solver = NULL;
    const char* how = options("%s even-odd=none reconstruct=12 precision=%s", action, precisions[n]);
    check_ok(quarksmith_shifted_create(gauge, how, count, &solver), "shifted solver");
    check_ok(quarksmith_shifted_solve(solver, count, shifts, (void* const*)x, b, &format, reports), "shifted solve");
    for (int k = 0; k < count; ++k) {
      matrix(l, degrand_rossi, 0, first, x[k]);
      matrix(l, degrand_rossi, 1, second, first);
      for (int i = 0; i < 12 * l->sites; ++i) second[i] += shifts[k] * x[k][i];
      check_below(distance(second, b, 12 * l->sites), 1.05e-10, "true residual of a shift");
      check(reports[k].converged == 1 && reports[k].iterations > 0, "report of shift %d", k);
    }
    quarksmith_free(solver);
  }
  free(b), free(first), free(second);
  for (int k = 0; k < count; ++k) free(x[k]);
}

/* |b - M x| / |b| by the plain operator. */
static double true_residual(const lattice* l, const number* x, const number* b) {
  number* mx = random_spinor(l, 1);
  matrix(l, degrand_rossi, 0, mx, x);
  const double residual = distance(mx, b, 12 * l->sites);
  free(mx);
  return residual;
}

static void check_solver(quarksmith_context* context, quarksmith_gauge* gauge, const lattice* l, const char* how,
                         double tolerance) {
  quarksmith_solver* solver = NULL;
  quarksmith_spinor_format format;
  quarksmith_solve_report reports[rhs];
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_solve_report_init(reports), "report");
  check_ok(quarksmith_solver_create(gauge, how, &solver), "solver");
  number *b[rhs], *x[rhs];
  for (int r = 0; r < rhs; ++r) {
    b[r] = random_spinor(l, 70 + (unsigned)r);
    x[r] = random_spinor(l, 80);
  }
  memset(b[1], 0, sizeof(number) * 12 * (size_t)l->sites);
  b[1][12 * (l->sites / 3) + 4] = 1; /* a point source */
  check_ok(quarksmith_solve(solver, rhs, (void* const*)x, (const void* const*)b, &format, reports), "solve");
  for (int r = 0; r < rhs; ++r) {
    const double residual = true_residual(l, x[r], b[r]);
    check_below(residual, 1.05 * tolerance, "true residual by the plain M");
    check(reports[r].converged == 1 && reports[r].iterations > 0 && reports[r].size == sizeof reports[r] &&
              reports[r].residual <= tolerance && fabs(reports[r].residual / residual - 1) < 0.1,
          "report %d: converged %d, %d iterations, residual %g, true %g", r, reports[r].converged,
          reports[r].iterations, reports[r].residual, residual);
  }
  check_ok(quarksmith_solve(solver, 1, (void* const*)(x + 2), (const void* const*)b, &format, NULL), "one");
  check_below(true_residual(l, x[2], b[0]), 1.05 * tolerance, "true residual alone");

  quarksmith_field *fx = NULL, *fb = NULL;
  check_ok(quarksmith_field_create(context, "rhs=2", &fx), "field");
  check_ok(quarksmith_field_create(context, "rhs=2 basis=degrand_rossi", &fb), "field of another basis");
  for (int r = 0; r < 2; ++r) check_ok(quarksmith_field_set(fb, r, b[r], &format), "set");
  check_ok(quarksmith_solve_fields(solver, fx, fb, reports), "solve on the device");
  for (int r = 0; r < 2; ++r) {
    check_ok(quarksmith_field_get(fx, r, x[2], &format), "get");
    check_below(true_residual(l, x[2], b[r]), 1.05 * tolerance, "true residual of fields");
  }
  quarksmith_free(fx), quarksmith_free(fb), quarksmith_free(solver);
  for (int r = 0; r < rhs; ++r) free(b[r]), free(x[r]);
}

static int is_built(quarksmith_gauge* gauge, const char* how) {
  quarksmith_solver* solver = NULL;
  const quarksmith_status status = quarksmith_solver_create(gauge, how, &solver);
  quarksmith_free(solver);
  return status != QUARKSMITH_MISSING_KERNEL;
}

void test_solvers(const char* device) {
  static const struct {
    const char* how;
    double tolerance;
    int clover; /* kernels with clover are built for r12 */
    int wide;   /* profile wide alone has the kernels, which make test-full builds */
  } cases[] = {{"solver=bicgstab", 1e-10, 1, 0},
               {"solver=cg reconstruct=12", 1e-10, 1, 0},
               {"solver=bicgstab even-odd=asymmetric reconstruct=12", 1e-10, 1, 0},
               {"solver=cg even_odd=none reconstruct=12", 1e-9, 1, 0},
               {"solver=bicgstab precision=double-single", 1e-11, 1, 0},
               {"solver=bicgstab precision=double-half", 1e-10, 1, 0},
               {"solver=bicgstab precision=single", 1e-5, 1, 0},
               {"solver=bicgstab reconstruct=18", 1e-10, 0, 0},
               {"solver=bicgstab even-odd=none precision=double-single reconstruct=8", 1e-10, 0, 1},
               {"solver=bicgstab reconstruct=12t", 1e-10, 0, 1}};
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  for (size_t n = 0; n < sizeof actions / sizeof *actions; ++n) {
    const char* action;
    lattice l = with_action(&actions[n], 0.3, &action);
    char of[512];
    strcpy(of, action);
    quarksmith_gauge* gauge = load_gauge(context, &l);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
      if (l.csw_t != 0 && !cases[k].clover) continue;
      const char* how = options("%s %s tol=%g", of, cases[k].how, cases[k].tolerance);
      if (!cases[k].wide || is_built(gauge, how)) check_solver(context, gauge, &l, how, cases[k].tolerance);
    }
    check_shifted(gauge, &l, of);
    quarksmith_free(gauge);
    free_lattice(&l);
  }
  quarksmith_free(context);
}
