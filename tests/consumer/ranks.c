/* A program with a decomposition, orders and a communicator of its own, which solves on its local lattices:
 * mpirun -n 4 consumer_ranks FILE X,Y,Z,T 1,1,2,2 prints the same on any grid. */
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

/* Solves for a point source at the origin on local lattices, and computes the residual itself. */
static quarksmith_status solve(MPI_Comm comm, const char* path, const int global[4], int grid[4]) {
  quarksmith_status status = QUARKSMITH_OK;
  quarksmith_context* context = NULL;
  quarksmith_gauge* gauge = NULL;
  quarksmith_solver* solver = NULL;
  quarksmith_operator* op = NULL;
  quarksmith_ranks ranks;
  quarksmith_spinor_format format;
  quarksmith_solve_report report;
  int extent[4], mu, rank, n;
  size_t sites = 1, k;
  double *spinors = NULL, *x, *b, *r, plaquette[3];
  void* arrays[1];
  const void* inputs[1];
  const char* options = "action=clover mass=0.2 csw=1.1 tol=1e-10";
  MPI_Comm_rank(comm, &rank);
  for (mu = 0; mu < 4; ++mu) sites *= (size_t)(extent[mu] = global[mu] / grid[mu]);
  spinors = calloc(3 * 24 * sites, sizeof *spinors);
  if (spinors == NULL) MPI_Abort(comm, 1);
  x = spinors, b = x + 24 * sites, r = b + 24 * sites;

  TRY(quarksmith_ranks_init(&ranks));
  quarksmith_ranks_use(&ranks, comm);
  memcpy(ranks.grid, grid, sizeof ranks.grid);
  ranks.rank_of = rank_of;
  ranks.data = grid;
  TRY(quarksmith_open_ranks("auto", extent, &ranks, &context));
  TRY(take_links(context, path, sites, &gauge));
  TRY(quarksmith_gauge_plaquette(gauge, plaquette));

  TRY(quarksmith_spinor_format_init(&format));
  set_axes(format.axes);
  if (rank == 0) b[0] = 1; /* spin 0, colour 0 of the site 0,0,0,0, which rank 0 has */
  inputs[0] = b, arrays[0] = x;
  TRY(quarksmith_solver_create(gauge, options, &solver));
  TRY(quarksmith_solve_report_init(&report));
  TRY(quarksmith_solve(solver, 1, arrays, inputs, &format, &report));
  TRY(quarksmith_operator_create(gauge, "action=clover mass=0.2 csw=1.1", &op));
  inputs[0] = x, arrays[0] = r;
  TRY(quarksmith_matrix_host(op, 0, 1, arrays, inputs, &format));
  for (k = 0; k < 24 * sites; ++k) r[k] -= b[k];
  {
    const double norm = sum(comm, x, 24 * sites), residual = sum(comm, r, 24 * sites);
    if (rank == 0)
      printf("plaquette %.12f, %d iterations, |x|^2 %.12f, residual %s\n", plaquette[0], report.iterations, norm,
             residual < 1e-20 ? "below 1e-10" : "too large");
  }
end:
  MPI_Comm_size(comm, &n);
  if (status != QUARKSMITH_OK) fprintf(stderr, "rank %d of %d: %s\n", rank, n, quarksmith_message());
  quarksmith_free(op);
  quarksmith_free(solver);
  quarksmith_free(gauge);
  quarksmith_free(context);
  free(spinors);
  return status;
}

int main(int count, char** words) {
  int global[4], grid[4], failed;
  MPI_Comm comm;
  MPI_Init(&count, &words);
  if (count != 4 || sscanf(words[2], "%d,%d,%d,%d", global, global + 1, global + 2, global + 3) != 4 ||
      sscanf(words[3], "%d,%d,%d,%d", grid, grid + 1, grid + 2, grid + 3) != 4) {
    fprintf(stderr, "use: consumer_ranks FILE X,Y,Z,T A,B,C,D (extents, and ranks along each)\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  failed = solve(comm, words[1], global, grid) != QUARKSMITH_OK;
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return failed;
}
