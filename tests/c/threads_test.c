/* Contexts side by side, and threads that share the handles of one context. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { turns = 3 };
static const int extents[2][4] = {{4, 4, 4, 8}, {8, 4, 6, 4}};

typedef struct {
  lattice l;
  quarksmith_solver* solver;
  quarksmith_operator* op;
  unsigned seed;
} job;

/* Solves, checks by the plain M, and provokes an error of its own between the solves. */
static void* work(void* argument) {
  job* j = argument;
  const size_t bytes = sizeof(number) * 12 * (size_t)j->l.sites;
  quarksmith_spinor_format format;
  quarksmith_spinor_format_init(&format);
  number *x = malloc(bytes), *mx = malloc(bytes);
  for (unsigned turn = 0; turn < turns; ++turn) {
    number* b = random_spinor(&j->l, j->seed + turn);
    void *xs[1] = {x}, *outs[1] = {mx};
    const void *bs[1] = {b}, *ins[1] = {x};
    const int wrong = 10 + (int)(j->seed + turn);
    check(quarksmith_dslash_host(j->op, wrong, 0, 1, outs, ins, &format) == QUARKSMITH_BAD_ARGUMENT, "wrong parity");
    check_ok(quarksmith_solve(j->solver, 1, xs, bs, &format, NULL), "solve in a thread");
    check(atoi(strstr(quarksmith_message(), "parity ") + 7) == wrong, "the message is the thread's own: %s",
          quarksmith_message());
    check_ok(quarksmith_matrix_host(j->op, 0, 1, outs, ins, &format), "matrix in a thread");
    check_below(distance(mx, b, 12 * j->l.sites), 1.05e-10, "residual by the library's M");
    matrix(&j->l, degrand_rossi, 0, mx, x);
    check_below(distance(mx, b, 12 * j->l.sites), 1.05e-10, "residual in a thread");
    free(b);
  }
  free(x), free(mx);
  return NULL;
}

static job make_job(quarksmith_context* context, const int* extent, unsigned seed) {
  job j = {.l = make_lattice(extent, 0.3, seed), .seed = 100 * seed};
  j.l.mass = 0.2;
  quarksmith_gauge* gauge = load_gauge(context, &j.l);
  check_ok(quarksmith_solver_create(gauge, action_of(&j.l), &j.solver), "solver");
  check_ok(quarksmith_operator_create(gauge, action_of(&j.l), &j.op), "operator");
  quarksmith_free(gauge);
  return j;
}

/* Four threads: two on the handles of one context, one on other handles of it, one on a context of its own. */
void test_threads(const char* device) {
  quarksmith_context* contexts[2];
  for (int c = 0; c < 2; ++c) check_ok(quarksmith_open(device, extents[c], &contexts[c]), "open");
  job jobs[4];
  jobs[0] = make_job(contexts[0], extents[0], 1);
  jobs[1] = jobs[0];
  jobs[1].seed = 700;
  jobs[2] = make_job(contexts[0], extents[0], 2);
  jobs[3] = make_job(contexts[1], extents[1], 3);
  for (int c = 0; c < 2; ++c) quarksmith_free(contexts[c]); /* the other handles keep what they need */
  pthread_t threads[4];
  for (int t = 0; t < 4; ++t) check(pthread_create(&threads[t], NULL, work, &jobs[t]) == 0, "a thread starts");
  for (int t = 0; t < 4; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 4; ++t) {
    if (t == 1) continue;
    quarksmith_free(jobs[t].solver), quarksmith_free(jobs[t].op);
    free_lattice(&jobs[t].l);
  }
}
