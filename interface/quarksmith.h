/** \file
 * The C interface of Quarksmith, for C99 and C++: operators and solvers of all actions on host arrays of an existing
 * lattice code, or on fields that stay on the device; forces and actions of molecular dynamics; every command.
 * docs/howto-c.md and docs/howto-forces.md show its use, docs/conventions.md has the formulas.
 *
 * `options` is a text `name=value name=value flag ...` with the names, values and defaults of the options of the
 * command (docs/actions.md, docs/howto-solver.md; quarksmith_help lists them), with `_` or `-` in names. A value with
 * blanks is quoted; several numbers are separated by commas, real and imaginary part by a colon. NULL: no options. An
 * option that is unknown, or belongs to another action, solver or precision, is refused.
 *
 * Every function that can fail returns a status; quarksmith_message() then returns the message for this thread, and
 * quarksmith_handle_message() the last one of a handle. Handles may be used from any thread. Handles of one context
 * share its lock and take turns; different contexts, also on one device, run concurrently.
 *
 * Structs describe the layout of memory and start with their size: call their `_init` function, which also sets
 * defaults, then change members. Strings that are passed in are copied. A NULL pointer is an error unless allowed
 * below. Results are set on success only.
 *
 * Arrays of numbers are (re, im) pairs of double or float. Indices are C order, the last one fastest. In contexts of a
 * GPU they may be in its memory: spinors and links are then copied there alone, all else by way of the host.
 */
#ifndef QUARKSMITH_H
#define QUARKSMITH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- status and messages ------------------------------------------------------------------------------------------ */
/** Result of a call. */
typedef enum {
  QUARKSMITH_OK = 0,
  QUARKSMITH_NOT_CONVERGED = 1,  /**< a solve ended early; the best solution and the reports are there */
  QUARKSMITH_BAD_ARGUMENT = 2,   /**< NULL pointer, number out of range, fields or handles that do not match */
  QUARKSMITH_BAD_STRUCT = 3,     /**< `size` is not that of this version: `_init` not called, or another header */
  QUARKSMITH_UNKNOWN_NAME = 4,   /**< of an option, command, device, precision, link storage, basis, method, format */
  QUARKSMITH_WRONG_LATTICE = 5,  /**< impossible extents, or not those of the context */
  QUARKSMITH_MISSING_KERNEL = 6, /**< the build lacks it; the message is the profile row to add */
  QUARKSMITH_BAD_DATA = 7,       /**< numbers that are not finite, links that are not SU(3) where they must be */
  QUARKSMITH_FILE_ERROR = 8,     /**< cannot be read or written, damaged */
  QUARKSMITH_OUT_OF_MEMORY = 9,  /**< on host or device */
  QUARKSMITH_DEVICE_ERROR = 10,  /**< no such device, or it failed */
  QUARKSMITH_FAILED = 11         /**< anything else, e.g. a solver that broke down */
} quarksmith_status;
/** `QUARKSMITH_OK` and so on; "unknown status" for other numbers. Never NULL. */
const char* quarksmith_status_name(quarksmith_status status);
/** Message of the last call of this thread that failed; empty before. The next failure replaces it. */
const char* quarksmith_message(void);
/** Copies the message of the last call that failed on a handle, in any thread; see quarksmith_version for sizes. */
quarksmith_status quarksmith_handle_message(const void* handle, char* text, size_t size);
/** Releases a handle of any kind; NULL is allowed. Handles are opaque and never reused: every call refuses one that was
 * freed, is of another kind or was not made by this library (QUARKSMITH_BAD_ARGUMENT, the message names the argument);
 * this function ignores it. Handles made from a context may outlive the handle of the context, operators and solvers
 * that of their links. */
void quarksmith_free(void* handle);

/* --- context: a lattice on a device ------------------------------------------------------------------------------- */
typedef struct quarksmith_context quarksmith_context;   /**< a lattice on a device */
typedef struct quarksmith_gauge quarksmith_gauge;       /**< links, in double */
typedef struct quarksmith_field quarksmith_field;       /**< spinors on the device, one or several right-hand sides */
typedef struct quarksmith_operator quarksmith_operator; /**< a Dirac operator to apply */
typedef struct quarksmith_solver quarksmith_solver;     /**< a Dirac operator to invert */
typedef struct quarksmith_shifted quarksmith_shifted;   /**< normal equations with several shifts, solved together */
typedef struct quarksmith_dynamics quarksmith_dynamics; /**< links and momenta of molecular dynamics, on the device */
typedef struct quarksmith_quark quarksmith_quark;       /**< a Dirac operator on such links: actions and forces */
typedef struct quarksmith_result quarksmith_result;     /**< results of a command */

/** Opens a device for a lattice.
 * \param device `cpu`, another target, `TARGET:N` (its device N) or `auto` (a GPU if there is one, else the CPU).
 * \param extent x, y, z, t; all even. CPU kernels use OpenMP; a call for a GPU makes it the thread's current device. */
quarksmith_status quarksmith_open(const char* device, const int extent[4], quarksmith_context** context);

/** Ranks of the calling program that share a lattice. */
typedef struct {
  size_t size;
  int communicator; /**< of MPI, of just these ranks, by its number in Fortran (MPI_Comm_c2f); see quarksmith_mpi.h */
  int grid[4];      /**< ranks along x, y, z, t */
  int axes[4];      /**< the ranks are numbered lexicographically in the grid: directions, the fastest first; default
                         0,1,2,3 (x fastest) */
  /** Instead: the rank at a place of the grid; NULL: by `axes`. Called within quarksmith_open_ranks only. */
  int (*rank_of)(const int place[4], void* data);
  void* data; /**< for rank_of */
} quarksmith_ranks;
quarksmith_status quarksmith_ranks_init(quarksmith_ranks* ranks);
/** Opens a device for the local lattice of this rank. All ranks call this. Arrays, fields and coordinates of this
 * context are those of the local lattice; sums, plaquettes and residuals those of the whole one, the same on all ranks.
 *
 * Calls for such a context are made by all its ranks in the same order, with the same numbers and options; those that
 * describe (names, counts, memory, words), copy one field or free a handle may be made by any of them alone. What one
 * rank refuses is an error of all of them, but for a handle that is null or freed: the others wait. The library talks
 * by a copy of the communicator, which ends with it, and neither starts nor ends MPI; with threads it needs
 * MPI_THREAD_SERIALIZED, for contexts in several threads at a time MPI_THREAD_MULTIPLE and a communicator for each.
 * \param device as for quarksmith_open; with `auto` and targets without a number the ranks of a host take its GPUs in
 * turn. \param extent of the local lattice. */
quarksmith_status quarksmith_open_ranks(const char* device, const int extent[4], const quarksmith_ranks* ranks,
                                        quarksmith_context** context);
/** Opens a context for the group of this rank: with `groups` along x, y, z, t, which divide the grid, neighbouring
 * ranks share the whole lattice anew, each with a local lattice that many times as large. Groups compute on their own,
 * e.g. for sources of their own. All ranks call this. Solvers with `split` form groups for themselves. */
quarksmith_status quarksmith_split(quarksmith_context* context, const int groups[4], quarksmith_context** part);
/** The links of a gauge field on such a context. All ranks that share `gauge` call this. */
quarksmith_status quarksmith_gauge_split(quarksmith_gauge* gauge, quarksmith_context* part, quarksmith_gauge** split);
/** Takes turns with a stream of the caller (NULL: the default one of the GPU) from now on: calls that take arrays in
 * the memory of the GPU begin after what is in it, and what is put there later waits for their results. Without one the
 * caller waits for its own work before such calls, and they return when theirs is done. */
quarksmith_status quarksmith_use_stream(quarksmith_context* context, void* stream);

/** A pool of GPU memory that the library shares with its caller. Both functions get the stream of the library: what is
 * put there after `allocate` uses the memory, what is there at `release` may still do so. They must not call it. */
typedef struct {
  size_t size;
  void* (*allocate)(size_t bytes, void* stream, void* data); /**< NULL: there is no more */
  void (*release)(void* memory, void* stream, void* data);
  void* data; /**< for both */
} quarksmith_pool;
quarksmith_status quarksmith_pool_init(quarksmith_pool* pool);
/** Fields and work space of a context are taken from a pool, which must live as long as anything of the context. To be
 * called before anything is made from the context. */
quarksmith_status quarksmith_use_pool(quarksmith_context* context, const quarksmith_pool* pool);
/** Waits for the device; reports an error that occurred in a kernel. */
quarksmith_status quarksmith_synchronize(quarksmith_context* context);

/** Version of the library, e.g. `0.2.0`. Functions with `text` and `size` copy a string with its final 0 into `size`
 * bytes; if these are too few, the status is QUARKSMITH_BAD_ARGUMENT and the message has the number that is needed. */
const char* quarksmith_version(void);
/** Describes the options of a command, or those of a function `quarksmith_NAME_create` below: `operator`, `solver`,
 * `shifted`, `quark`, `field`. */
quarksmith_status quarksmith_help(const char* name, char* text, size_t size);
/** Number of devices of a target (`cpu`, ...) that can be opened; 0 if it is not built in. */
int quarksmith_devices(const char* target);
/** `cpu` or `TARGET:N`, then model, memory and instruction set. */
quarksmith_status quarksmith_device_name(quarksmith_context* context, char* text, size_t size);
/** Kernels of the build that run on the device of the context: how many, and the name of number `index`. */
quarksmith_status quarksmith_kernel_count(quarksmith_context* context, size_t* count);
quarksmith_status quarksmith_kernel_name(quarksmith_context* context, size_t index, char* text, size_t size);

#include "quarksmith_orders.h"

/* --- links -------------------------------------------------------------------------------------------------------- */
/** Copies links from the caller's arrays. If all links that leave the last slice of a direction share a phase (a sign
 * of antiperiodic boundaries), it is divided out and kept: see quarksmith_gauge_phase.
 * \param links one array (site-major) or four (direction-major). */
quarksmith_status quarksmith_gauge_load(quarksmith_context* context, const void* const* links,
                                        const quarksmith_link_format* format, quarksmith_gauge** gauge);
/** Links 1 with boundary phases in units of pi, for actions whose links are all fields of the caller. */
quarksmith_status quarksmith_gauge_unit(quarksmith_context* context, const double boundary[4],
                                        quarksmith_gauge** gauge);
/** Reads a configuration of any known format (`quarksmith list formats`), recognised by content. Recorded
 * checksums and averages are checked. */
quarksmith_status quarksmith_gauge_read(quarksmith_context* context, const char* path, quarksmith_gauge** gauge);
/** Writes a configuration, links times phase; an older file is kept if this fails.
 * \param format by name: `quarksmith list formats` prints them
 * \param bits 32 or 64 */
quarksmith_status quarksmith_gauge_write(quarksmith_gauge* gauge, const char* path, const char* format, int bits);
/** Copies the links, times phase, into the caller's arrays. */
quarksmith_status quarksmith_gauge_get(quarksmith_gauge* gauge, void* const* links,
                                       const quarksmith_link_format* format);
/** out = the links that a smearing makes of those in arrays, which need not be SU(3), with the phases that they have:
 * `fat7` (parameters: weights of paths of 1, 3, 5, 7 links and of Lepage's; where links hold staggered phases those of
 * 3 and 7 have the other sign, docs/links.md), `naik` (weight of three links in a row), `unitary` (none: the nearest
 * U(3) matrices), `stout` (rho), `stout-space` (rho). `su3` (none): the nearest SU(3) matrices, of links without the
 * phases that the format names. */
quarksmith_status quarksmith_smear_links(quarksmith_context* context, const char* smearing, const double* parameters,
                                         void* const* out, const void* const* in, const quarksmith_link_format* format);
/** Averages of Re tr / 3 over plaquettes: all, planes xy xz yz, planes xt yt zt; computed on the device. */
quarksmith_status quarksmith_gauge_plaquette(quarksmith_gauge* gauge, double plaquette[3]);
/** Means of tr / 3 (re, im) of the products of links, without phases, round the lattice in x, y, z, t. */
quarksmith_status quarksmith_gauge_polyakov(quarksmith_gauge* gauge, double loops[4][2]);
/** Means over sites of tr / 3 (re, im) of the products of links, without phases, along closed paths from a site, each
 * along at most three directions.
 * \param paths steps of each: 0, 1, 2, 3 forward along x, y, z, t; 7, 6, 5, 4 backward.
 * \param lengths of the paths. \param traces a pair for each. */
quarksmith_status quarksmith_gauge_traces(quarksmith_gauge* gauge, int count, const int* const* paths,
                                          const int* lengths, double* traces);
/** Phases found in the links across the last slice of x, y, z, t, in units of pi (1: a sign), and `spread` over all. */
quarksmith_status quarksmith_gauge_phase(quarksmith_gauge* gauge, double angle[4]);
quarksmith_status quarksmith_gauge_spread(quarksmith_gauge* gauge, double angle[4]);
/** Stores a copy of a field that an action takes in addition to the links (docs/howto-action.md). Operators, solvers
 * and quarks made of these links later use it with `field=phi=NAME`, where phi is the name in the action. `count`
 * pairs (re, im) on all sites, x fastest, t slowest; at each site one number (scalars), one of modulus 1 for each
 * direction (phases), [direction][row][column] (links, matrices) or [spin][colour] in the DeGrand-Rossi basis (spinor).
 */
quarksmith_status quarksmith_gauge_field(quarksmith_gauge* gauge, const char* name, size_t count,
                                         const double* numbers);
/** The same for links in arrays of any order, which need not be SU(3): `action=improved-staggered field=fat=NAME
 * field=long=NAME`. Phases that the format names are divided out; those of the boundary must be those of `gauge`.
 * \param length sites of a hop, 3 of long links (which may be 0): so many last slices have links across the boundary.
 */
quarksmith_status quarksmith_gauge_links(quarksmith_gauge* gauge, const char* name, int length,
                                         const void* const* links, const quarksmith_link_format* format);
/** The same for two Hermitian blocks A of a site, such as a clover term and its inverse, of `field=term=NAME` of Wilson
 * quarks: M = T + A - D/2, T that of the action. Where A holds 4 + m too: `action=wilson mass=-4`; with a twisted mass:
 * `action=twisted-clover mass=-4 csw=0`.
 * \param inverse NULL, or numbers that are compared with A^-1: QUARKSMITH_BAD_DATA if they differ by more than 1e-4. */
quarksmith_status quarksmith_gauge_term(quarksmith_gauge* gauge, const char* name, const void* term,
                                        const void* inverse, const quarksmith_term_format* format);

/* --- spinors on the device ---------------------------------------------------------------------------------------- */
/** Creates a field of zeros. Options: `precision`, `basis`, `sites` (all, even, odd), `rhs`, `spins`, `slices`.
 * quarksmith_operator_field makes one that fits an operator. */
quarksmith_status quarksmith_field_create(quarksmith_context* context, const char* options, quarksmith_field** field);
/** Copies an array into right-hand side n, and back; for fields with several slices n is slices times the right-hand
 * side plus the slice. A half field reads and writes its sites only. */
quarksmith_status quarksmith_field_set(quarksmith_field* field, int n, const void* array,
                                       const quarksmith_spinor_format* format);
quarksmith_status quarksmith_field_get(quarksmith_field* field, int n, void* array,
                                       const quarksmith_spinor_format* format);
/** to = from, two different fields of the same kind. */
quarksmith_status quarksmith_field_copy(quarksmith_field* to, quarksmith_field* from);
/** norm2[r] = |x_r|^2 for every right-hand side. */
quarksmith_status quarksmith_norm2(quarksmith_field* x, double* norm2);
/** dot[2 r], dot[2 r + 1] = (re, im) of sum conj(x_r) y_r for every right-hand side. */
quarksmith_status quarksmith_dot(quarksmith_field* x, quarksmith_field* y, double* dot);
/** y = a x + b y for all right-hand sides; a and b are (re, im). */
quarksmith_status quarksmith_axpby(const double a[2], quarksmith_field* x, const double b[2], quarksmith_field* y);

/** Describes the memory of a field after waiting for the device. The caller must wait for its own kernels before it
 * calls the library again. On GPUs word n of site s = (((t Z + z) Y + y) X + x) / 2 is number
 * (s - s % b) * site_words + ((n / v) * b + s % b) * v + n % v, v = vector_words and b = block_sites; add odd for odd
 * sites of a full field. */
quarksmith_status quarksmith_field_describe(quarksmith_field* field, quarksmith_field_memory* memory);
/** Index of word `n` of site x (its first copy) of right-hand side 0: the rule above for any device and lattice. */
quarksmith_status quarksmith_field_word(quarksmith_field* field, const int x[4], int n, size_t* word);

/* --- Dirac operators ---------------------------------------------------------------------------------------------- */
/** Prepares an operator; its site terms (clover) are built and inverted here. Options: `action` (wilson) with its
 * parameters, `boundary` (as found in the links, else antiperiodic in time), `ls`, `flavours`, `field`; `precision`
 * (double), `even-odd` (none), `parity` (even: sites of the even-odd form), `reconstruct`, `basis`. */
quarksmith_status quarksmith_operator_create(quarksmith_gauge* gauge, const char* options, quarksmith_operator** op);
/** Creates a field of zeros that fits the operator, on the sites QUARKSMITH_EVEN, _ODD or _FULL. */
quarksmith_status quarksmith_operator_field(quarksmith_operator* op, int sites, int rhs, quarksmith_field** field);
/** out = D in (dagger 0) or D^+ in (1) at the sites of `parity`, on the device; D is the hopping term of M = T + h D;
 * for four-dimensional actions made of hops, of one flavour. The other sites of full fields are unchanged.
 * The work may still run when the call returns: quarksmith_synchronize. */
quarksmith_status quarksmith_dslash(quarksmith_operator* op, int parity, int dagger, quarksmith_field* out,
                                    quarksmith_field* in);
/** out = A in (dagger 0) or A^+ in (1): A is M on full fields, or with `even-odd` its even-odd form on those of its
 * `parity`. */
quarksmith_status quarksmith_matrix(quarksmith_operator* op, int dagger, quarksmith_field* out, quarksmith_field* in);
/** Makes the right-hand side of the even-odd system A x_e = reduced from b of M x = b, and x from its solution x_e;
 * with `parity=odd` x_o. */
quarksmith_status quarksmith_reduce(quarksmith_operator* op, quarksmith_field* reduced, quarksmith_field* b);
quarksmith_status quarksmith_reconstruct(quarksmith_operator* op, quarksmith_field* x, quarksmith_field* reduced,
                                         quarksmith_field* b);
/** D and A for `n` pairs of host arrays; with a fifth dimension or two flavours one array for each slice or flavour,
 * those of a vector consecutive. out[i] may be in[i]. In arrays of all sites those of the other parity are unchanged.
 * Arrays of staggered quarks are [site][colour]; `order` and `basis` of their format are ignored. */
quarksmith_status quarksmith_dslash_host(quarksmith_operator* op, int parity, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format);
quarksmith_status quarksmith_matrix_host(quarksmith_operator* op, int dagger, int n, void* const* out,
                                         const void* const* in, const quarksmith_spinor_format* format);
/** log |det T| over the sites of a parity, for a site term T made of fields such as the clover term; for others
 * QUARKSMITH_BAD_ARGUMENT. */
quarksmith_status quarksmith_term_log_det(quarksmith_operator* op, int parity, double* log_det);

/* --- solvers ------------------------------------------------------------------------------------------------------ */
/** Report on the solve of one right-hand side. */
typedef struct {
  size_t size;
  int iterations;
  int converged;   /**< 1 or 0 */
  double residual; /**< |b - M x| / |b| of the full system, recomputed in double with the links as they were given */
  double seconds;
  double gflops;      /**< GFLOP/s of the operator applications, by the counts of the field */
  const char* method; /**< that gave the solution: with `auto` either `bicgstab` or `cg`; do not free it */
  double heavy_quark; /**< heavy-quark residual where it was asked for, else 0 */
} quarksmith_solve_report;
/** Sets the size; for an array of reports, call it for the first one: the solve sets the others. */
quarksmith_status quarksmith_solve_report_init(quarksmith_solve_report* report);

/** Prepares a solver. Options: the action as for operators; the solver options of `quarksmith propagator`:
 * `solver` (auto), `precision` (double; double-single, ...), `tol` (1e-10: |b - M x| / |b| of the full system),
 * `slice-tol` (0: none; |b - M x| / |x| on each time slice), `max-iterations`, `even-odd`, `reconstruct`, `basis`, ...,
 * `deflate` (FILE of eigenvectors, or their number), for multigrid `mg`, `mg-load`, `mg-save`, ...; `batch`;
 * the flag `guess`: solves begin with the x passed in. */
quarksmith_status quarksmith_solver_create(quarksmith_gauge* gauge, const char* options, quarksmith_solver** solver);
/** The same with `solver=multigrid`, which is set up at once, and begins with the near-null vectors of `before`: of
 * other links of this lattice, or other parameters. NULL: from noise. \param adapt 1: they are adapted to these links
 * first; 0: levels are made of them as they are. */
quarksmith_status quarksmith_solver_follow(quarksmith_gauge* gauge, const char* options, quarksmith_solver* before,
                                           int adapt, quarksmith_solver** solver);
/** Another tolerance and limit of iterations for later solves. */
quarksmith_status quarksmith_solver_limits(quarksmith_solver* solver, double tol, int max_iterations);
/** x[i] = M^-1 b[i] for `n` pairs of host arrays of all sites, none of which overlap: quark fields in four dimensions,
 * also for M with a fifth dimension.
 * \param reports n reports, or NULL.
 * \return QUARKSMITH_NOT_CONVERGED if any right-hand side missed the tolerance: all x are written then too. */
quarksmith_status quarksmith_solve(quarksmith_solver* solver, int n, void* const* x, const void* const* b,
                                   const quarksmith_spinor_format* format, quarksmith_solve_report* reports);
/** Solves M x = b for full fields of precision `double`; one report for each right-hand side. */
quarksmith_status quarksmith_solve_fields(quarksmith_solver* solver, quarksmith_field* x, quarksmith_field* b,
                                          quarksmith_solve_report* reports);

/** Prepares solves of (A^+ A + shift) x = b for up to `shifts` shifts in one Krylov space: rational functions of A^+ A.
 * A is M with `even-odd` none, else its even-odd form (symmetric) on the sites of `parity` (even); of staggered quarks
 * A^+ A is then 4 m^2 - D_eo D_oe, and arrays are [site][colour]. Options as for solvers, without `solver`; `tol` is on
 * |b - (A^+ A + shift) x| / |b|. Links in temporal gauge are refused. Flags: `guess`, solves of one shift begin with
 * the x passed in; `together`, all shifts go on until the smallest is done, which alone has to reach `tol`. */
quarksmith_status quarksmith_shifted_create(quarksmith_gauge* gauge, const char* options, int shifts,
                                            quarksmith_shifted** solver);
/** Another tolerance and limit of iterations for later solves. \param heavy_quark 0, or with `guess` a tolerance of the
 * heavy-quark residual, (mean over sites of |r|^2 / |x|^2)^(1/2), which has to be reached as well as `tol`. */
quarksmith_status quarksmith_shifted_limits(quarksmith_shifted* solver, double tol, int max_iterations,
                                            double heavy_quark);
/** x[i] = (A^+ A + shifts[i])^-1 b for n shifts, none negative, as host arrays on the sites of A; b is not one of x.
 * With a fifth dimension or two flavours the slices of a vector follow one another in its array.
 * \param reports n reports, or NULL. \return as quarksmith_solve. */
quarksmith_status quarksmith_shifted_solve(quarksmith_shifted* solver, int n, const double* shifts, void* const* x,
                                           const void* b, const quarksmith_spinor_format* format,
                                           quarksmith_solve_report* reports);

#include "quarksmith_dynamics.h"

/* --- commands: eigenvectors, measurements, configurations, multigrid ---------------------------------------------- */
/** Runs a command of `quarksmith` in this process, all but `sweep`, `completion` and `man`: `eigen`, `measure`,
 * `multigrid`, `propagator`, `heatbath`, `hmc`, `smear`, `flow`, ... Its options are those of its command line; its
 * positional arguments have the names that quarksmith_help shows: "run=RUN.toml out=FILE.h5". Commands take turns.
 * \param context provides the device, unless the option `device` names another, and owns the fields of the result.
 * \param gauge the links that the word `links` means in place of a configuration in options and run files; or NULL.
 * \param result or NULL. */
quarksmith_status quarksmith_run(quarksmith_context* context, const char* command, const char* options,
                                 quarksmith_gauge* gauge, quarksmith_result** result);
/** Texts of a result: the JSON (`null` if there is none), the output, the log. */
enum { QUARKSMITH_JSON = 0, QUARKSMITH_PRINTED = 1, QUARKSMITH_LOG = 2 };
/** Returns a text of a result: `which` is QUARKSMITH_JSON, _PRINTED or _LOG. It is valid as long as the result. */
quarksmith_status quarksmith_result_text(quarksmith_result* result, int which, const char** text);
/** Links at the end of heatbath, hmc, smear and flow. */
quarksmith_status quarksmith_result_gauge(quarksmith_result* result, quarksmith_gauge** gauge);
/** Columns of propagator (spin slower than colour), or vectors of eigen on all sites, as right-hand sides in double. */
quarksmith_status quarksmith_result_field(quarksmith_result* result, quarksmith_field** field);

#ifdef __cplusplus
}
#endif

#endif
