/* Links and spinors in every order, precision and basis against the plain evaluation; boundary phases. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 6, 2, 8};
static const int axis_orders[3][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 1, 0, 3}};

/* Dslash of both parities by the library, default spinor format. */
static void dslash(quarksmith_gauge* gauge, const char* action, int dagger, number* out, const number* in) {
  quarksmith_spinor_format format;
  quarksmith_operator* op = NULL;
  quarksmith_spinor_format_init(&format);
  check_ok(quarksmith_operator_create(gauge, action, &op), "operator");
  void* to[1] = {out};
  const void* from[1] = {in};
  for (int parity = 0; parity < 2; ++parity)
    check_ok(quarksmith_dslash_host(op, parity, dagger, 1, to, from, &format), "dslash");
  quarksmith_free(op);
}

static void check_links(quarksmith_context* context, const lattice* l, const quarksmith_link_format* f) {
  const double limit = f->precision == QUARKSMITH_SINGLE ? 5e-7 : 1e-14;
  void *arrays[4], *again[4];
  for (int k = 0; k < 4; ++k) {
    arrays[k] = calloc((size_t)l->sites, 36 * sizeof(number));
    again[k] = calloc((size_t)l->sites, 36 * sizeof(number));
  }
  to_links(l, f, arrays);
  quarksmith_gauge* gauge = NULL;
  const void* links[4] = {arrays[0], arrays[1], arrays[2], arrays[3]};
  check_ok(quarksmith_gauge_load(context, links, f, &gauge), "load links");
  double plaquette[3];
  check_ok(quarksmith_gauge_plaquette(gauge, plaquette), "plaquette");
  check_below(fabs(plaquette[0] - plaquette_of(l)), limit, "plaquette");
  check_below(fabs(plaquette[0] - (plaquette[1] + plaquette[2]) / 2), limit, "planes");

  number *in = random_spinor(l, 7), *out = random_spinor(l, 8), *expected = random_spinor(l, 9);
  for (int dagger = 0; dagger < 2; ++dagger) {
    dslash(gauge, action_of(l), dagger, out, in);
    hop(l, degrand_rossi, 2, dagger, expected, in);
    check_below(distance(out, expected, 12 * l->sites), limit, "Dslash of links in an order");
  }
  check_ok(quarksmith_gauge_get(gauge, again, f), "get links");
  for (int k = 0; k < 4; ++k)
    check(memcmp(again[k], arrays[k], (size_t)l->sites * 36 * sizeof(number)) == 0, "links come back as they were");
  free(in), free(out), free(expected);
  for (int k = 0; k < 4; ++k) free(arrays[k]), free(again[k]);
  quarksmith_free(gauge);
}

void test_link_orders(const char* device) {
  lattice l = make_lattice(extent, 1.0, 11);
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  for (int n = 0; n < 96; ++n) {
    quarksmith_link_format f;
    check_ok(quarksmith_link_format_init(&f), "format");
    f.precision = n & 1;
    f.sites = n >> 1 & 1;
    f.order = n >> 2 & 1;
    f.colour = n >> 3 & 1;
    memcpy(f.axes, axis_orders[n / 32], sizeof f.axes);
    if (n >> 4 & 1) memcpy(f.directions, (int[]){3, 0, 1, 2}, sizeof f.directions); /* t first */
    check_links(context, &l, &f);
  }
  quarksmith_free(context);
  free_lattice(&l);
}

/* The library's non-relativistic basis is UKQCD's with the other sign of the gamma_i: gamma_t turns it. */
static void turn(const lattice* l, number* psi) {
  for (int n = 0; n < 12 * l->sites; ++n)
    if (n % 12 >= 6) psi[n] = -psi[n];
}

void test_spinor_orders(const char* device) {
  static const char* const bases[3] = {"degrand_rossi", "ukqcd", "non_relativistic"};
  lattice l = make_lattice(extent, 1.0, 12);
  quarksmith_context* context = NULL;
  quarksmith_operator* op = NULL;
  check_ok(quarksmith_open(device, extent, &context), "open");
  quarksmith_gauge* gauge = load_gauge(context, &l);
  check_ok(quarksmith_operator_create(gauge, action_of(&l), &op), "operator");
  number *in = random_spinor(&l, 1), *out = random_spinor(&l, 2), *expected = random_spinor(&l, 3);
  for (int n = 0; n < 3 * 3 * 16 * 2; ++n) {
    const int basis = n % 3, parity = n / 144;
    quarksmith_spinor_format f;
    check_ok(quarksmith_spinor_format_init(&f), "format");
    f.basis = bases[basis];
    memcpy(f.axes, axis_orders[n / 3 % 3], sizeof f.axes);
    f.precision = n / 9 & 1;
    f.sites = n / 18 & 1;
    f.order = n / 36 & 1;
    f.half = n / 72 & 1;
    memcpy(expected, in, sizeof(number) * 12 * (size_t)l.sites);
    if (basis == 2) turn(&l, expected);
    number* turned = random_spinor(&l, 4);
    memcpy(turned, expected, sizeof(number) * 12 * (size_t)l.sites);
    memset(expected, 0, sizeof(number) * 12 * (size_t)l.sites);
    hop(&l, basis == 0 ? degrand_rossi : ukqcd, parity, 0, expected, turned);
    if (basis == 2) turn(&l, expected);
    free(turned);

    void *from = spinor_array(&l), *to = spinor_array(&l);
    to_array(&l, &f, f.half ? 1 - parity : 2, in, from);
    void* outs[1] = {to};
    const void* ins[1] = {from};
    check_ok(quarksmith_dslash_host(op, parity, 0, 1, outs, ins, &f), "dslash of an order");
    memset(out, 0, sizeof(number) * 12 * (size_t)l.sites);
    from_array(&l, &f, f.half ? parity : 2, to, out);
    check_below(distance(out, expected, 12 * l.sites), f.precision ? 5e-7 : 1e-14, "Dslash of spinors in an order");
    free(from), free(to);
  }
  free(in), free(out), free(expected);
  quarksmith_free(op), quarksmith_free(gauge), quarksmith_free(context);
  free_lattice(&l);
}

/* A sign in the links is found; a boundary that is given replaces it; a twist. The lattice cannot be cut into lanes. */
void test_boundary(const char* device) {
  static const int uncut[4] = {2, 6, 2, 6};
  lattice l = make_lattice(uncut, 1.0, 13);
  quarksmith_context* context = NULL;
  check_ok(quarksmith_open(device, uncut, &context), "open");
  number *in = random_spinor(&l, 1), *out = random_spinor(&l, 2), *expected = random_spinor(&l, 3);
  quarksmith_gauge* plain = load_gauge(context, &l);

  lattice folded = make_lattice(uncut, 1.0, 13);
  for (int site = 0; site < l.sites; ++site) {
    int x[4];
    coordinates_of(&l, site, x);
    for (int k = 0; k < 9 && x[1] == uncut[1] - 1; ++k) folded.links[9 * (4 * site + 1) + k] *= -1;
  }
  quarksmith_gauge* gauge = load_gauge(context, &folded);
  double angle[4], both[2][3];
  check_ok(quarksmith_gauge_phase(gauge, angle), "phase");
  check(angle[0] == 0 && angle[1] == 1 && angle[2] == 0 && angle[3] == 0, "the sign of y is found");
  check_ok(quarksmith_gauge_plaquette(gauge, both[0]), "plaquette");
  check_ok(quarksmith_gauge_plaquette(plain, both[1]), "plaquette");
  check_below(fabs(both[0][0] - both[1][0]), 1e-15, "signs do not change the plaquette");
  dslash(gauge, action_of(&l), 0, out, in);
  l.phase[1] = -1, l.phase[3] = 1;
  hop(&l, degrand_rossi, 2, 0, expected, in);
  check_below(distance(out, expected, 12 * l.sites), 1e-14, "phases of the links");
  dslash(gauge, options("%s boundary=antiperiodic", action_of(&l)), 0, out, in);
  l.phase[1] = 1, l.phase[3] = -1;
  hop(&l, degrand_rossi, 2, 0, expected, in);
  check_below(distance(out, expected, 12 * l.sites), 1e-14, "phases of the option");

  l.phase[0] = cexp(I * acos(-1.0) * 0.3);
  dslash(plain, options("%s boundary=0.3,0,0,1", action_of(&l)), 0, out, in);
  hop(&l, degrand_rossi, 2, 0, expected, in);
  check_below(distance(out, expected, 12 * l.sites), 1e-14, "a twist");
  free(in), free(out), free(expected);
  quarksmith_free(gauge), quarksmith_free(plain), quarksmith_free(context);
  free_lattice(&l), free_lattice(&folded);
}
