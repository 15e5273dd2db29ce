/* Handles that are NULL, freed, of another kind or context, or none: refused by every function, in every thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 4};

/* One open handle of each kind, and settings to make more. */
enum { context, gauge, field, op, solver, shifted, kinds };
static const char* const names[kinds] = {"quarksmith_context",  "quarksmith_gauge",  "quarksmith_field",
                                         "quarksmith_operator", "quarksmith_solver", "quarksmith_shifted"};
typedef struct {
  lattice l;
  void* open[kinds];
  quarksmith_link_format links;
  quarksmith_spinor_format spinors;
  quarksmith_field_settings fields;
  quarksmith_wilson_parameters wilson;
  quarksmith_operator_settings ops;
  quarksmith_solver_settings solvers;
  number* psi;
} set;

static void* make(set* s, int kind, const char* device) {
  void* made = NULL;
  const void* links[1] = {s->l.links};
  if (kind == context) check_ok(quarksmith_open(device, extent, (quarksmith_context**)&made), "open");
  if (kind == gauge)
    check_ok(quarksmith_gauge_load(s->open[context], links, &s->links, (quarksmith_gauge**)&made), "load");
  if (kind == field)
    check_ok(quarksmith_field_create(s->open[context], &s->fields, (quarksmith_field**)&made), "field");
  if (kind == op)
    check_ok(quarksmith_operator_create(s->open[gauge], &s->wilson, &s->ops, (quarksmith_operator**)&made), "operator");
  if (kind == solver)
    check_ok(quarksmith_solver_create(s->open[gauge], &s->wilson, &s->solvers, (quarksmith_solver**)&made), "solver");
  if (kind == shifted)
    check_ok(quarksmith_shifted_create(s->open[gauge], &s->wilson, &s->solvers, 1, (quarksmith_shifted**)&made),
             "shifted");
  return made;
}

static set make_set(const char* device) {
  set s = {.l = make_lattice(extent, 0.3, 9)};
  s.l.mass = 0.2;
  s.psi = random_spinor(&s.l, 1);
  s.wilson = parameters_of(&s.l);
  check_ok(quarksmith_link_format_init(&s.links), "init");
  check_ok(quarksmith_spinor_format_init(&s.spinors), "init");
  check_ok(quarksmith_field_settings_init(&s.fields), "init");
  check_ok(quarksmith_operator_settings_init(&s.ops), "init");
  check_ok(quarksmith_solver_settings_init(&s.solvers), "init");
  for (int kind = 0; kind < kinds; ++kind) s.open[kind] = make(&s, kind, device);
  return s;
}

static void free_set(set* s) {
  for (int kind = 0; kind < kinds; ++kind) quarksmith_free(s->open[kind]);
  free(s->psi);
  free_lattice(&s->l);
}

/* Every argument of every function that is a handle: number `n` is `h`, all others are right. -1: there are no more.
 * `first` tells the argument that a call locks. */
static int call(set* s, int n, void* h, int* kind, const char** argument, int* first, quarksmith_status* status) {
  void *out[1] = {s->psi}, **o = s->open;
  const void* in[1] = {s->psi};
  double numbers[8] = {0};
  char text[4096];
  size_t size;
  quarksmith_field_memory memory;
  quarksmith_gauge* g;
  quarksmith_field* f;
  quarksmith_operator* d;
  quarksmith_solver* v;
  quarksmith_shifted* w;
  quarksmith_field_memory_init(&memory);
  *first = 1;
  switch (n) {
    case 0:
      *kind = context, *argument = "context", *status = quarksmith_synchronize(h);
      break;
    case 1:
      *kind = context, *argument = "context", *status = quarksmith_device_name(h, text, sizeof text);
      break;
    case 2:
      *kind = context, *argument = "context", *status = quarksmith_kernel_count(h, &size);
      break;
    case 3:
      *kind = context, *argument = "context", *status = quarksmith_kernel_name(h, 0, text, sizeof text);
      break;
    case 4:
      *kind = context, *argument = "context", *status = quarksmith_gauge_load(h, in, &s->links, &g);
      break;
    case 5:
      *kind = context, *argument = "context", *status = quarksmith_gauge_read(h, "none", &g);
      break;
    case 6:
      *kind = context, *argument = "context", *status = quarksmith_field_create(h, &s->fields, &f);
      break;
    case 7:
      *kind = gauge, *argument = "gauge", *status = quarksmith_gauge_write(h, "none/none", "ildg", 64);
      break;
    case 8:
      *kind = gauge, *argument = "gauge", *status = quarksmith_gauge_get(h, out, &s->links);
      break;
    case 9:
      *kind = gauge, *argument = "gauge", *status = quarksmith_gauge_plaquette(h, numbers);
      break;
    case 10:
      *kind = gauge, *argument = "gauge", *status = quarksmith_gauge_phase(h, numbers);
      break;
    case 11:
      *kind = gauge, *argument = "gauge", *status = quarksmith_operator_create(h, &s->wilson, &s->ops, &d);
      break;
    case 12:
      *kind = gauge, *argument = "gauge", *status = quarksmith_solver_create(h, &s->wilson, &s->solvers, &v);
      break;
    case 13:
      *kind = field, *argument = "field", *status = quarksmith_field_set(h, 0, s->psi, &s->spinors);
      break;
    case 14:
      *kind = field, *argument = "field", *status = quarksmith_field_get(h, 0, s->psi, &s->spinors);
      break;
    case 15:
      *kind = field, *argument = "to", *status = quarksmith_field_copy(h, o[field]);
      break;
    case 16:
      *kind = field, *argument = "from", *status = quarksmith_field_copy(o[field], h), *first = 0;
      break;
    case 17:
      *kind = field, *argument = "x", *status = quarksmith_norm2(h, numbers);
      break;
    case 18:
      *kind = field, *argument = "x", *status = quarksmith_dot(h, o[field], numbers);
      break;
    case 19:
      *kind = field, *argument = "y", *status = quarksmith_dot(o[field], h, numbers), *first = 0;
      break;
    case 20:
      *kind = field, *argument = "x", *status = quarksmith_axpby(numbers, h, numbers, o[field]), *first = 0;
      break;
    case 21:
      *kind = field, *argument = "y", *status = quarksmith_axpby(numbers, o[field], numbers, h);
      break;
    case 22:
      *kind = field, *argument = "field", *status = quarksmith_field_describe(h, &memory);
      break;
    case 23:
      *kind = field, *argument = "field", *status = quarksmith_field_word(h, extent, 0, &size);
      break;
    case 24:
      *kind = op, *argument = "op", *status = quarksmith_dslash(h, 0, 0, o[field], o[field]);
      break;
    case 25:
      *kind = field, *argument = "out", *status = quarksmith_dslash(o[op], 0, 0, h, o[field]), *first = 0;
      break;
    case 26:
      *kind = field, *argument = "in", *status = quarksmith_dslash(o[op], 0, 0, o[field], h), *first = 0;
      break;
    case 27:
      *kind = op, *argument = "op", *status = quarksmith_matrix(h, 0, o[field], o[field]);
      break;
    case 28:
      *kind = field, *argument = "out", *status = quarksmith_matrix(o[op], 0, h, o[field]), *first = 0;
      break;
    case 29:
      *kind = field, *argument = "in", *status = quarksmith_matrix(o[op], 0, o[field], h), *first = 0;
      break;
    case 30:
      *kind = op, *argument = "op", *status = quarksmith_dslash_host(h, 0, 0, 1, out, in, &s->spinors);
      break;
    case 31:
      *kind = op, *argument = "op", *status = quarksmith_matrix_host(h, 0, 1, out, in, &s->spinors);
      break;
    case 32:
      *kind = op, *argument = "op", *status = quarksmith_clover_log_det(h, 0, numbers);
      break;
    case 33:
      *kind = solver, *argument = "solver", *status = quarksmith_solve(h, 1, out, in, &s->spinors, NULL);
      break;
    case 34:
      *kind = solver, *argument = "solver", *status = quarksmith_solve_fields(h, o[field], o[field], NULL);
      break;
    case 35:
      *kind = field, *argument = "x", *status = quarksmith_solve_fields(o[solver], h, o[field], NULL), *first = 0;
      break;
    case 36:
      *kind = field, *argument = "b", *status = quarksmith_solve_fields(o[solver], o[field], h, NULL), *first = 0;
      break;
    case 37:
      *kind = gauge, *argument = "gauge", *status = quarksmith_shifted_create(h, &s->wilson, &s->solvers, 1, &w);
      break;
    case 38:
      *kind = shifted, *argument = "solver";
      *status = quarksmith_shifted_solve(h, 1, numbers, out, in[0], &s->spinors, NULL);
      break;
    default:
      return -1;
  }
  return 0;
}

/* The status of argument `n` must be BAD_ARGUMENT, and the message `function: argument what ... what else`. */
static void refuses(set* s, int n, void* h, const char* what, const char* remedy) {
  int kind = 0, first = 0;
  const char* argument = "";
  quarksmith_status status = QUARKSMITH_OK;
  char start[64] = ": ";
  call(s, n, h, &kind, &argument, &first, &status);
  strcat(strcat(strcat(start, argument), " "), what);
  refused(status, QUARKSMITH_BAD_ARGUMENT, start, remedy);
}

static void test_every_argument(set* s, set* foreign, const char* device) {
  void* freed[kinds];
  int kind = 0, first = 0, n = 0;
  const char* argument = "";
  quarksmith_status status;
  for (int k = 0; k < kinds; ++k) quarksmith_free(freed[k] = make(s, k, device));
  for (; call(s, n, NULL, &kind, &argument, &first, &status) == 0; ++n) {
    refuses(s, n, NULL, "is NULL", names[kind]);
    refuses(s, n, freed[kind], "is a quarksmith_", "not open: it was freed; create it anew");
    refuses(s, n, s->psi, "is no handle of this library", names[kind]);
    for (int other = 0; other < kinds; ++other)
      if (other != kind) refuses(s, n, s->open[other], "is a handle of another kind", names[other]);
    if (!first) refuses(s, n, foreign->open[kind], "and the other handles are of different contexts", "one context");
  }
  check(n == 39, "arguments that are handles: %d", n);
}

/* Two handles are never equal, however often they are made and freed: an old one is not taken for a new one. */
static void test_generations(set* s, const char* device) {
  enum { turns = 200 };
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
      refused(quarksmith_handle_message(old[n], text, sizeof text), QUARKSMITH_BAD_ARGUMENT, "handle is a quarksmith_",
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
    refused(quarksmith_norm2(shared[n], &norm2), QUARKSMITH_BAD_ARGUMENT, "x is a quarksmith_field", "it was freed");
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
