/* Handles that are NULL, freed, of another kind or context, or none: refused by every function, in every thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 4};

/* One open handle of each kind, and settings to make more. */
enum { context, gauge, field, op, solver, shifted, result, dynamics, quark, kinds };
static const char* const names[kinds] = {"quarksmith_context",  "quarksmith_gauge",    "quarksmith_field",
                                         "quarksmith_operator", "quarksmith_solver",   "quarksmith_shifted",
                                         "quarksmith_result",   "quarksmith_dynamics", "quarksmith_quark"};
typedef struct {
  lattice l;
  void* open[kinds];
  quarksmith_link_format links;
  quarksmith_spinor_format spinors;
  char wilson[256];
  number* psi;
} set;

static void* make(set* s, int kind, const char* device) {
  void* made = NULL;
  const void* links[1] = {s->l.links};
  if (kind == context) check_ok(quarksmith_open(device, extent, (quarksmith_context**)&made), "open");
  if (kind == gauge)
    check_ok(quarksmith_gauge_load(s->open[context], links, &s->links, (quarksmith_gauge**)&made), "load");
  if (kind == field) check_ok(quarksmith_field_create(s->open[context], NULL, (quarksmith_field**)&made), "field");
  if (kind == op)
    check_ok(quarksmith_operator_create(s->open[gauge], s->wilson, (quarksmith_operator**)&made), "operator");
  if (kind == solver)
    check_ok(quarksmith_solver_create(s->open[gauge], s->wilson, (quarksmith_solver**)&made), "solver");
  if (kind == shifted)
    check_ok(quarksmith_shifted_create(s->open[gauge], s->wilson, 1, (quarksmith_shifted**)&made), "shifted");
  if (kind == result)
    check_ok(quarksmith_run(s->open[context], "list", "what=formats", NULL, (quarksmith_result**)&made), "list");
  if (kind == dynamics) check_ok(quarksmith_dynamics_create(s->open[gauge], (quarksmith_dynamics**)&made), "dynamics");
  if (kind == quark)
    check_ok(quarksmith_quark_create(s->open[dynamics], "mass=0.5", (quarksmith_quark**)&made), "quark");
  return made;
}

static set make_set(const char* device) {
  set s = {.l = make_lattice(extent, 0.3, 9)};
  s.l.mass = 0.2;
  s.psi = random_spinor(&s.l, 1);
  strcpy(s.wilson, action_of(&s.l));
  check_ok(quarksmith_link_format_init(&s.links), "init");
  check_ok(quarksmith_spinor_format_init(&s.spinors), "init");
  for (int kind = 0; kind < kinds; ++kind) s.open[kind] = make(&s, kind, device);
  return s;
}

static void free_set(set* s) {
  for (int kind = 0; kind < kinds; ++kind) quarksmith_free(s->open[kind]);
  free(s->psi);
  free_lattice(&s->l);
}

/* What came of a call with a handle: its kind and name, whether the call locks it first, the status; kind -1: there is
 * no such call. */
typedef struct {
  int kind;
  const char* argument;
  int first;
  quarksmith_status status;
} answer;

/* Every argument of every function that is a handle: number `n` of a group is `h`, all others are right. */
#define CALL(kind, argument, first, status) \
  if (n-- == 0) return (answer) {           \
      kind, argument, first, status         \
    }
static answer call_of_links(set* s, int n, void* h) {
  void* out[1] = {s->psi};
  const void* in[1] = {s->psi};
  double numbers[8] = {0};
  char text[4096];
  size_t size;
  quarksmith_gauge* g;
  quarksmith_field* f;
  quarksmith_operator* d;
  quarksmith_solver* v;
  quarksmith_shifted* w;
  CALL(context, "context", 1, quarksmith_synchronize(h));
  CALL(context, "context", 1, quarksmith_device_name(h, text, sizeof text));
  CALL(context, "context", 1, quarksmith_kernel_count(h, &size));
  CALL(context, "context", 1, quarksmith_kernel_name(h, 0, text, sizeof text));
  CALL(context, "context", 1, quarksmith_gauge_load(h, in, &s->links, &g));
  CALL(context, "context", 1, quarksmith_gauge_read(h, "none", &g));
  CALL(context, "context", 1, quarksmith_field_create(h, NULL, &f));
  CALL(gauge, "gauge", 1, quarksmith_gauge_write(h, "none/none", "ildg", 64));
  CALL(gauge, "gauge", 1, quarksmith_gauge_get(h, out, &s->links));
  CALL(gauge, "gauge", 1, quarksmith_gauge_plaquette(h, numbers));
  CALL(gauge, "gauge", 1, quarksmith_gauge_phase(h, numbers));
  CALL(gauge, "gauge", 1, quarksmith_operator_create(h, s->wilson, &d));
  CALL(gauge, "gauge", 1, quarksmith_solver_create(h, s->wilson, &v));
  CALL(gauge, "gauge", 1, quarksmith_shifted_create(h, s->wilson, 1, &w));
  CALL(gauge, "gauge", 1, quarksmith_gauge_field(h, "phi", 1, numbers));
  CALL(context, "context", 1, quarksmith_run(h, "list", "what=formats", NULL, NULL));
  return (answer){-1, "", 1, QUARKSMITH_OK};
}

static answer call_of_fields(set* s, int n, void* h) {
  void** o = s->open;
  double numbers[8] = {0};
  size_t size;
  quarksmith_field_memory memory;
  quarksmith_field_memory_init(&memory);
  CALL(field, "field", 1, quarksmith_field_set(h, 0, s->psi, &s->spinors));
  CALL(field, "field", 1, quarksmith_field_get(h, 0, s->psi, &s->spinors));
  CALL(field, "to", 1, quarksmith_field_copy(h, o[field]));
  CALL(field, "from", 0, quarksmith_field_copy(o[field], h));
  CALL(field, "x", 1, quarksmith_norm2(h, numbers));
  CALL(field, "x", 1, quarksmith_dot(h, o[field], numbers));
  CALL(field, "y", 0, quarksmith_dot(o[field], h, numbers));
  CALL(field, "x", 0, quarksmith_axpby(numbers, h, numbers, o[field]));
  CALL(field, "y", 1, quarksmith_axpby(numbers, o[field], numbers, h));
  CALL(field, "field", 1, quarksmith_field_describe(h, &memory));
  CALL(field, "field", 1, quarksmith_field_word(h, extent, 0, &size));
  return (answer){-1, "", 1, QUARKSMITH_OK};
}

static answer call_of_operators(set* s, int n, void* h) {
  void *out[1] = {s->psi}, **o = s->open;
  const void* in[1] = {s->psi};
  double numbers[8] = {0};
  quarksmith_field* made;
  CALL(op, "op", 1, quarksmith_dslash(h, 0, 0, o[field], o[field]));
  CALL(field, "out", 0, quarksmith_dslash(o[op], 0, 0, h, o[field]));
  CALL(field, "in", 0, quarksmith_dslash(o[op], 0, 0, o[field], h));
  CALL(op, "op", 1, quarksmith_matrix(h, 0, o[field], o[field]));
  CALL(field, "out", 0, quarksmith_matrix(o[op], 0, h, o[field]));
  CALL(field, "in", 0, quarksmith_matrix(o[op], 0, o[field], h));
  CALL(op, "op", 1, quarksmith_dslash_host(h, 0, 0, 1, out, in, &s->spinors));
  CALL(op, "op", 1, quarksmith_matrix_host(h, 0, 1, out, in, &s->spinors));
  CALL(op, "op", 1, quarksmith_term_log_det(h, 0, numbers));
  CALL(solver, "solver", 1, quarksmith_solve(h, 1, out, in, &s->spinors, NULL));
  CALL(solver, "solver", 1, quarksmith_solve_fields(h, o[field], o[field], NULL));
  CALL(field, "x", 0, quarksmith_solve_fields(o[solver], h, o[field], NULL));
  CALL(field, "b", 0, quarksmith_solve_fields(o[solver], o[field], h, NULL));
  CALL(shifted, "solver", 1, quarksmith_shifted_solve(h, 1, numbers, out, in[0], &s->spinors, NULL));
  CALL(op, "op", 1, quarksmith_operator_field(h, QUARKSMITH_FULL, 1, &made));
  CALL(op, "op", 1, quarksmith_reduce(h, o[field], o[field]));
  CALL(field, "reduced", 0, quarksmith_reduce(o[op], h, o[field]));
  CALL(field, "b", 0, quarksmith_reduce(o[op], o[field], h));
  CALL(op, "op", 1, quarksmith_reconstruct(h, o[field], o[field], o[field]));
  CALL(field, "x", 0, quarksmith_reconstruct(o[op], h, o[field], o[field]));
  CALL(field, "reduced", 0, quarksmith_reconstruct(o[op], o[field], h, o[field]));
  CALL(field, "b", 0, quarksmith_reconstruct(o[op], o[field], o[field], h));
  return (answer){-1, "", 1, QUARKSMITH_OK};
}

static answer call_of_results(int n, void* h) {
  const char* text;
  quarksmith_gauge* g;
  quarksmith_field* f;
  CALL(result, "result", 1, quarksmith_result_text(h, QUARKSMITH_JSON, &text));
  CALL(result, "result", 1, quarksmith_result_gauge(h, &g));
  CALL(result, "result", 1, quarksmith_result_field(h, &f));
  return (answer){-1, "", 1, QUARKSMITH_OK};
}

static answer call_of_dynamics(set* s, int n, void* h) {
  void *out[1] = {s->psi}, *u[1] = {s->l.links};
  const void *in[1] = {s->psi}, *v[1] = {s->l.links};
  double numbers[1] = {0.5};
  quarksmith_gauge_loops loops;
  quarksmith_rational r;
  quarksmith_dynamics* d;
  quarksmith_quark* q;
  quarksmith_gauge_loops_init(&loops), quarksmith_rational_init(&r);
  CALL(gauge, "gauge", 1, quarksmith_dynamics_create(h, &d));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_set_links(h, v, &s->links));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_get_links(h, u, &s->links));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_set_momenta(h, v, &s->links));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_get_momenta(h, u, &s->links));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_kinetic(h, numbers));
  CALL(dynamics, "dynamics", 1, quarksmith_dynamics_drift(h, 0.1));
  CALL(dynamics, "dynamics", 1, quarksmith_gauge_action(h, &loops, numbers));
  CALL(dynamics, "dynamics", 1, quarksmith_gauge_force(h, &loops, 0.1));
  CALL(dynamics, "dynamics", 1, quarksmith_quark_create(h, "mass=0.5", &q));
  CALL(quark, "quark", 1, quarksmith_quark_matrix(h, 0, 1, out, in, &s->spinors));
  CALL(quark, "quark", 1, quarksmith_quark_rational(h, &r, 1, out, in, &s->spinors));
  CALL(quark, "quark", 1, quarksmith_quark_action(h, &r, 1, in, &s->spinors, numbers));
  CALL(quark, "quark", 1, quarksmith_quark_force(h, &r, 1, in, &s->spinors, 0.1));
  CALL(quark, "quark", 1, quarksmith_quark_outer(h, 1, in, in, numbers, &s->spinors, 0.1));
  CALL(quark, "quark", 1, quarksmith_quark_log_det(h, numbers));
  CALL(quark, "quark", 1, quarksmith_quark_log_det_force(h, 1, 0.1));
  return (answer){-1, "", 1, QUARKSMITH_OK};
}

static answer call(set* s, int n, void* h) {
  enum { links = 16, fields = 11, operators = 22, results = 3 };
  if (n < links) return call_of_links(s, n, h);
  if ((n -= links) < fields) return call_of_fields(s, n, h);
  if ((n -= fields) < operators) return call_of_operators(s, n, h);
  if ((n -= operators) < results) return call_of_results(n, h);
  return call_of_dynamics(s, n - results, h);
}

/* The status of argument `n` must be BAD_ARGUMENT, and the message `function: argument what ... what else`. */
static void refuses(set* s, int n, void* h, const char* what, const char* remedy) {
  const answer a = call(s, n, h);
  char start[64] = ": ";
  strcat(strcat(strcat(start, a.argument), " "), what);
  refused(a.status, QUARKSMITH_BAD_ARGUMENT, start, remedy);
}

static void test_every_argument(set* s, set* foreign, const char* device) {
  void* freed[kinds];
  int n = 0;
  for (int k = 0; k < kinds; ++k) quarksmith_free(freed[k] = make(s, k, device));
  for (;; ++n) {
    const answer a = call(s, n, NULL);
    const int kind = a.kind;
    if (kind < 0) break;
    refuses(s, n, NULL, "is NULL", names[kind]);
    refuses(s, n, freed[kind], "is not open: it was freed", names[kind]);
    refuses(s, n, s->psi, "is no handle of this library", names[kind]);
    for (int other = 0; other < kinds; ++other)
      if (other != kind) refuses(s, n, s->open[other], "is a handle of another kind", names[other]);
    if (!a.first) refuses(s, n, foreign->open[kind], "and the other handles are of different contexts", "one context");
  }
  check(n == 69, "arguments that are handles: %d", n);
}

/* Two handles are never equal, however often they are made and freed: an old one is not taken for a new one. */
static void test_generations(set* s, const char* device) {
  enum { turns = 50 };
  static void* old[turns];
  double norm2 = 0;
  char text[4096];
  for (int kind = 0; kind < kinds; ++kind) {
    for (int n = 0; n < turns; ++n) {
      old[n] = make(s, kind, device);
      for (int m = 0; m < n; ++m)
        if (old[m] == old[n]) check(0, "handle %d of %s is number %d again", n, names[kind], m);
      if (n < turns - 1) quarksmith_free(old[n]);
    }
    for (int n = 0; n < turns - 1; ++n) {
      refused(quarksmith_handle_message(old[n], text, sizeof text), QUARKSMITH_BAD_ARGUMENT, "handle is not open",
              "it was freed");
      quarksmith_free(old[n]); /* must not free the one that is open */
      check(strstr(quarksmith_message(), "it was freed") != NULL, "freed twice: %s", quarksmith_message());
    }
    check_ok(quarksmith_handle_message(old[turns - 1], text, sizeof text), "the last one is open");
    if (kind == field) check_ok(quarksmith_norm2(old[turns - 1], &norm2), "and works");
    quarksmith_free(old[turns - 1]);
  }
}

/* Numbers that look like handles, and near ones of real handles. */
static void test_garbage(set* s) {
  unsigned long long state = 3;
  double norm2 = 0;
  for (int n = 0; n < 20000; ++n) {
    unsigned long long bits;
    const double x = draw(&state);
    memcpy(&bits, &x, sizeof bits);
    bits = n % 2 == 0 ? state ^ bits : (unsigned long long)(size_t)s->open[field] + 0x100000000ull + (state >> 32);
    void* h = (void*)(size_t)bits;
    const quarksmith_status status = quarksmith_norm2(h, &norm2);
    if (status != QUARKSMITH_BAD_ARGUMENT) check(0, "%p is taken for a field", h);
    quarksmith_free(h);
    check(strstr(quarksmith_message(), "quarksmith_free: handle is") != NULL, "%p is freed", h);
  }
  for (int kind = 0; kind < kinds; ++kind) {
    char text[4096];
    check_ok(quarksmith_handle_message(s->open[kind], text, sizeof text), "all others are still there");
  }
}

/* What was made from a context and its links works on without them, bit for bit. */
static void test_owners(const char* device) {
  set s = make_set(device);
  const size_t bytes = sizeof(number) * 12 * (size_t)s.l.sites;
  number *x = malloc(bytes), *again = malloc(bytes);
  void *xs[1] = {x}, *more[1] = {again};
  const void* b[1] = {s.psi};
  double norm2[2];
  check_ok(quarksmith_field_set(s.open[field], 0, s.psi, &s.spinors), "set");
  check_ok(quarksmith_solve(s.open[solver], 1, xs, b, &s.spinors, NULL), "solve");
  check_ok(quarksmith_norm2(s.open[field], &norm2[0]), "norm2");
  quarksmith_free(s.open[gauge]), quarksmith_free(s.open[context]);
  check_ok(quarksmith_solve(s.open[solver], 1, more, b, &s.spinors, NULL), "solve without links and context");
  check(memcmp(x, again, bytes) == 0, "the same solution");
  check_ok(quarksmith_matrix_host(s.open[op], 0, 1, more, b, &s.spinors), "operator without links and context");
  check_ok(quarksmith_norm2(s.open[field], &norm2[1]), "norm2");
  check(norm2[0] == norm2[1], "the field without its context");
  s.open[gauge] = s.open[context] = NULL;
  free(x), free(again);
  free_set(&s);
}

typedef struct {
  void* volatile* shared;
  pthread_barrier_t* start;
  quarksmith_spinor_format format;
  const number* psi;
  int frees, refused, worked, wrong;
} user;

enum { users = 4, rounds = 60, each = 6 };

/* Uses a field that another thread may free at any moment, then frees it, too: only one of all can. */
static void* use(void* argument) {
  user* u = argument;
  double norm2 = 0;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(u->start);
    void* h = u->shared[round];
    for (int n = 0; n < each; ++n) {
      const quarksmith_status status =
          n % 2 ? quarksmith_norm2(h, &norm2) : quarksmith_field_set(h, 0, u->psi, &u->format);
      if (status == QUARKSMITH_OK)
        ++u->worked;
      else if (status == QUARKSMITH_BAD_ARGUMENT && strstr(quarksmith_message(), "it was freed") != NULL)
        ++u->refused;
      else
        ++u->wrong;
      if (u->frees && n == each / 2) quarksmith_free(h);
    }
  }
  return NULL;
}

static void test_threads_that_free(set* s, const char* device) {
  static void* shared[rounds];
  user u[users];
  pthread_t threads[users];
  pthread_barrier_t start;
  int worked = 0, refusals = 0, wrong = 0;
  for (int n = 0; n < rounds; ++n) shared[n] = make(s, field, device);
  pthread_barrier_init(&start, NULL, users);
  for (int t = 0; t < users; ++t) {
    u[t] = (user){.shared = shared, .start = &start, .format = s->spinors, .psi = s->psi, .frees = t >= users / 2};
    check(pthread_create(&threads[t], NULL, use, &u[t]) == 0, "a thread starts");
  }
  for (int t = 0; t < users; ++t) {
    pthread_join(threads[t], NULL);
    worked += u[t].worked, refusals += u[t].refused, wrong += u[t].wrong;
  }
  pthread_barrier_destroy(&start);
  check(wrong == 0 && worked + refusals == users * rounds * each, "%d calls of threads went wrong", wrong);
  check(worked >= rounds && refusals >= rounds, "%d calls worked, %d were refused", worked, refusals);
  for (int n = 0; n < rounds; ++n) {
    double norm2 = 0;
    refused(quarksmith_norm2(shared[n], &norm2), QUARKSMITH_BAD_ARGUMENT, "x is not open", "it was freed");
  }
}

void test_handles(const char* device) {
  set s = make_set(device), foreign = make_set(device);
  test_every_argument(&s, &foreign, device);
  test_generations(&s, device);
  test_garbage(&s);
  test_owners(device);
  test_threads_that_free(&s, device);
  free_set(&s), free_set(&foreign);
}
