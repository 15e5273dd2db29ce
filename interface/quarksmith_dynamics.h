/** \file
 * A part of quarksmith.h, which includes it: forces and actions of molecular dynamics, for codes that make
 * configurations (docs/howto-forces.md). */
#ifndef QUARKSMITH_DYNAMICS_H
#define QUARKSMITH_DYNAMICS_H

#ifndef QUARKSMITH_H
#error "include quarksmith.h"
#endif

/** Links U of a gauge field and momenta P = 0, in double on the device. H = sum -tr P^2 + S, U' = exp(step P) U. The
 * links must be SU(3); those that are so only to single precision are replaced by the nearest SU(3) matrices. Quarks
 * keep the boundary phases that were found in the links. */
quarksmith_status quarksmith_dynamics_create(quarksmith_gauge* gauge, quarksmith_dynamics** dynamics);
/** Copies links from the caller's arrays, or into them; they must have the same boundary phases as the first links. */
quarksmith_status quarksmith_dynamics_set_links(quarksmith_dynamics* dynamics, const void* const* links,
                                                const quarksmith_link_format* format);
quarksmith_status quarksmith_dynamics_get_links(quarksmith_dynamics* dynamics, void* const* links,
                                                const quarksmith_link_format* format);
/** Copies momenta likewise: a matrix for each link, P = i p_a T_a with tr T_a T_b = 1/2, in arrays as of links.
 * QUARKSMITH_BAD_DATA if one is not anti-Hermitian and traceless to single precision; smaller deviations are lost. */
quarksmith_status quarksmith_dynamics_set_momenta(quarksmith_dynamics* dynamics, const void* const* momenta,
                                                  const quarksmith_link_format* format);
quarksmith_status quarksmith_dynamics_get_momenta(quarksmith_dynamics* dynamics, void* const* momenta,
                                                  const quarksmith_link_format* format);
/** Replaces the links by those of a gauge field, with its boundary phases, and keeps the momenta. Quarks that were made
 * before keep the boundary phases that they had. */
quarksmith_status quarksmith_dynamics_use(quarksmith_dynamics* dynamics, quarksmith_gauge* gauge);
/** The present links as a gauge field. */
quarksmith_status quarksmith_dynamics_gauge(quarksmith_dynamics* dynamics, quarksmith_gauge** gauge);
/** Draws momenta with independent Gaussian p_a of standard deviation `width`: 1 with the kinetic term of H; 0: P = 0.
 * The same for any grid of ranks. */
quarksmith_status quarksmith_dynamics_draw(quarksmith_dynamics* dynamics, size_t seed, double width);
/** sum -tr P^2 over sites and directions. */
quarksmith_status quarksmith_dynamics_kinetic(quarksmith_dynamics* dynamics, double* energy);
/** U = exp(step P) U; quarks on these links use the new ones. QUARKSMITH_BAD_DATA where |step P| > 1e6. */
quarksmith_status quarksmith_dynamics_drift(quarksmith_dynamics* dynamics, double step);

/** A gauge action, S = -1/3 sum of c Re tr over its loops, or 1/3 sum of c (3 - Re tr). */
typedef struct {
  size_t size;
  double planes[6]; /**< c of plaquettes in xy, xz, yz, xt, yt, zt; equal if there is a rectangle or chair; default 0 */
  double rectangle; /**< c of 2x1 loops; default 0 */
  double rectangles[6][2];  /**< instead, for the same planes: c of those long in x, in y; in x, in z; ...; default 0 */
  double chair;             /**< c of twisted loops +x +y +z -x -y -z; default 0 */
  int constant;             /**< 1: with the constant that makes S of unit links 0; default 0 */
  double two_plaquettes[3]; /**< c of -c/18 sum Re tr U_p(x) Re tr U_p(x + t) in xy, xz, yz; default 0 */
  double squares[2];        /**< c of -1/9 sum (c_0 |tr U_p|^2 + c_1 Re (tr U_p)^2); default 0 */
} quarksmith_gauge_loops;
quarksmith_status quarksmith_gauge_loops_init(quarksmith_gauge_loops* loops);
quarksmith_status quarksmith_gauge_action(quarksmith_dynamics* dynamics, const quarksmith_gauge_loops* loops,
                                          double* action);
/** P += step dP/dtau of a gauge action. Any force that is not finite: QUARKSMITH_BAD_DATA, and P is unchanged. */
quarksmith_status quarksmith_gauge_force(quarksmith_dynamics* dynamics, const quarksmith_gauge_loops* loops,
                                         double step);

/** The Dirac operator M of a quark. Options: the action as for operators; `even-odd` (symmetric where the action has
 * it, else none; for staggered quarks A = 4 m^2 - D_eo D_oe); `stout-rho`, `stout-steps`, `stout-directions` (xyzt, or
 * xyz: links in space only) of the links in M; `tol` of solves. */
quarksmith_status quarksmith_quark_create(quarksmith_dynamics* dynamics, const char* options, quarksmith_quark** quark);

/** r(A) = constant + sum residues[k] / (A + poles[k]), A = M^+ M. Two flavours: one residue 1, one pole 0. */
typedef struct {
  size_t size;
  double constant;
  int count; /**< of poles */
  const double *residues, *poles;
} quarksmith_rational;
quarksmith_status quarksmith_rational_init(quarksmith_rational* rational);

/** The functions below take `n` vectors of M: host arrays on its sites; with a fifth dimension or two flavours one
 * array for each slice or flavour, those of a vector consecutive. Arrays of staggered quarks are [site][colour];
 * `order` and `basis` of their format are ignored. out = M in or M^+ in, for the heat bath of two flavours. Not for
 * staggered quarks. */
quarksmith_status quarksmith_quark_matrix(quarksmith_quark* quark, int dagger, int n, void* const* out,
                                          const void* const* in, const quarksmith_spinor_format* format);
/** out = r(A) in, all poles in one Krylov space: heat bath and action of RHMC. If a solve misses the tolerance, the
 * status is QUARKSMITH_FAILED and nothing is written. */
quarksmith_status quarksmith_quark_rational(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                            void* const* out, const void* const* in,
                                            const quarksmith_spinor_format* format);
/** action = sum of phi^+ r(A) phi */
quarksmith_status quarksmith_quark_action(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                          const void* const* phi, const quarksmith_spinor_format* format,
                                          double* action);
/** P += step dP/dtau of the action phi^+ r(A) phi; all poles of a vector in one pass over the links. */
quarksmith_status quarksmith_quark_force(quarksmith_quark* quark, const quarksmith_rational* r, int n,
                                         const void* const* phi, const quarksmith_spinor_format* format, double step);
/** Force from vectors of the caller's solver, all in one pass: P += step dP/dtau of -2 sum_k weights[k] Re y_k^+ dM
 * x_k; phi^+ A^-1 phi has x = A^-1 phi, y = M x, weight 1. Staggered: -sum_k weights[k] x_k^+ dA x_k, y NULL. */
quarksmith_status quarksmith_quark_outer(quarksmith_quark* quark, int n, const void* const* x, const void* const* y,
                                         const double* weights, const quarksmith_spinor_format* format, double step);
/** log |det T| over the sites that the even-odd form leaves out; 0 without a clover term. */
quarksmith_status quarksmith_quark_log_det(quarksmith_quark* quark, double* log_det);
/** P += step dP/dtau of -flavours log |det T| */
quarksmith_status quarksmith_quark_log_det_force(quarksmith_quark* quark, double flavours, double step);

#endif
