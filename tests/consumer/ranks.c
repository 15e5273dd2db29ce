/* A program with a decomposition, orders and a communicator of its own, which solves on its local lattices:
 * mpirun -n 4 consumer_ranks FILE X,Y,Z,T 1,1,2,2 prints the same on any grid. If several times as many ranks are there
 * as the grid has, groups of them compute the same side by side, each on a communicator of its own. */
#include <mpi.h>
#include <quarksmith_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                     \
  do {                                                \
    if ((status = (call)) != QUARKSMITH_OK) goto end; \
  } while (0)

/* This program numbers its ranks with t fastest; `data` is its grid. */
static int rank_of(const int place[4], void* data) {
  const int* grid = data;
  return ((place[0] * grid[1] + place[1]) * grid[2] + place[2]) * grid[3] + place[3];
}

/* Sites in memory: x slowest, t fastest. */
static void set_axes(int axes[4]) {
  int mu;
  for (mu = 0; mu < 4; ++mu) axes[mu] = 3 - mu;
}

static double sum(MPI_Comm comm, const double* numbers, size_t count) {
  double mine = 0, all = 0;
  size_t n;
  for (n = 0; n < count; ++n) mine += numbers[n] * numbers[n];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  return all;
}

/* Links as this program would hand its own over: those of a file, through its arrays. */
static quarksmith_status take_links(quarksmith_context* context, const char* path, size_t sites,
                                    quarksmith_gauge** own) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_gauge* gauge = NULL;
  quarksmith_link_format format;
  double* links = malloc(4 * 18 * sites * sizeof *links);
  void* arrays[4];
  const void* inputs[4];
  int mu;
  if (links == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  TRY(quarksmith_gauge_read(context, path, &gauge));
  TRY(quarksmith_link_format_init(&format));
  set_axes(format.axes);
  format.order = QUARKSMITH_DIRECTION_MAJOR;
  for (mu = 0; mu < 4; ++mu) inputs[mu] = arrays[mu] = links + 18 * sites * (size_t)mu;
  TRY(quarksmith_gauge_get(gauge, arrays, &format));
  TRY(quarksmith_gauge_load(context, inputs, &format, own));
end:
  quarksmith_free(gauge);
  free(links);
  return status;
}

/* What the parts of this program work with. */
typedef struct {
  MPI_Comm comm;
  int rank;
  size_t sites; /* of the local lattice */
  quarksmith_context* context;
  quarksmith_gauge* gauge;
  quarksmith_spinor_format format;
} work_t;

#define ACTION "action=clover mass=0.2 csw=1.1"
enum { COLUMNS = 12, SHIFTS = 3 };

static double* spinors(const work_t* w, size_t count) {
  double* numbers = calloc(24 * w->sites * count, sizeof *numbers);
  if (numbers == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return numbers;
}

/* Solves for all 12 components of a point source at the origin, and computes the residuals itself. */
static quarksmith_status solve(const work_t* w) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_solver* solver = NULL;
  quarksmith_operator* op = NULL;
  quarksmith_solve_report reports[COLUMNS];
  size_t n, k, size = 24 * w->sites;
  double *b = spinors(w, COLUMNS), *x = spinors(w, COLUMNS), *r = spinors(w, COLUMNS), norm, worst = 0;
  const void *in[COLUMNS], *solved[COLUMNS];
  void *out[COLUMNS], *applied[COLUMNS];
  for (n = 0; n < COLUMNS; ++n) {
    if (w->rank == 0) b[n * size + 2 * n] = 1; /* at 0,0,0,0, which rank 0 has */
    in[n] = b + n * size, solved[n] = out[n] = x + n * size, applied[n] = r + n * size;
  }
  TRY(quarksmith_solver_create(w->gauge, ACTION " tol=1e-10", &solver));
  TRY(quarksmith_solve_report_init(reports));
  TRY(quarksmith_solve(solver, 1, out, in, &w->format, reports)); /* one alone */
  norm = sum(w->comm, x, size);
  if (w->rank == 0) printf("%d iterations, |x|^2 %.10f\n", reports[0].iterations, norm);
  TRY(quarksmith_solve(solver, COLUMNS, out, in, &w->format, reports));
  TRY(quarksmith_operator_create(w->gauge, ACTION, &op));
  TRY(quarksmith_matrix_host(op, 0, COLUMNS, applied, solved, &w->format));
  for (k = 0; k < COLUMNS * size; ++k) r[k] -= b[k];
  for (n = 0; n < COLUMNS; ++n) {
    const double residual = sum(w->comm, r + n * size, size);
    if (residual > worst) worst = residual;
  }
  norm = sum(w->comm, x, COLUMNS * size);
  if (w->rank == 0) printf("12 columns: |x|^2 %.9f, residuals %s\n", norm, worst < 1e-20 ? "below 1e-10" : "too large");
  TRY(quarksmith_dslash_host(op, QUARKSMITH_EVEN, 0, 1, applied, solved, &w->format));
  norm = sum(w->comm, r, size);
  if (w->rank == 0) printf("Dslash: %.9f\n", norm);
end:
  quarksmith_free(op);
  quarksmith_free(solver);
  free(b), free(x), free(r);
  return status;
}

/* (M^+ M + shift) x = b for some shifts at once. */
static quarksmith_status shifted(const work_t* w) {
  static const double shifts[SHIFTS] = {0.01, 0.1, 1};
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_shifted* solver = NULL;
  double *b = spinors(w, 1), *x = spinors(w, SHIFTS), norm;
  void* out[SHIFTS];
  int n;
  for (n = 0; n < SHIFTS; ++n) out[n] = x + 24 * w->sites * (size_t)n;
  if (w->rank == 0) b[0] = 1;
  TRY(quarksmith_shifted_create(w->gauge, ACTION " even-odd=none tol=1e-10", SHIFTS, &solver));
  TRY(quarksmith_shifted_solve(solver, SHIFTS, shifts, out, b, &w->format, NULL));
  for (n = 0; n < SHIFTS; ++n) {
    norm = sum(w->comm, x + 24 * w->sites * (size_t)n, 24 * w->sites);
    if (w->rank == 0) printf("shift %g: |x|^2 %.9f\n", shifts[n], norm);
  }
end:
  quarksmith_free(solver);
  free(b), free(x);
  return status;
}

/* Momenta and links after one step by the forces of plaquettes and of a pseudofermion field. */
static quarksmith_status forces(const work_t* w) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_dynamics* dynamics = NULL;
  quarksmith_quark* quark = NULL;
  quarksmith_gauge_loops loops;
  quarksmith_rational two_flavours;
  const double one = 1, zero = 0;
  double *phi = spinors(w, 1), kinetic, action;
  const void* vector = phi;
  int n;
  if (w->rank == 0) phi[0] = 3;
  TRY(quarksmith_dynamics_create(w->gauge, &dynamics));
  TRY(quarksmith_gauge_loops_init(&loops));
  for (n = 0; n < 6; ++n) loops.planes[n] = 6;
  TRY(quarksmith_gauge_force(dynamics, &loops, 0.05));
  TRY(quarksmith_quark_create(dynamics, ACTION " tol=1e-12", &quark));
  TRY(quarksmith_rational_init(&two_flavours));
  two_flavours.count = 1, two_flavours.residues = &one, two_flavours.poles = &zero;
  TRY(quarksmith_quark_force(quark, &two_flavours, 1, &vector, &w->format, 0.05));
  TRY(quarksmith_dynamics_kinetic(dynamics, &kinetic));
  TRY(quarksmith_dynamics_drift(dynamics, 0.05));
  TRY(quarksmith_gauge_action(dynamics, &loops, &action));
  if (w->rank == 0) printf("kinetic energy %.9f, then gauge action %.9f\n", kinetic, action);
end:
  quarksmith_free(quark);
  quarksmith_free(dynamics);
  free(phi);
  return status;
}

/* Two eigenvectors of M^+ M, and what the command printed about them. */
static quarksmith_status eigenvectors(const work_t* w) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_result* result = NULL;
  quarksmith_field* field = NULL;
  double norm2[2];
  TRY(quarksmith_run(w->context, "eigen", "gauge=links " ACTION " count=2 tol=1e-8", w->gauge, &result));
  TRY(quarksmith_result_field(result, &field));
  TRY(quarksmith_norm2(field, norm2));
  if (w->rank == 0) printf("eigenvectors of norm %.10f, %.10f\n", norm2[0], norm2[1]);
end:
  quarksmith_free(field);
  quarksmith_free(result);
  return status;
}

static quarksmith_status all(MPI_Comm comm, const char* path, const int global[4], int grid[4]) {
  quarksmith_status status = QUARKSMITH_OK;
  work_t w = {0};
  quarksmith_ranks ranks;
  int extent[4], mu;
  double plaquette[3];
  w.comm = comm, w.sites = 1;
  MPI_Comm_rank(comm, &w.rank);
  for (mu = 0; mu < 4; ++mu) w.sites *= (size_t)(extent[mu] = global[mu] / grid[mu]);
  TRY(quarksmith_ranks_init(&ranks));
  quarksmith_ranks_use(&ranks, comm);
  memcpy(ranks.grid, grid, sizeof ranks.grid);
  ranks.rank_of = rank_of;
  ranks.data = grid;
  TRY(quarksmith_open_ranks("auto", extent, &ranks, &w.context));
  TRY(take_links(w.context, path, w.sites, &w.gauge));
  TRY(quarksmith_gauge_plaquette(w.gauge, plaquette));
  if (w.rank == 0) printf("plaquette %.12f\n", plaquette[0]);
  TRY(quarksmith_spinor_format_init(&w.format));
  set_axes(w.format.axes);
  TRY(solve(&w));
  TRY(shifted(&w));
  TRY(forces(&w));
  TRY(eigenvectors(&w));
end:
  if (status != QUARKSMITH_OK) fprintf(stderr, "rank %d: %s\n", w.rank, quarksmith_message());
  quarksmith_free(w.gauge);
  quarksmith_free(w.context);
  return status;
}

int main(int count, char** words) {
  int global[4], grid[4], rank, failed;
  MPI_Comm comm;
  MPI_Init(&count, &words);
  if (count != 4 || sscanf(words[2], "%d,%d,%d,%d", global, global + 1, global + 2, global + 3) != 4 ||
      sscanf(words[3], "%d,%d,%d,%d", grid, grid + 1, grid + 2, grid + 3) != 4) {
    fprintf(stderr, "use: consumer_ranks FILE X,Y,Z,T A,B,C,D (extents, and ranks along each)\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / (grid[0] * grid[1] * grid[2] * grid[3]), rank, &comm);
  failed = all(comm, words[1], global, grid) != QUARKSMITH_OK;
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return failed;
}
