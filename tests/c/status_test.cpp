// Every status, with messages that name the operand; queries; files. What single options are refused for is in
// refusals_test.cpp.
#include <climits>
#include <fstream>
#include <limits>

#include "tests/c/support.hpp"

namespace {

using namespace c;

const Coordinates small_extent = {4, 4, 4, 4};
constexpr quarksmith_status bad = QUARKSMITH_BAD_ARGUMENT;

class Statuses : public OnDevice {
 protected:
  /// What must be refused for these options, and make nothing.
  template <class T, class Create>
  void expect_refusals(const Create& create,
                       const std::vector<std::tuple<std::string, quarksmith_status, std::string>>& all) {
    for (const auto& [how, status, text] : all) {
      T* made = nullptr;
      refused(create(how.empty() ? nullptr : how.c_str(), &made), status, text);
      EXPECT_EQ(made, nullptr) << how;
    }
  }

  HostGauge host = weak_gauge(Lattice(small_extent), 0.3, 5);
  std::string wilson = "action=wilson mass=0.2";
  Context context = open(GetParam(), small_extent);
  Gauge gauge = load(context, host);
  Field field = make_field(context);
  Operator op = make_operator(gauge, wilson);
  c::Solver solver = make_solver(gauge, wilson);
  quarksmith_link_format links = link_format();
  quarksmith_spinor_format spinors = spinor_format();
  Numbers numbers = numbers_of(host), psi = random_numbers(12 * 256, 1);
  void *out[1] = {psi.data()}, *no_out[1] = {nullptr};
  const void *in[1] = {psi.data()}, *no_in[1] = {nullptr};
  quarksmith_gauge* no_gauge = nullptr;
};

TEST_P(Statuses, OfPointers) {
  quarksmith_context* none = nullptr;
  refused(quarksmith_open(nullptr, small_extent.data(), &none), bad, "device");
  refused(quarksmith_open("cpu", nullptr, &none), bad, "extent");
  refused(quarksmith_open("cpu", small_extent.data(), nullptr), bad, "context");
  refused(quarksmith_link_format_init(nullptr), bad, "struct");
  refused(quarksmith_gauge_load(context, nullptr, &links, &no_gauge), bad, "links");
  refused(quarksmith_gauge_load(context, no_in, &links, &no_gauge), bad, "links");
  refused(quarksmith_gauge_load(context, in, nullptr, &no_gauge), bad, "quarksmith_link_format");
  refused(quarksmith_gauge_load(context, in, &links, nullptr), bad, "gauge");
  refused(quarksmith_gauge_read(context, nullptr, &no_gauge), bad, "path");
  refused(quarksmith_gauge_plaquette(gauge, nullptr), bad, "plaquette");
  refused(quarksmith_gauge_field(gauge, nullptr, 1, (const double*)in[0]), bad, "name");
  refused(quarksmith_gauge_field(gauge, "mine", 1, nullptr), bad, "numbers");
  refused(quarksmith_field_set(field, 0, nullptr, &spinors), bad, "array of spinors");
  refused(quarksmith_norm2(field, nullptr), bad, "norm2");
  refused(quarksmith_matrix_host(op, 0, 1, no_out, in, &spinors), bad, "out[0]");
  refused(quarksmith_matrix_host(op, 0, 1, out, no_in, &spinors), bad, "in[0]");
  refused(quarksmith_solve(solver, 1, no_out, in, &spinors, nullptr), bad, "x[0]");
  quarksmith_free(nullptr);
}

TEST_P(Statuses, OfStructsWithoutTheirSize) {
  const quarksmith_link_format no_links = {};
  const quarksmith_spinor_format no_spinors = {};
  quarksmith_solve_report report = {};
  quarksmith_field_memory memory = {};
  memory.size = 8;
  refused(quarksmith_gauge_load(context, in, &no_links, &no_gauge), QUARKSMITH_BAD_STRUCT, "link_format_init");
  refused(quarksmith_field_set(field, 0, psi.data(), &no_spinors), QUARKSMITH_BAD_STRUCT, "spinor_format_init");
  refused(quarksmith_solve(solver, 1, out, in, &spinors, &report), QUARKSMITH_BAD_STRUCT, "solve_report_init");
  refused(quarksmith_field_describe(field, &memory), QUARKSMITH_BAD_STRUCT, "field_memory_init");
}

/// One of each kind: tests of the descriptions have the others.
TEST_P(Statuses, OfOptions) {
  const quarksmith_status unknown = QUARKSMITH_UNKNOWN_NAME;
  expect_refusals<quarksmith_field>(
      [&](auto... a) { return quarksmith_field_create(context, a...); },
      {{"precision=octuple", unknown, "octuple"}, {"basis=dirac", unknown, "dirac"}, {"rhs=0", bad, "0"}});
  expect_refusals<quarksmith_operator>([&](auto... a) { return quarksmith_operator_create(gauge, a...); },
                                       {{"", bad, "mass"},
                                        {"action=wilson mass=0.1 reconstruct=17", unknown, "r17"},
                                        {"action=wilson mass=0.1 reconstruct=12t", bad, "12t"},
                                        {"action=willson mass=1", unknown, "willson"},
                                        {"action=wilson mass=1 xi0=0", bad, "xi0 0"},
                                        {"action=wilson mass=1:0.5", bad, "mass"},
                                        {"action=wilson mass=1 kappa=0.1", bad, "kappa"},
                                        {"action=wilson mass=1 ls=4", bad, "ls"},
                                        {"action=wilson mass=1 field=fat=x", bad, "fat"},
                                        {"action=improved-staggered mass=1 field=fat=nope", bad, "fat=nope"},
                                        {"action=wilson mass=1 boundary=1e300,0,0,0", bad, "1e+300"},
                                        {"action=d234 mass=1 even-odd=symmetric", bad, "even-odd"},
                                        {"action=staggered mass=0.1,0.2", bad, "masses"},
                                        {"action=none.py mass=1", bad, "none.py"},
                                        {"action=wilson mass=1 precision=single basis=degrand_rossi reconstruct=8",
                                         QUARKSMITH_MISSING_KERNEL, "precision = [\"single\"]"}});
  expect_refusals<quarksmith_solver>([&](auto... a) { return quarksmith_solver_create(gauge, a...); },
                                     {{"mass=1 solver=gmres", unknown, "gmres"},
                                      {"mass=1 solver=multigrid mg=none.toml", QUARKSMITH_FAILED, "none.toml"},
                                      {"mass=1 solver=multigrid mg-load=none.h5", bad, "none.h5"},
                                      {"mass=1 deflate=none.h5", bad, "none.h5"},
                                      {"mass=1 deflate=2 guess", bad, "guess"},
                                      {"action=moebius mass=0.1 m5=1.5 ls=4 guess", bad, "guess"},
                                      {"action=staggered mass=0.1,0.2", bad, "mass"}});
  expect_refusals<quarksmith_shifted>(
      [&](const char* o, quarksmith_shifted** s) { return quarksmith_shifted_create(gauge, o, 1, s); },
      {{"mass=1 even-odd=none reconstruct=12t", bad, "r12t"}});
  Context none;
  refused(quarksmith_open("gpu", small_extent.data(), none.out()), unknown, "gpu");
  spinors.basis = "dirac";
  refused(quarksmith_field_set(field, 0, psi.data(), &spinors), unknown, "dirac");
  spinors.basis = "chiraal";
  refused(quarksmith_field_set(field, 0, psi.data(), &spinors), unknown, "did you mean chiral?");
  refused(quarksmith_gauge_write(gauge, "c_test.gauge", "hdf5", 64), unknown, "hdf5");
  refused(quarksmith_gauge_write(gauge, "c_test.gauge", "milc", 64), bad, "MILC");
}

TEST_P(Statuses, OfNumbers) {
  double two[2];
  std::size_t word;
  const int odd[] = {1, 0, 0, 0}, outside[] = {4, 0, 0, 0};
  quarksmith_link_format l = links;
  quarksmith_spinor_format p = spinors;
  l.order = 2;
  refused(quarksmith_gauge_load(context, in, &l, &no_gauge), bad, "order 2");
  l = links, l.axes[0] = 1;
  refused(quarksmith_gauge_load(context, in, &l, &no_gauge), bad, "axes 1,1,2,3");
  const auto expect_format = [&](const std::string& text) {
    refused(quarksmith_gauge_load(context, in, &l, &no_gauge), bad, text);
    l = links;
  };
  l = links, l.stride = 287, expect_format("stride 287");
  l.stride = 580, expect_format("stride 580");
  l.reals = 10, expect_format("10 reals of links");
  l.eta[0] = 1, expect_format("eta 1,0,0,0");
  l.boundary[2] = 3, expect_format("boundary phase 3");
  l.boundary[3] = 1;
  refused(quarksmith_gauge_get(gauge, out, &l), bad, "boundary 0,0,0,1 of the format");
  refused(quarksmith_gauge_links(gauge, "fat", 1, in, &l), bad, "boundary 0,0,0,1 of the format");
  refused(quarksmith_gauge_links(gauge, "fat", 4, in, &links), bad, "length 4");
  p.stride = 100;
  refused(quarksmith_field_set(field, 0, psi.data(), &p), bad, "stride 100");
  p = spinors;
  p.half = 1;
  refused(quarksmith_field_set(field, 0, psi.data(), &p), bad, "half = 1");
  refused(quarksmith_matrix_host(op, 0, 1, out, in, &p), bad, "half = 1");
  p = spinors, p.precision = 8;
  refused(quarksmith_field_set(field, 0, psi.data(), &p), bad, "precision 8");
  refused(quarksmith_field_set(field, 1, psi.data(), &spinors), bad, "right-hand side 1");
  refused(quarksmith_dslash_host(op, 2, 0, 1, out, in, &spinors), bad, "parity 2");
  refused(quarksmith_matrix(op, 5, field, field), bad, "dagger 5");
  refused(quarksmith_matrix(op, 0, field, field), bad, "one field");
  refused(quarksmith_matrix_host(op, 0, 0, out, in, &spinors), bad, "0 right-hand sides");
  const Field single = make_field(context, "precision=single"), half = make_field(context, "sites=even");
  Field none;
  refused(quarksmith_dot(field, single, two), bad, "single");
  refused(quarksmith_matrix(op, 0, field, single), bad, "field in is single");
  refused(quarksmith_solve_fields(solver, field, single, nullptr), bad, "b is no double field");
  refused(quarksmith_operator_field(op, 7, 1, none.out()), bad, "sites 7");
  refused(quarksmith_operator_field(op, QUARKSMITH_FULL, 0, none.out()), bad, "not 0");
  refused(quarksmith_term_log_det(op, 0, two), bad, "site term");
  refused(quarksmith_dslash(op, QUARKSMITH_ODD, 0, half, field), bad, "parity");
  refused(quarksmith_matrix(op, 0, half, field), bad, "field out");
  refused(quarksmith_field_word(half, odd, 0, &word), bad, "(1,0,0,0)");
  refused(quarksmith_field_word(half, outside, 0, &word), bad, "(4,0,0,0)");
}

TEST_P(Statuses, OfArraysOfSolves) {
  Handle<quarksmith_shifted> shifted;
  const double negative[] = {-0.1, 0}, shifts[] = {0.1, 0};
  const Numbers b = psi;
  Numbers more = psi;
  void *both[] = {psi.data(), more.data()}, *same[] = {psi.data(), psi.data()};
  const void* bs[] = {b.data(), b.data()};
  refused(quarksmith_shifted_create(gauge, wilson.c_str(), 0, shifted.out()), bad, "0 shifts");
  EXPECT_DONE(quarksmith_shifted_create(gauge, (wilson + " even-odd=none").c_str(), 1, shifted.out()));
  refused(quarksmith_shifted_solve(shifted, 1, negative, out, b.data(), &spinors, nullptr), bad, "shift -0.1");
  refused(quarksmith_shifted_solve(shifted, 1, shifts, out, psi.data(), &spinors, nullptr), bad, "x[0] is b[0]");
  refused(quarksmith_shifted_solve(shifted, 2, shifts, both, b.data(), &spinors, nullptr), bad, "2 shifts");
  refused(quarksmith_solve(solver, 1, out, in, &spinors, nullptr), bad, "x[0] is b[0]");
  refused(quarksmith_solve(solver, 2, same, bs, &spinors, nullptr), bad, "x[0] and x[1]");
  refused(quarksmith_solve_fields(solver, field, field, nullptr), bad, "one field");
}

TEST_P(Statuses, OfLatticesAndFiles) {
  const char* path = "c_test.ildg";
  const int odd[] = {4, 4, 3, 4};
  Context none;
  Gauge read;
  double a[3], b[3];
  refused(quarksmith_open(GetParam(), odd, none.out()), QUARKSMITH_WRONG_LATTICE, "extent 3");
  EXPECT_DONE(quarksmith_gauge_write(gauge, path, "ildg", 64));
  EXPECT_DONE(quarksmith_gauge_read(context, path, read.out()));
  EXPECT_DONE(quarksmith_gauge_plaquette(read, a));
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, b));
  EXPECT_EQ(a[0], b[0]);
  const Context other = open(GetParam(), {4, 4, 4, 8});
  refused(quarksmith_gauge_read(other, path, &no_gauge), QUARKSMITH_WRONG_LATTICE, "4x4x4x4");
  std::ofstream(path) << "no configuration";
  refused(quarksmith_gauge_read(context, path, &no_gauge), QUARKSMITH_FILE_ERROR, path);
  std::remove(path);
  refused(quarksmith_gauge_read(context, path, &no_gauge), QUARKSMITH_FILE_ERROR, path);
  refused(quarksmith_gauge_write(gauge, "no/such/folder/c", "ildg", 64), QUARKSMITH_FILE_ERROR, "no/such/folder");
}

TEST_P(Statuses, OfData) {
  numbers[9 * (4 * 5 + 2) + 7] = NAN;  // site 5 is (1,1,0,0)
  const void* array = numbers.data();
  refused(quarksmith_gauge_load(context, &array, &links, &no_gauge), QUARKSMITH_BAD_DATA, "link z of site (1,1,0,0)");
  const c::Solver short_of_time = make_solver(gauge, wilson + " max-iterations=2");
  const Solved s = solve(short_of_time, {psi});
  refused(s.status, QUARKSMITH_NOT_CONVERGED, "2 iterations");
  EXPECT_EQ(s.reports[0].converged, 0);
  EXPECT_EQ(s.reports[0].iterations, 2);
  const HostSpinor x = spinor_of(s.x[0], host.lattice), b = spinor_of(psi, host.lattice);
  EXPECT_NEAR(s.reports[0].residual / reference::residual(b, reference::wilson(host, x, 0.2)), 1, 1e-10);
  psi[17] = std::numeric_limits<double>::infinity();
  refused(solve(solver, {psi}).status, QUARKSMITH_BAD_DATA, "right-hand side 0");
}

TEST_P(Statuses, OfDevices) {
  Context none;
  Field too_large;
  refused(quarksmith_open("cuda:99", small_extent.data(), none.out()), QUARKSMITH_DEVICE_ERROR, "cuda:99");
  const Context huge = open(GetParam(), {1024, 1024, 1022, 2});
  refused(quarksmith_field_create(huge, "rhs=1000", too_large.out()), QUARKSMITH_OUT_OF_MEMORY, "MiB");

  char text[1024];
  std::size_t count = 0;
  int found = 0;
  EXPECT_DONE(quarksmith_device_name(context, text, sizeof text));
  EXPECT_TRUE(std::string(text).starts_with(GetParam())) << text;
  refused(quarksmith_device_name(context, text, 4), bad, "4 are there");
  EXPECT_DONE(quarksmith_kernel_count(context, &count));
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_DONE(quarksmith_kernel_name(context, k, text, sizeof text));
    found += text == std::string("wilson_double_r12_nr_n1");
  }
  EXPECT_EQ(found, 1);
  refused(quarksmith_kernel_name(context, count, text, sizeof text), bad, "kernel");
}

/// Each handle keeps its own last message; asking for it does not replace it.
TEST_P(Statuses, HaveNamesAndMessages) {
  char text[1024], help[65536];
  refused(quarksmith_norm2(field, nullptr), bad, "norm2");
  refused(quarksmith_gauge_plaquette(gauge, nullptr), bad, "plaquette");
  refused(quarksmith_handle_message(field, text, 3), bad, "3 are there");
  EXPECT_DONE(quarksmith_handle_message(field, text, sizeof text));
  EXPECT_TRUE(std::string(text).starts_with("quarksmith_norm2: ")) << text;
  EXPECT_GE(std::string(quarksmith_version()).size(), 5u);
  EXPECT_STREQ(quarksmith_status_name(QUARKSMITH_BAD_DATA), "QUARKSMITH_BAD_DATA");
  EXPECT_STREQ(quarksmith_status_name(static_cast<quarksmith_status>(INT_MAX)), "unknown status");
  EXPECT_DONE(quarksmith_help("solver", help, sizeof help));
  EXPECT_NE(std::string(help).find("\ntol=FLOAT: "), std::string::npos) << help;
  EXPECT_EQ(std::string(help).find("gauge="), std::string::npos) << help;
  refused(quarksmith_help("propagater", help, sizeof help), QUARKSMITH_UNKNOWN_NAME, "propagator?");
}

ON_DEVICES_BY_NAME(Statuses);

}  // namespace
