/** \file
 * A part of quarksmith.h, which includes it: orders of the caller's arrays. docs/howto-c.md has the settings for the
 * arrays of other codes. */
#ifndef QUARKSMITH_ORDERS_H
#define QUARKSMITH_ORDERS_H

#ifndef QUARKSMITH_H
#error "include quarksmith.h"
#endif

/** Precision of the numbers of an array. */
enum { QUARKSMITH_DOUBLE = 0, QUARKSMITH_SINGLE = 1 };
/** Order of sites. Lexicographic: `axes[0]` fastest, `axes[3]` slowest. Even-odd: all even sites in that order, then
 * all odd ones; site number n in lexicographic order is number n/2 of its parity. Parity is (x + y + z + t) mod 2. */
enum { QUARKSMITH_LEXICOGRAPHIC = 0, QUARKSMITH_EVEN_ODD = 1 };
/** Site-major: one array [site][mu][3][3]. Direction-major: four arrays [site][3][3], one for each direction. */
enum { QUARKSMITH_SITE_MAJOR = 0, QUARKSMITH_DIRECTION_MAJOR = 1 };
/** Of the two colour indices of U_ab, psi'_a = U_ab psi_b, the fastest is b (row-major) or a (column-major). */
enum { QUARKSMITH_ROW_MAJOR = 0, QUARKSMITH_COLUMN_MAJOR = 1 };
/** A site of a spinor field is [spin][colour] or [colour][spin]. */
enum { QUARKSMITH_SPIN_COLOUR = 0, QUARKSMITH_COLOUR_SPIN = 1 };
/** Parities, and which sites a field or an array holds. */
enum { QUARKSMITH_EVEN = 0, QUARKSMITH_ODD = 1, QUARKSMITH_FULL = 2 };

/** Layout of links or momenta in host memory. */
typedef struct {
  size_t size;
  int precision;     /**< QUARKSMITH_DOUBLE (default) or _SINGLE */
  int sites;         /**< QUARKSMITH_LEXICOGRAPHIC (default) or _EVEN_ODD */
  int axes[4];       /**< directions of the coordinates, the fastest first; default 0,1,2,3 (x fastest, t slowest) */
  int order;         /**< QUARKSMITH_SITE_MAJOR (default) or _DIRECTION_MAJOR */
  int directions[4]; /**< directions mu in the order in which their links or arrays stand; default 0,1,2,3 */
  int colour;        /**< QUARKSMITH_ROW_MAJOR (default) or _COLUMN_MAJOR */
  /** Bytes from a site to the next one in an array, such as the size of a struct that holds all fields of a site;
   * default 0: nothing else stands between the sites. */
  size_t stride;
  /** Real numbers of a matrix. 18 (default): (re, im) of nine elements. Of momenta P also 10 (MILC, QUDA): (re, im) of
   * P_01, P_02, P_12, then the imaginary parts of P_00, P_11, P_22 and one number that is not used; 9: without that; 8:
   * the p_a of P = i p_a lambda_a / 2, lambda_a the Gell-Mann matrices. */
  int reals;
  /** Staggered phases that links hold and that are divided out: eta_mu(x) = (-1)^s, s the sum of the coordinates of the
   * directions that stand before mu in this list. 3,0,1,2: t first (MILC, improved_staggered); 0,1,2,3: x first
   * (staggered); 3,2,1,0 (TIFR); default 0,0,0,0: none. */
  int eta[4];
  /** Phases in units of pi (1: a sign) that links across the last slice of x, y, z, t hold and that are divided out;
   * default 0: looked for, if the links are SU(3). */
  double boundary[4];
  /** 1: links of a direction may share a phase exp(i pi a), as of a boundary condition that is spread over them
   * (tmLQCD). It is divided out and is exp(i pi a L) of the boundary; quarksmith_gauge_spread has a. Default 0: such
   * links are U(3). */
  int spread;
} quarksmith_link_format;
quarksmith_status quarksmith_link_format_init(quarksmith_link_format* format);

/** Layout of spinors in host memory. */
typedef struct {
  size_t size;
  int precision;     /**< QUARKSMITH_DOUBLE (default) or _SINGLE */
  int sites;         /**< QUARKSMITH_LEXICOGRAPHIC (default) or _EVEN_ODD */
  int axes[4];       /**< as for links */
  int order;         /**< QUARKSMITH_SPIN_COLOUR (default) or _COLOUR_SPIN */
  int half;          /**< 1: an array holds only the sites of the parity that is read or written; default 0: all */
  const char* basis; /**< `degrand_rossi` (default), `ukqcd`, `chiral`, or one of the build, e.g. `non_relativistic` */
  size_t stride;     /**< as for links; of arrays of one parity from a site of this parity to the next one */
  /** Beside links with such phases the angles a: the array holds exp(-i pi sum a_mu x_mu) psi(x), x in the whole
   * lattice; default 0. */
  double spread[4];
} quarksmith_spinor_format;
quarksmith_status quarksmith_spinor_format_init(quarksmith_spinor_format* format);

/** Order of the 72 real numbers of a site term, which is two Hermitian 6x6 blocks A, the first where gamma_5 is 1.
 * Rows: A_ii of both blocks, then (re, im) of A_ij, i > j, at place i (i - 1)/2 + j of each (QDP++, Chroma). Columns:
 * for each block A_ii, then (re, im) of A_10, A_20, ..., A_50, A_21, ..., A_54 (packed order of QUDA, QOPQDP). */
enum { QUARKSMITH_ROWS = 0, QUARKSMITH_COLUMNS = 1 };

/** Layout of site terms in host memory, in the DeGrand-Rossi basis. */
typedef struct {
  size_t size;
  int precision; /**< QUARKSMITH_DOUBLE (default) or _SINGLE */
  int sites;     /**< QUARKSMITH_LEXICOGRAPHIC (default) or _EVEN_ODD */
  int axes[4];   /**< as for links */
  int order;     /**< QUARKSMITH_ROWS (default) or _COLUMNS */
  int index;     /**< i = 3 s + c of spin s and colour c of a block: QUARKSMITH_SPIN_COLOUR (default); 2 c + s:
                      QUARKSMITH_COLOUR_SPIN (QOPQDP) */
  size_t stride; /**< as for links */
  double scale;  /**< A is so many times the numbers: 1 (default); 1 / (2 kappa) of those beside 1 - kappa D */
} quarksmith_term_format;
quarksmith_status quarksmith_term_format_init(quarksmith_term_format* format);

/** Memory layout of a field on the device, for kernels of the caller. */
typedef struct {
  size_t size;
  void* data;       /**< first word on the device (on the CPU: in memory) */
  float* scales;    /**< one for each site and right-hand side in formats that have them, else NULL */
  size_t words;     /**< words of one right-hand side; the next one follows */
  size_t odd;       /**< words, and scales times site_words, before the odd sites of a full field */
  int word_bytes;   /**< of one word */
  int site_words;   /**< words a site; of Dirac spinors in `double`, `single`: 24, (re, im) of [spin][colour] */
  int vector_words; /**< GPU: consecutive words of a site; 0: see lanes */
  int block_sites;  /**< GPU: sites of a block; the next vector of a site follows those of its block */
  int lanes;        /**< CPU: word n of block b, lane l is number (b * site_words + n) * lanes + l */
  int boxes;        /**< CPU: lanes l, l + boxes, ... hold copies of the same sites, all of which must be written; on
                         most lattices boxes equals lanes */
} quarksmith_field_memory;
quarksmith_status quarksmith_field_memory_init(quarksmith_field_memory* memory);

#endif
