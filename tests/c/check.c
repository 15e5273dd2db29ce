#include "check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made = 0, bad = 0;

void check(int passed, const char* format, ...) {
  pthread_mutex_lock(&lock);
  ++made;
  if (!passed) {
    ++bad;
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
  }
  pthread_mutex_unlock(&lock);
}

void check_ok(quarksmith_status status, const char* what) {
  check(status == QUARKSMITH_OK, "%s: %s: %s", what, quarksmith_status_name(status), quarksmith_message());
}

void check_below(double value, double limit, const char* what) {
  check(value <= limit, "%s: %g, at most %g", what, value, limit);
}

void refused(quarksmith_status status, quarksmith_status wanted, const char* operand, const char* remedy) {
  const char* text = status == QUARKSMITH_OK ? "" : quarksmith_message();
  check(status == wanted, "%s instead of %s: %s", quarksmith_status_name(status), quarksmith_status_name(wanted), text);
  check(strstr(text, operand) != NULL, "'%s' is not in: %s", operand, text);
  check(strstr(text, remedy) != NULL, "'%s' is not in: %s", remedy, text);
}

int checks(int* failed) {
  *failed = bad;
  return made;
}

quarksmith_gauge* load_gauge(quarksmith_context* context, const lattice* l) {
  quarksmith_link_format format;
  quarksmith_gauge* gauge = NULL;
  const void* links[1] = {l->links};
  quarksmith_link_format_init(&format);
  check_ok(quarksmith_gauge_load(context, links, &format, &gauge), "load");
  return gauge;
}

const char* options(const char* format, ...) {
  static char texts[20][1024];
  static int next = 0;
  char* text = texts[next++ % 20];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof texts[0], format, arguments);
  va_end(arguments);
  check(length >= 0 && length < (int)sizeof texts[0], "options that fit: %s", text);
  return text;
}

const char* action_of(const lattice* l) {
  const int clover = l->csw_r != 0 || l->csw_t != 0;
  const char* all =
      options("action=%s mass=%.17g xi0=%.17g nu=%.17g", clover ? "clover" : "wilson", l->mass, l->xi0, l->nu);
  return clover ? options("%s csw_r=%.17g csw-t=%.17g", all, l->csw_r, l->csw_t) : all;
}

number* random_spinor(const lattice* l, unsigned long long seed) {
  number* psi = malloc(sizeof(number) * 12 * (size_t)l->sites);
  for (int n = 0; n < 12 * l->sites; ++n) {
    const double re = draw(&seed);
    psi[n] = re + I * draw(&seed);
  }
  return psi;
}

void number_sites(const lattice* l, int sites, const int axes[4], int* place) {
  int x[4], counted[3] = {0, 0, 0};
  const int* e = l->extent;
  counted[1] = l->sites / 2; /* odd sites come second */
  for (x[axes[3]] = 0; x[axes[3]] < e[axes[3]]; ++x[axes[3]])
    for (x[axes[2]] = 0; x[axes[2]] < e[axes[2]]; ++x[axes[2]])
      for (x[axes[1]] = 0; x[axes[1]] < e[axes[1]]; ++x[axes[1]])
        for (x[axes[0]] = 0; x[axes[0]] < e[axes[0]]; ++x[axes[0]]) {
          const int kind = sites == QUARKSMITH_EVEN_ODD ? (x[0] + x[1] + x[2] + x[3]) % 2 : 2;
          place[site_at(l, x)] = counted[kind]++;
        }
}

void* spinor_array(const lattice* l) { return calloc((size_t)l->sites, 12 * sizeof(number)); }

static void put(void* array, int precision, long n, number z) {
  if (precision == QUARKSMITH_SINGLE)
    ((float complex*)array)[n] = (float complex)z;
  else
    ((number*)array)[n] = z;
}

static number get(const void* array, int precision, long n) {
  return precision == QUARKSMITH_SINGLE ? (number)((const float complex*)array)[n] : ((const number*)array)[n];
}

/* Place of a component; arrays of one parity leave the other out. */
static long component(const lattice* l, const quarksmith_spinor_format* f, const int* place, int site, int s, int c) {
  int at = place[site];
  if (f->half) at = f->sites == QUARKSMITH_EVEN_ODD ? at % (l->sites / 2) : at / 2;
  return 12l * at + (f->order == QUARKSMITH_COLOUR_SPIN ? 4 * c + s : 3 * s + c);
}

void to_array(const lattice* l, const quarksmith_spinor_format* f, int parity, const number* from, void* to) {
  int* place = malloc(sizeof(int) * (size_t)l->sites);
  number_sites(l, f->sites, f->axes, place);
  for (int site = 0; site < l->sites; ++site)
    for (int n = 0; n < 12; ++n)
      if (parity == 2 || parity_at(l, site) == parity)
        put(to, f->precision, component(l, f, place, site, n / 3, n % 3), from[12 * site + n]);
  free(place);
}

void from_array(const lattice* l, const quarksmith_spinor_format* f, int parity, const void* from, number* to) {
  int* place = malloc(sizeof(int) * (size_t)l->sites);
  number_sites(l, f->sites, f->axes, place);
  for (int site = 0; site < l->sites; ++site)
    for (int n = 0; n < 12; ++n)
      if (parity == 2 || parity_at(l, site) == parity)
        to[12 * site + n] = get(from, f->precision, component(l, f, place, site, n / 3, n % 3));
  free(place);
}

void to_links(const lattice* l, const quarksmith_link_format* f, void* const to[4]) {
  int* place = malloc(sizeof(int) * (size_t)l->sites);
  number_sites(l, f->sites, f->axes, place);
  for (int site = 0; site < l->sites; ++site)
    for (int k = 0; k < 4; ++k)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          const number u = l->links[9 * (4 * site + f->directions[k]) + 3 * a + b];
          const int element = f->colour == QUARKSMITH_COLUMN_MAJOR ? 3 * b + a : 3 * a + b;
          if (f->order == QUARKSMITH_DIRECTION_MAJOR)
            put(to[k], f->precision, 9l * place[site] + element, u);
          else
            put(to[0], f->precision, 9l * (4 * place[site] + k) + element, u);
        }
  free(place);
}
