/* Every status, with messages that name operands and remedy; queries; files. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int extent[4] = {4, 4, 4, 4};

typedef struct {
  lattice l;
  quarksmith_context* context;
  quarksmith_gauge* gauge;
  quarksmith_field* field;
  quarksmith_operator* op;
  quarksmith_solver* solver;
  quarksmith_link_format links;
  quarksmith_spinor_format spinors;
  char wilson[256];
  number* psi;
} set;

static set make_set(const char* device) {
  set s = {.l = make_lattice(extent, 0.3, 5)};
  s.l.mass = 0.2;
  s.psi = random_spinor(&s.l, 1);
  check_ok(quarksmith_open(device, extent, &s.context), "open");
  s.gauge = load_gauge(s.context, &s.l);
  strcpy(s.wilson, action_of(&s.l));
  check_ok(quarksmith_link_format_init(&s.links), "init");
  check_ok(quarksmith_spinor_format_init(&s.spinors), "init");
  check_ok(quarksmith_field_create(s.context, NULL, &s.field), "field");
  check_ok(quarksmith_operator_create(s.gauge, s.wilson, &s.op), "operator");
  check_ok(quarksmith_solver_create(s.gauge, s.wilson, &s.solver), "solver");
  return s;
}

static void free_set(set* s) {
  quarksmith_free(s->solver), quarksmith_free(s->op), quarksmith_free(s->field);
  quarksmith_free(s->gauge), quarksmith_free(s->context);
  free(s->psi);
  free_lattice(&s->l);
}

static void test_pointers(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_ARGUMENT;
  void *out[1] = {s->psi}, *no_out[1] = {NULL};
  const void *in[1] = {s->psi}, *no_in[1] = {NULL};
  quarksmith_context* context;
  refused(quarksmith_open(NULL, extent, &context), bad, "device", "pass its address");
  refused(quarksmith_open("cpu", NULL, &context), bad, "extent", "pass its address");
  refused(quarksmith_open("cpu", extent, NULL), bad, "context", "pass its address");
  refused(quarksmith_link_format_init(NULL), bad, "struct", "pass its address");
  refused(quarksmith_gauge_load(s->context, NULL, &s->links, &s->gauge), bad, "links", "pass its address");
  refused(quarksmith_gauge_load(s->context, no_in, &s->links, &s->gauge), bad, "links", "pass its address");
  refused(quarksmith_gauge_load(s->context, in, NULL, &s->gauge), bad, "quarksmith_link_format", "pass its address");
  refused(quarksmith_gauge_load(s->context, in, &s->links, NULL), bad, "gauge", "pass its address");
  refused(quarksmith_gauge_read(s->context, NULL, &s->gauge), bad, "path", "pass its address");
  refused(quarksmith_gauge_plaquette(s->gauge, NULL), bad, "plaquette", "pass its address");
  refused(quarksmith_field_set(s->field, 0, NULL, &s->spinors), bad, "array of spinors", "pass its address");
  refused(quarksmith_norm2(s->field, NULL), bad, "norm2", "pass its address");
  refused(quarksmith_matrix_host(s->op, 0, 1, no_out, in, &s->spinors), bad, "out[0]", "NULL");
  refused(quarksmith_matrix_host(s->op, 0, 1, out, no_in, &s->spinors), bad, "in[0]", "NULL");
  refused(quarksmith_solve(s->solver, 1, no_out, in, &s->spinors, NULL), bad, "x[0]", "NULL");
  quarksmith_free(NULL);
}

static void test_structs(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_STRUCT;
  void* out[1] = {s->psi};
  const void* in[1] = {s->psi};
  quarksmith_gauge* gauge;
  set z;
  memset(&z, 0, sizeof z);
  quarksmith_solve_report report = {0};
  quarksmith_field_memory memory = {.size = 8};
  refused(quarksmith_gauge_load(s->context, in, &z.links, &gauge), bad, "size 0", "quarksmith_link_format_init");
  refused(quarksmith_field_set(s->field, 0, s->psi, &z.spinors), bad, "size 0", "quarksmith_spinor_format_init");
  refused(quarksmith_solve(s->solver, 1, out, in, &s->spinors, &report), bad, "size 0", "solve_report_init");
  refused(quarksmith_field_describe(s->field, &memory), bad, "size 8", "field_memory_init");
}

/* What options say wrongly: of fields, operators, solvers, shifted ones. */
typedef struct {
  char of; /* f, o, s, w */
  const char* said;
  int status;
  const char *operand, *remedy;
} mistake;

static void refuse_all(set* s, const mistake* all, size_t count) {
  for (size_t n = 0; n < count; ++n) {
    void* made = NULL;
    const char* said = all[n].said;
    quarksmith_status status;
    if (all[n].of == 'f')
      status = quarksmith_field_create(s->context, said, (quarksmith_field**)&made);
    else if (all[n].of == 'o')
      status = quarksmith_operator_create(s->gauge, said, (quarksmith_operator**)&made);
    else if (all[n].of == 's')
      status = quarksmith_solver_create(s->gauge, said, (quarksmith_solver**)&made);
    else
      status = quarksmith_shifted_create(s->gauge, said, 1, (quarksmith_shifted**)&made);
    refused(status, (quarksmith_status)all[n].status, all[n].operand, all[n].remedy);
    check(made == NULL, "nothing is made of: %s", said);
  }
}

static void test_names(set* s) {
  enum { bad = QUARKSMITH_BAD_ARGUMENT, unknown = QUARKSMITH_UNKNOWN_NAME };
  static const mistake all[] = {
      {'f', "precision=octuple", unknown, "'octuple'", "double"},
      {'f', "basis=dirac", unknown, "'dirac'", "degrand_rossi"},
      {'f', "rhs=0", bad, "not 0", "at least one"},
      {'o', "action=wilson mass=0.1 reconstruct=17", unknown, "'r17'", "r12"},
      {'o', "action=wilson mass=0.1 reconstruct=12t", bad, "12t", "use 18"},
      {'o', "action=willson mass=1", unknown, "willson", "wilson"},
      {'o', "action=wilson mass=1 xi0=0", bad, "xi0 0", "from 0.001"},
      {'o', "action=wilson mass=nan", bad, "mass", "finite"},
      {'o', "action=wilson mass=1:0.5", bad, "mass", ""},
      {'o', "action=wilson mass=1 kappa=0.1", bad, "exactly one of", "both give mass"},
      {'o', "action=wilson", bad, "mass", ""},
      {'o', NULL, bad, "mass", ""},
      {'o', "action=wilson mass=1 ls=4", bad, "ls belongs to", "moebius"},
      {'o', "action=clover mass=1 csw=1 csw-t=1", bad, "csw", ""},
      {'o', "action=clover mass=1 csw=1e308", bad, "1e+308", "from -1000 to 1000"},
      {'o', "action=wilson mass=1 csw=1", bad, "csw belongs to", "clover"},
      {'o', "action=twisted-mass mass=1 mu=1 epsilon=0.1 flavours=0,2", bad, "flavours", "0 or 1"},
      {'o', "action=wilson mass=1 field=fat=x", bad, "fat", "no field"},
      {'o', "action=wilson mass=1 boundary=1e300,0,0,0", bad, "1e+300", "-2 to 2"},
      {'o', "action=wilson mass=1 boundary=antiperoidic", bad, "antiperoidic", "did you mean antiperiodic?"},
      {'o', "action=d234 mass=1 even-odd=symmetric", bad, "no even-odd form", "leave it out"},
      {'o', "action=wilson mass=1 precision=single basis=degrand_rossi reconstruct=8", QUARKSMITH_MISSING_KERNEL,
       "precision = [\"single\"]", "add to the profile"}};
  quarksmith_context* context;
  quarksmith_spinor_format p = s->spinors;
  refuse_all(s, all, sizeof all / sizeof *all);
  refused(quarksmith_open("gpu", extent, &context), QUARKSMITH_UNKNOWN_NAME, "'gpu'", "use cpu, cuda");
  p.basis = "dirac";
  refused(quarksmith_field_set(s->field, 0, s->psi, &p), QUARKSMITH_UNKNOWN_NAME, "'dirac'", "degrand_rossi");
  refused(quarksmith_gauge_write(s->gauge, "c_test.gauge", "hdf5", 64), QUARKSMITH_UNKNOWN_NAME, "'hdf5'", "ildg");
  refused(quarksmith_gauge_write(s->gauge, "c_test.gauge", "milc", 64), QUARKSMITH_BAD_ARGUMENT, "MILC", "32");
}

static void test_options_of_solves(set* s) {
  enum { bad = QUARKSMITH_BAD_ARGUMENT, unknown = QUARKSMITH_UNKNOWN_NAME };
  static const mistake all[] = {
      {'s', "mass=1 solver=gmres", unknown, "'gmres'", "bicgstab"},
      {'s', "mass=1 even-odd=both", unknown, "'both'", "symmetric"},
      {'s', "mass=1 precision=double-octuple", unknown, "octuple'", "double"},
      {'s', "mass=1 solver=multigrid mg=none.toml", QUARKSMITH_FAILED, "none.toml", "name a TOML file"},
      {'s', "mass=1 solver=multigrid mg-load=none.h5", bad, "none.h5", "there is no such file"},
      {'s', "mass=1 solver=multigrid mg-refresh", bad, "mg_refresh", "mg_load"},
      {'s', "mass=1 deflate=none.h5", bad, "none.h5", "there is no such file"},
      {'s', "mass=1 deflate=2 guess", bad, "guess and deflate", "leave one of them out"},
      {'s', "action=moebius mass=0.1 m5=1.5 ls=4 guess", bad, "guess", "leave it out"},
      {'s', "action=staggered mass=0.1,0.2", bad, "one mass", "each"},
      {'w', "mass=1 even-odd=none reconstruct=12t", bad, "r12t", "use r12"},
      {'w', "action=staggered mass=0.1", bad, "shifted systems", "use cg"}};
  refuse_all(s, all, sizeof all / sizeof *all);
}

static void test_numbers(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_ARGUMENT;
  void* out[1] = {s->psi};
  const void* in[1] = {s->psi};
  quarksmith_gauge* gauge;
  quarksmith_field *field, *half;
  quarksmith_link_format l = s->links;
  quarksmith_spinor_format p = s->spinors;
  double numbers[2];
  size_t word;
  l.order = 2;
  refused(quarksmith_gauge_load(s->context, in, &l, &gauge), bad, "order 2", "QUARKSMITH_SITE_MAJOR");
  l = s->links, l.axes[0] = 1;
  refused(quarksmith_gauge_load(s->context, in, &l, &gauge), bad, "axes 1,1,2,3", "once");
  p.half = 1;
  refused(quarksmith_field_set(s->field, 0, s->psi, &p), bad, "half = 1", "use half = 0");
  refused(quarksmith_matrix_host(s->op, 0, 1, out, in, &p), bad, "half = 1", "use half = 0");
  p = s->spinors, p.precision = 8;
  refused(quarksmith_field_set(s->field, 0, s->psi, &p), bad, "precision 8", "QUARKSMITH_SINGLE");
  refused(quarksmith_field_set(s->field, 1, s->psi, &s->spinors), bad, "right-hand side 1", "count from 0");
  refused(quarksmith_dslash_host(s->op, 2, 0, 1, out, in, &s->spinors), bad, "parity 2", "QUARKSMITH_EVEN");
  refused(quarksmith_matrix(s->op, 5, s->field, s->field), bad, "dagger 5", "0 or 1");
  refused(quarksmith_matrix(s->op, 0, s->field, s->field), bad, "one field", "pass two");
  refused(quarksmith_matrix_host(s->op, 0, 0, out, in, &s->spinors), bad, "0 right-hand sides", "at least 1");
  check_ok(quarksmith_field_create(s->context, "precision=single", &field), "field");
  refused(quarksmith_dot(s->field, field, numbers), bad, "single", "create them alike");
  refused(quarksmith_matrix(s->op, 0, s->field, field), bad, "field in is single", "quarksmith_operator_field");
  refused(quarksmith_solve_fields(s->solver, s->field, field, NULL), bad, "b is no double field", "create it so");
  check_ok(quarksmith_field_create(s->context, "sites=even", &half), "field");
  refused(quarksmith_operator_field(s->op, 7, 1, &field), bad, "sites 7", "QUARKSMITH_FULL");
  refused(quarksmith_operator_field(s->op, QUARKSMITH_FULL, 0, &field), bad, "not 0", "at least one");
  refused(quarksmith_term_log_det(s->op, 0, numbers), bad, "site term", "");
  refused(quarksmith_dslash(s->op, QUARKSMITH_ODD, 0, half, s->field), bad, "parity", "does not hold");
  refused(quarksmith_matrix(s->op, 0, half, s->field), bad, "field out", "QUARKSMITH_FULL");
  refused(quarksmith_field_word(half, (int[]){1, 0, 0, 0}, 0, &word), bad, "(1,0,0,0) is odd", "other parity");
  refused(quarksmith_field_word(half, (int[]){4, 0, 0, 0}, 0, &word), bad, "(4,0,0,0)", "not on the lattice 4x4x4x4");
  quarksmith_free(field), quarksmith_free(half);
}

static void test_arrays_of_solves(set* s) {
  const quarksmith_status bad = QUARKSMITH_BAD_ARGUMENT;
  quarksmith_shifted* shifted;
  double numbers[2] = {-0.1, 0};
  number* other = random_spinor(&s->l, 3);
  void* out[1] = {s->psi};
  refused(quarksmith_shifted_create(s->gauge, s->wilson, 0, &shifted), bad, "0 shifts", "at least 1");
  check_ok(quarksmith_shifted_create(s->gauge, options("%s even-odd=none", s->wilson), 1, &shifted), "shifted");
  refused(quarksmith_shifted_solve(shifted, 1, numbers, out, other, &s->spinors, NULL), bad, "shift -0.1", ">= 0");
  refused(quarksmith_shifted_solve(shifted, 1, numbers, out, s->psi, &s->spinors, NULL), bad, "x[0] is b[0]",
          "another");
  refused(quarksmith_shifted_solve(shifted, 2, numbers, (void*[]){s->psi, s->psi + 1}, other, &s->spinors, NULL), bad,
          "2 shifts for a solver of 1", "as many");
  quarksmith_free(shifted);
  refused(quarksmith_solve(s->solver, 1, out, (const void*[]){s->psi}, &s->spinors, NULL), bad, "x[0] is b[0]",
          "another");
  refused(quarksmith_solve(s->solver, 2, (void*[]){other, other}, (const void*[]){s->psi, s->psi}, &s->spinors, NULL),
          bad, "x[0] and x[1] are one array", "one for each");
  refused(quarksmith_solve_fields(s->solver, s->field, s->field, NULL), bad, "one field", "pass two");
  free(other);
}

static void test_lattices_and_files(set* s, const char* device) {
  static const char* const path = "c_test.ildg";
  quarksmith_context* other = NULL;
  quarksmith_gauge* gauge = NULL;
  double a[3], b[3];
  refused(quarksmith_open(device, (int[]){4, 4, 3, 4}, &other), QUARKSMITH_WRONG_LATTICE, "extent 3",
          "use even extents");
  check_ok(quarksmith_open(device, (int[]){4, 4, 4, 8}, &other), "open");
  check_ok(quarksmith_gauge_write(s->gauge, path, "ildg", 64), "write");
  check_ok(quarksmith_gauge_read(s->context, path, &gauge), "read");
  check_ok(quarksmith_gauge_plaquette(gauge, a), "plaquette");
  check_ok(quarksmith_gauge_plaquette(s->gauge, b), "plaquette");
  check(a[0] == b[0] && fabs(a[0] - plaquette_of(&s->l)) < 1e-14, "what was written is read");
  refused(quarksmith_gauge_read(other, path, &gauge), QUARKSMITH_WRONG_LATTICE, "4x4x4x4", "4x4x4x8");
  FILE* file = fopen(path, "wb");
  fputs("no configuration", file);
  fclose(file);
  refused(quarksmith_gauge_read(s->context, path, &gauge), QUARKSMITH_FILE_ERROR, path, "supported are");
  remove(path);
  refused(quarksmith_gauge_read(s->context, path, &gauge), QUARKSMITH_FILE_ERROR, path, "");
  refused(quarksmith_gauge_write(s->gauge, "no/such/folder/c", "ildg", 64), QUARKSMITH_FILE_ERROR, "no/such/folder",
          "");
  quarksmith_free(gauge), quarksmith_free(other);
}

static void test_data(set* s) {
  lattice bad = make_lattice(extent, 0.3, 6);
  const void* links[1] = {bad.links};
  void* x[1] = {random_spinor(&bad, 1)};
  const void* b[1] = {s->psi};
  quarksmith_gauge* gauge = NULL;
  quarksmith_operator* op = NULL;
  quarksmith_solver* solver = NULL;
  quarksmith_solve_report report;
  bad.links[4] *= 1.5;
  check_ok(quarksmith_gauge_load(s->context, links, &s->links, &gauge), "links that are not SU(3)");
  refused(quarksmith_operator_create(gauge, options("%s allow-non-su3 reconstruct=12", s->wilson), &op),
          QUARKSMITH_BAD_DATA, "r12", "use 18 reals");
  quarksmith_free(gauge);
  bad.links[9 * (4 * 5 + 2) + 7] = NAN; /* site 5 is (1,1,0,0) */
  refused(quarksmith_gauge_load(s->context, links, &s->links, &gauge), QUARKSMITH_BAD_DATA, "link z of site (1,1,0,0)",
          "read it again");
  s->psi[17] = INFINITY;
  refused(quarksmith_solve(s->solver, 1, x, b, &s->spinors, NULL), QUARKSMITH_BAD_DATA, "right-hand side 0",
          "not finite");
  s->psi[17] = 0;

  check_ok(quarksmith_solve_report_init(&report), "report");
  check_ok(quarksmith_solver_create(s->gauge, options("%s max-iterations=2", s->wilson), &solver), "solver");
  refused(quarksmith_solve(solver, 1, x, b, &s->spinors, &report), QUARKSMITH_NOT_CONVERGED, "after 2 iterations",
          "use a larger max_iterations");
  number* mx = random_spinor(&s->l, 2);
  matrix(&s->l, degrand_rossi, 0, mx, x[0]);
  const double residual = distance(mx, s->psi, 12 * s->l.sites);
  check(report.converged == 0 && report.iterations == 2 && report.residual < 1,
        "the report of a solve that ended early");
  check_below(fabs(report.residual / residual - 1), 1e-10, "its residual is that of x");
  free(mx), free(x[0]);
  quarksmith_free(solver);
  free_lattice(&bad);
}

static void test_devices(set* s, const char* device) {
  quarksmith_context* huge = NULL;
  quarksmith_field* field = NULL;
  refused(quarksmith_open("cuda:99", extent, &huge), QUARKSMITH_DEVICE_ERROR, "cuda:99", "use");
  check_ok(quarksmith_open(device, (int[]){1024, 1024, 1022, 2}, &huge), "open a huge lattice");
  refused(quarksmith_field_create(huge, "rhs=1000", &field), QUARKSMITH_OUT_OF_MEMORY, "MiB", "use a smaller lattice");
  quarksmith_free(huge);

  char text[1024];
  size_t count = 0;
  check_ok(quarksmith_device_name(s->context, text, sizeof text), "device name");
  check(strncmp(text, device, strlen(device)) == 0, "the device is %s", text);
  refused(quarksmith_device_name(s->context, text, 4), QUARKSMITH_BAD_ARGUMENT, "4 are there", "longer array");
  check_ok(quarksmith_kernel_count(s->context, &count), "kernels");
  int found = 0;
  for (size_t k = 0; k < count; ++k) {
    check_ok(quarksmith_kernel_name(s->context, k, text, sizeof text), "kernel");
    found += strcmp(text, "wilson_double_r12_nr_n1") == 0;
  }
  check(found == 1, "the kernels hold the Wilson hopping term once");
  refused(quarksmith_kernel_name(s->context, count, text, sizeof text), QUARKSMITH_BAD_ARGUMENT, "kernel",
          "smaller index");

  /* Each handle keeps its own last message; asking for it does not replace it. */
  refused(quarksmith_norm2(s->field, NULL), QUARKSMITH_BAD_ARGUMENT, "norm2", "");
  refused(quarksmith_gauge_plaquette(s->gauge, NULL), QUARKSMITH_BAD_ARGUMENT, "plaquette", "");
  refused(quarksmith_handle_message(s->field, text, 3), QUARKSMITH_BAD_ARGUMENT, "3 are there", "longer array");
  check_ok(quarksmith_handle_message(s->field, text, sizeof text), "message");
  check(strncmp(text, "quarksmith_norm2: ", 18) == 0, "the field's message: %s", text);
  check(strlen(quarksmith_version()) >= 5, "version %s", quarksmith_version());
  check(strcmp(quarksmith_status_name(QUARKSMITH_BAD_DATA), "QUARKSMITH_BAD_DATA") == 0 &&
            strcmp(quarksmith_status_name((quarksmith_status)INT_MAX), "unknown status") == 0,
        "names of statuses");
  char help[65536];
  check_ok(quarksmith_help("solver", help, sizeof help), "help");
  check(strstr(help, "\ntol=FLOAT: |b - M x| / |b|") != NULL && strstr(help, "gauge=") == NULL, "help: %s", help);
  refused(quarksmith_help("propagater", help, sizeof help), QUARKSMITH_UNKNOWN_NAME, "'propagater'",
          "did you mean propagator?");
}

void test_statuses(const char* device) {
  set s = make_set(device);
  test_pointers(&s);
  test_structs(&s);
  test_names(&s);
  test_options_of_solves(&s);
  test_numbers(&s);
  test_arrays_of_solves(&s);
  test_lattices_and_files(&s, device);
  test_data(&s);
  test_devices(&s, device);
  free_set(&s);
}
