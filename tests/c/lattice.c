#include "lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* DeGrand and Rossi; gamma_i = (0, i sigma_i; -i sigma_i, 0) but for the sign of gamma_y, gamma_t = (0, 1; 1, 0). */
const gammas degrand_rossi = {{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}},
                              {{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}},
                              {{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}},
                              {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}};
/* UKQCD: gamma_i = (0, i sigma_i; -i sigma_i, 0), gamma_t = diag(1, 1, -1, -1). */
const gammas ukqcd = {{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}},
                      {{0, 0, 0, 1}, {0, 0, -1, 0}, {0, -1, 0, 0}, {1, 0, 0, 0}},
                      {{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}},
                      {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}};

double draw(unsigned long long* state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(long long)(*state >> 11) / 4503599627370496.0 - 1;
}

int site_at(const lattice* l, const int x[4]) {
  return ((x[3] * l->extent[2] + x[2]) * l->extent[1] + x[1]) * l->extent[0] + x[0];
}

void coordinates_of(const lattice* l, int site, int x[4]) {
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = site % l->extent[mu];
    site /= l->extent[mu];
  }
}

int parity_at(const lattice* l, int site) {
  int x[4];
  coordinates_of(l, site, x);
  return (x[0] + x[1] + x[2] + x[3]) % 2;
}

static int step(const lattice* l, int site, int mu, int by) {
  int x[4];
  coordinates_of(l, site, x);
  x[mu] = (x[mu] + by + l->extent[mu]) % l->extent[mu];
  return site_at(l, x);
}

lattice make_lattice(const int extent[4], double epsilon, unsigned long long seed) {
  lattice l = {.sites = 1, .xi0 = 1, .nu = 1, .phase = {1, 1, 1, -1}};
  for (int mu = 0; mu < 4; ++mu) l.sites *= l.extent[mu] = extent[mu];
  l.links = malloc(sizeof(number) * 36 * (size_t)l.sites);
  for (int n = 0; n < 4 * l.sites; ++n) {
    number* u = l.links + 9 * n;
    for (int i = 0; i < 9; ++i) {
      const double re = draw(&seed), im = draw(&seed);
      u[i] = (i % 4 == 0) + epsilon * (re + I * im);
    }
    for (int row = 0; row < 2; ++row) {
      number overlap = 0;
      double norm = 0;
      for (int j = 0; j < 3; ++j) overlap += conj(u[j]) * u[3 * row + j];
      for (int j = 0; j < 3 && row == 1; ++j) u[3 + j] -= overlap * u[j];
      for (int j = 0; j < 3; ++j) norm += creal(u[3 * row + j] * conj(u[3 * row + j]));
      for (int j = 0; j < 3; ++j) u[3 * row + j] /= sqrt(norm);
    }
    for (int j = 0; j < 3; ++j) {
      const int k = (j + 1) % 3, m = (j + 2) % 3;
      u[6 + j] = conj(u[k] * u[3 + m] - u[m] * u[3 + k]);
    }
  }
  return l;
}

void free_lattice(lattice* l) { free(l->links); }

typedef struct {
  number m[3][3];
} su3;

static su3 link_at(const lattice* l, int site, int mu) {
  su3 u;
  memcpy(u.m, l->links + 9 * (4 * site + mu), sizeof u.m);
  return u;
}

static su3 times(su3 a, su3 b) {
  su3 c = {{{0}}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c.m[i][j] += a.m[i][k] * b.m[k][j];
  return c;
}

static su3 adjoint(su3 a) {
  su3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c.m[i][j] = conj(a.m[j][i]);
  return c;
}

/* The link of one step, forward (by 1) or backward (by -1): the product along a path is the product of these. */
static su3 parallel(const lattice* l, int site, int mu, int by) {
  return by > 0 ? link_at(l, site, mu) : adjoint(link_at(l, step(l, site, mu, -1), mu));
}

/* Product around the square that starts at `site` along a*mu, then b*nu. */
static su3 square(const lattice* l, int site, int mu, int a, int nu, int b) {
  su3 u = parallel(l, site, mu, a);
  int at = step(l, site, mu, a);
  u = times(u, parallel(l, at, nu, b));
  at = step(l, at, nu, b);
  u = times(u, parallel(l, at, mu, -a));
  at = step(l, at, mu, -a);
  return times(u, parallel(l, at, nu, -b));
}

double plaquette_of(const lattice* l) {
  double sum = 0;
  for (int site = 0; site < l->sites; ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu) {
        const su3 p = square(l, site, mu, 1, nu, 1);
        sum += creal(p.m[0][0] + p.m[1][1] + p.m[2][2]) / 3;
      }
  return sum / (6.0 * l->sites);
}

/* out[spin][colour] += factor (spin matrix) x (colour matrix) in */
static void add(number* out, number factor, number spin[4][4], const su3* u, const number* in) {
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      if (spin[r][s] == 0) continue;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * r + i] += factor * spin[r][s] * u->m[i][j] * in[3 * s + j];
    }
}

void hop(const lattice* l, const gammas basis, int parity, int dagger, number* out, const number* in) {
  for (int site = 0; site < l->sites; ++site) {
    if (parity != 2 && parity_at(l, site) != parity) continue;
    number sum[12] = {0};
    int x[4];
    coordinates_of(l, site, x);
    for (int mu = 0; mu < 4; ++mu)
      for (int by = 1; by >= -1; by -= 2) {
        number project[4][4];
        const double sign = dagger ? by : -by; /* 1 - gamma forward; D^+ has the signs of gamma turned */
        for (int r = 0; r < 4; ++r)
          for (int s = 0; s < 4; ++s) project[r][s] = (r == s) + sign * basis[mu][r][s];
        number factor = mu < 3 ? l->nu / l->xi0 : 1;
        if (by > 0 && x[mu] == l->extent[mu] - 1) factor *= l->phase[mu];
        if (by < 0 && x[mu] == 0) factor *= conj(l->phase[mu]);
        const su3 u = parallel(l, site, mu, by);
        add(sum, factor, project, &u, in + 12 * step(l, site, mu, by));
      }
    memcpy(out + 12 * site, sum, sizeof sum);
  }
}

/* out += c (i/4) (sigma_munu F_munu + sigma_numu F_numu) in for a plane mu < nu: sigma = (i/2) [gamma_mu, gamma_nu],
 * F = (Q - Q^+)/8 from the four leaves; both are antisymmetric. */
static void add_clover(const lattice* l, const gammas basis, int site, int mu, int nu, double c, number* out,
                       const number* in) {
  static const int leaf[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
  su3 f = {{{0}}};
  for (int k = 0; k < 4; ++k) {
    /* All four counter-clockwise in the (mu, nu) plane: where the signs differ the path starts along nu. */
    const int a = leaf[k][0], b = leaf[k][1];
    const su3 q = a == b ? square(l, site, mu, a, nu, b) : square(l, site, nu, b, mu, a);
    const su3 p = adjoint(q);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) f.m[i][j] += (q.m[i][j] - p.m[i][j]) / 8;
  }
  number commutator[4][4] = {{0}};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      for (int k = 0; k < 4; ++k)
        commutator[r][s] += basis[mu][r][k] * basis[nu][k][s] - basis[nu][r][k] * basis[mu][k][s];
  add(out, c * (I / 4) * 2 * (I / 2), commutator, &f, in);
}

void matrix(const lattice* l, const gammas basis, int dagger, number* out, const number* in) {
  hop(l, basis, 2, dagger, out, in);
  const double diagonal = l->mass + 1 + 3 * l->nu / l->xi0;
  for (int n = 0; n < 12 * l->sites; ++n) out[n] = diagonal * in[n] - out[n] / 2;
  if (l->csw_r == 0 && l->csw_t == 0) return;
  for (int site = 0; site < l->sites; ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu)
        add_clover(l, basis, site, mu, nu, nu == 3 ? l->csw_t : l->csw_r / l->xi0, out + 12 * site, in + 12 * site);
}

double log_det_of(const lattice* l, int parity) {
  double sum = 0;
  for (int site = 0; site < l->sites; ++site) {
    if (parity_at(l, site) != parity) continue;
    number t[12][12] = {{0}}; /* transposed: row j is T applied to unit vector j */
    for (int j = 0; j < 12; ++j) {
      number unit[12] = {0};
      unit[j] = 1;
      t[j][j] = l->mass + 1 + 3 * l->nu / l->xi0;
      for (int mu = 0; mu < 4; ++mu)
        for (int nu = mu + 1; nu < 4; ++nu)
          add_clover(l, degrand_rossi, site, mu, nu, nu == 3 ? l->csw_t : l->csw_r / l->xi0, t[j], unit);
    }
    for (int k = 0; k < 12; ++k) { /* Gauss; the diagonal dominates */
      sum += log(cabs(t[k][k]));
      for (int i = k + 1; i < 12; ++i) {
        const number factor = t[i][k] / t[k][k];
        for (int j = k; j < 12; ++j) t[i][j] -= factor * t[k][j];
      }
    }
  }
  return sum;
}

double distance(const number* a, const number* b, int n) {
  double difference = 0, size = 0;
  for (int i = 0; i < n; ++i) {
    const number d = a[i] - b[i];
    difference += creal(d * conj(d));
    size += creal(b[i] * conj(b[i]));
  }
  return sqrt(difference / size);
}
