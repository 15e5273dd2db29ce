/** \file
 * An independent Wilson-clover operator in plain C: whole gamma matrices, all nine elements of a link, complex double,
 * sites in lexicographic order. It shares nothing with the library but docs/conventions.md.
 */
#ifndef LATTICE_H
#define LATTICE_H

#include <complex.h>

typedef double complex number;
/** Links: [site][mu][3][3], site = ((t Z + z) Y + y) X + x, and the action. */
typedef struct {
  int extent[4], sites;
  number* links;
  double mass, xi0, nu, csw_r, csw_t;
  number phase[4]; /**< of the hop across the last slice of each direction */
} lattice;

/** A basis of gamma matrices, gamma[mu][row][column]. */
typedef number gammas[4][4][4];
extern const gammas degrand_rossi;
extern const gammas ukqcd;

/** A pseudo-random number in (-1, 1), the same sequence for a seed on every machine. */
double draw(unsigned long long* state);
/** SU(3) links, near 1 for small epsilon: Gram-Schmidt on 1 + epsilon R, R uniform. Antiperiodic in time, massless. */
lattice make_lattice(const int extent[4], double epsilon, unsigned long long seed);
void free_lattice(lattice* l);

int site_at(const lattice* l, const int x[4]);
void coordinates_of(const lattice* l, int site, int x[4]);
int parity_at(const lattice* l, int site);
/** Mean of Re tr / 3 over all plaquettes. */
double plaquette_of(const lattice* l);
/** out = D in, or D^+ in, at the sites of `parity` (2: all); spinors [site][spin][colour] in a basis. */
void hop(const lattice* l, const gammas basis, int parity, int dagger, number* out, const number* in);
/** out = M in or M^+ in. */
void matrix(const lattice* l, const gammas basis, int dagger, number* out, const number* in);
/** Sum over the sites of a parity of log |det T|, T = m + 1 + 3 nu/xi0 + clover. */
double log_det_of(const lattice* l, int parity);
/** |a - b| / |b| of n numbers. */
double distance(const number* a, const number* b, int n);

#endif
