// The C interface on ranks of the calling program: on local lattices of their own order and communicator it gives the
// bits of one process on the whole lattice.
#ifdef QUARKSMITH_MPI
#include "tests/ranks/c_interface.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

namespace c_on_ranks {
namespace {

/// What a caller computes; arrays hold `each` numbers a site.
struct Results {
  std::vector<double> numbers;
  std::vector<std::pair<Numbers, std::size_t>> arrays;
};

/// Links with the sign of antiperiodic boundaries folded in.
Numbers signed_links() {
  HostGauge u = weak_gauge(Lattice(whole), 0.3, 5);
  u.phase = {1, 1, 1, 1};
  for (long long i = 0; i < u.lattice.sites(); ++i)
    if (u.lattice.coordinates(i)[3] == whole[3] - 1)
      for (Complex64& z : u.link(i, 3)) z = -z;
  return numbers_of(u);
}

void dslash_and_solves(quarksmith_gauge* gauge, const std::vector<Numbers>& b, const std::string& how, Results& r) {
  const quarksmith_spinor_format format = spinor_format();
  const Operator op = make_operator(gauge, how);
  std::vector<Numbers> out(1, Numbers(b[0].size()));
  EXPECT_DONE(quarksmith_matrix_host(op, 0, 1, outputs(out).data(), inputs(b).data(), &format));
  r.arrays.emplace_back(out[0], 12);
  const Solver solver = make_solver(gauge, how + " tol=1e-9");
  const int n = static_cast<int>(b.size());
  std::vector<Numbers> x(b.size(), Numbers(b[0].size()));
  std::vector<quarksmith_solve_report> reports(b.size());
  quarksmith_solve_report_init(reports.data());
  EXPECT_DONE(quarksmith_solve(solver, n, outputs(x).data(), inputs(b).data(), &format, reports.data()));
  for (int k = 0; k < n; ++k) {
    r.arrays.emplace_back(x[k], 12);
    r.numbers.insert(r.numbers.end(), {double(reports[k].iterations), reports[k].residual});
  }
}

void shifted(quarksmith_gauge* gauge, const Numbers& b, Results& r) {
  const quarksmith_spinor_format format = spinor_format();
  Handle<quarksmith_shifted> solver;
  EXPECT_DONE(quarksmith_shifted_create(gauge, "action=wilson mass=0.1 even-odd=none", 2, solver.out()));
  const double shifts[] = {0.05, 0.5};
  std::vector<Numbers> x(2, Numbers(b.size()));
  EXPECT_DONE(quarksmith_shifted_solve(solver, 2, shifts, outputs(x).data(), b.data(), &format, nullptr));
  for (const Numbers& one : x) r.arrays.emplace_back(one, 12);
}

void forces(quarksmith_gauge* gauge, const Numbers& momenta, const Numbers& phi, Results& r) {
  Handle<quarksmith_dynamics> dynamics;
  EXPECT_DONE(quarksmith_dynamics_create(gauge, dynamics.out()));
  const quarksmith_link_format links = link_format();
  const quarksmith_spinor_format format = spinor_format();
  const void* array = momenta.data();
  EXPECT_DONE(quarksmith_dynamics_set_momenta(dynamics, &array, &links));
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  for (double& c : loops.planes) c = 5.5;
  loops.rectangle = -0.2;
  double kinetic = 0, action = 0;
  EXPECT_DONE(quarksmith_dynamics_kinetic(dynamics, &kinetic));
  EXPECT_DONE(quarksmith_gauge_action(dynamics, &loops, &action));
  r.numbers.insert(r.numbers.end(), {kinetic, action});
  EXPECT_DONE(quarksmith_gauge_force(dynamics, &loops, 0.1));
  Handle<quarksmith_quark> quark;
  EXPECT_DONE(quarksmith_quark_create(dynamics, "action=wilson mass=0.2 even-odd=none tol=1e-10", quark.out()));
  quarksmith_rational one = initial(quarksmith_rational_init);
  const double residue = 1, pole = 0;
  one.count = 1, one.residues = &residue, one.poles = &pole;
  const void* vector = phi.data();
  EXPECT_DONE(quarksmith_quark_action(quark, &one, 1, &vector, &format, &action));
  EXPECT_DONE(quarksmith_quark_force(quark, &one, 1, &vector, &format, 0.1));
  EXPECT_DONE(quarksmith_dynamics_drift(dynamics, 0.1));
  r.numbers.push_back(action);
  for (const auto get : {quarksmith_dynamics_get_momenta, quarksmith_dynamics_get_links}) {
    Numbers left(momenta.size());
    void* to = left.data();
    EXPECT_DONE(get(dynamics, &to, &links));
    r.arrays.emplace_back(left, 36);
  }
}

/// Everything on a context, from arrays of its lattice.
Results everything(quarksmith_context* context, const std::function<Numbers(const Numbers&, std::size_t)>& local) {
  Results r;
  const Lattice lattice(whole);
  std::vector<Numbers> b;
  for (unsigned n = 0; n < 2; ++n) b.push_back(local(random_numbers(12 * std::size_t(lattice.sites()), 7 + n), 12));
  const Gauge gauge = load_numbers(context, local(signed_links(), 36));
  double phase[4], plaquette[3];
  EXPECT_DONE(quarksmith_gauge_phase(gauge, phase));
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, plaquette));
  r.numbers.insert(r.numbers.end(), phase, phase + 4);
  r.numbers.push_back(plaquette[0]);
  Numbers back(b[0].size() * 3);
  void* to = back.data();
  const quarksmith_link_format format = link_format();
  EXPECT_DONE(quarksmith_gauge_get(gauge, &to, &format));
  r.arrays.emplace_back(back, 36);
  dslash_and_solves(gauge, b, "action=wilson mass=0.1", r);
  dslash_and_solves(gauge, {b[0]}, "action=clover mass=0.2 csw=1.1", r);
  shifted(gauge, b[0], r);
  HostGauge p(lattice);
  std::mt19937_64 engine(3);
  std::normal_distribution<double> draw;
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int mu = 0; mu < 4; ++mu) {
      const double a = draw(engine), c = draw(engine), d = draw(engine), e = draw(engine);
      const Complex64 i1(0, 1);
      const Complex64 m[9] = {i1 * a, {c, d}, 0, {-c, d}, -i1 * a, i1 * e, 0, i1 * e, 0};
      std::copy_n(m, 9, p.link(i, mu).data());
    }
  forces(gauge, local(numbers_of(p), 36), b[1], r);
  const Field x = make_field(context, "rhs=2");
  set(x, 0, b[0]), set(x, 1, b[1]);
  const Field y = make_field(context, "rhs=2");
  EXPECT_DONE(quarksmith_field_copy(y, x));
  std::vector<double> sums(6);
  EXPECT_DONE(quarksmith_norm2(x, sums.data()));
  EXPECT_DONE(quarksmith_dot(x, y, sums.data() + 2));
  r.numbers.insert(r.numbers.end(), sums.begin(), sums.end());
  return r;
}

void expect_same(const Results& local, const Results& all, const Lattice& here) {
  ASSERT_EQ(local.numbers.size(), all.numbers.size());
  for (std::size_t n = 0; n < all.numbers.size(); ++n) EXPECT_EQ(local.numbers[n], all.numbers[n]) << "number " << n;
  ASSERT_EQ(local.arrays.size(), all.arrays.size());
  for (std::size_t n = 0; n < all.arrays.size(); ++n)
    EXPECT_EQ(local.arrays[n].first, cut(all.arrays[n].first, here, all.arrays[n].second)) << "array " << n;
}

/// What one process gives on the whole lattice.
const Results& alone() {
  static const Results all = [] {
    const Context context = open("cpu", whole);
    return everything(context, [](const Numbers& numbers, std::size_t) { return numbers; });
  }();
  return all;
}

constexpr const char* no_mpi = "ranks of a calling program: start it with mpirun";
bool running() {
  int begun = 0;
  MPI_Initialized(&begun);
  return begun != 0;
}

TEST(COnRanks, LocalArraysGiveTheBitsOfOneProcess) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const Order orders[] = {Order::x_fastest, Order::t_fastest, Order::reverse};
  int n = 0;
  for (const Coordinates& grid : ranks::grids(whole)) {
    SCOPED_TRACE(text(grid));
    const Copy comm;
    const Here here(comm, grid, orders[n++ % 3]);
    expect_same(
        everything(here.context, [&](const Numbers& all, std::size_t each) { return cut(all, here.lattice, each); }),
        alone(), here.lattice);
  }
}

TEST(COnRanks, DisjointGroupsWorkAtATime) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const int groups = world().size() > 1 ? 2 : 1, size = world().size() / groups;
  const Copy comm(world().rank() % groups, world().rank());
  const Here here(comm, {1, 1, 1, size}, Order::x_fastest);
  expect_same(
      everything(here.context, [&](const Numbers& all, std::size_t each) { return cut(all, here.lattice, each); }),
      alone(), here.lattice);
}

TEST(COnRanks, WhatOneRankRefusesIsAnErrorOfAll) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const Copy comm;
  const int size = world().size(), last = size - 1;
  const Here here(comm, a_grid(), Order::x_fastest);
  const bool wrong = world().rank() == last;
  const std::string by = wrong || size == 1 ? "" : fmt::format("rank {}: ", last);
  const Gauge gauge = load_numbers(here.context, cut(signed_links(), here.lattice, 36));
  double plaquette[3];
  refused(quarksmith_gauge_plaquette(gauge, wrong ? nullptr : plaquette), QUARKSMITH_BAD_ARGUMENT,
          by + "plaquette is NULL");
  Operator op;
  refused(quarksmith_operator_create(gauge, wrong ? "action=wilson mas=0.1" : "action=wilson mass=0.1", op.out()),
          QUARKSMITH_UNKNOWN_NAME, "mas");
  if (size > 1)
    refused(quarksmith_operator_create(gauge, wrong ? "action=wilson mass=0.1" : "action=wilson mass=0.2", op.out()),
            QUARKSMITH_BAD_ARGUMENT, "pass the same on all");
  Numbers links = cut(signed_links(), here.lattice, 36);
  if (wrong) links[5] = std::nan("");
  const void* array = links.data();
  const quarksmith_link_format format = link_format();
  Gauge other;
  refused(quarksmith_gauge_load(here.context, &array, &format, other.out()), QUARKSMITH_BAD_DATA, "");
  refused(quarksmith_gauge_read(here.context, "/no/such/file", other.out()), QUARKSMITH_FILE_ERROR, "/no/such/file");
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, plaquette));  // the program goes on
}

TEST(COnRanks, WhatIsWrongWithRanksIsSaid) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const int size = world().size(), extent[4] = {4, 4, 4, 4};
  Context context;
  quarksmith_ranks r = initial(quarksmith_ranks_init);
  std::fill_n(r.grid, 4, 1);
  r.grid[3] = size;
  refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_ARGUMENT, "communicator -1");
  quarksmith_ranks_use(&r, MPI_COMM_WORLD);
  r.grid[3] = size + 1;
  refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_ARGUMENT,
          fmt::format("{} ranks on a communicator of {}", size + 1, size));
  r.grid[3] = 0;
  refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_ARGUMENT, "1x1x1x0");
  r.grid[3] = size;
  if (size > 1) {
    r.rank_of = [](const int*, void*) { return 0; };
    refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_ARGUMENT, "once");
    r.rank_of = nullptr;
  }
  r.axes[0] = 3;
  refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_ARGUMENT, "axes 3,1,2,3");
  r.axes[0] = 0;
  const int odd[4] = {4, 4, 4, 3};
  refused(quarksmith_open_ranks("cpu", odd, &r, context.out()), QUARKSMITH_WRONG_LATTICE, "");
  r.size = 1;
  refused(quarksmith_open_ranks("cpu", extent, &r, context.out()), QUARKSMITH_BAD_STRUCT, "quarksmith_ranks_init");
}

TEST(COnRanks, MessagesOfTheCallerAreNotTouched) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const Copy comm;
  const int size = world().size(), rank = world().rank();
  const Here here(comm, a_grid(), Order::x_fastest);
  const Gauge gauge = load_numbers(here.context, cut(signed_links(), here.lattice, 36));
  std::vector<int> arrived(size, -1), sent(size, rank);
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size; ++r) {
    MPI_Irecv(&arrived[r], 1, MPI_INT, r, MPI_ANY_TAG, comm, &requests.emplace_back());
    if (rank % 2 == 0) MPI_Isend(&sent[r], 1, MPI_INT, r, 0, comm, &requests.emplace_back());
  }
  Results r;
  dslash_and_solves(gauge, {cut(random_numbers(12 * std::size_t(Lattice(whole).sites()), 1), here.lattice, 12)},
                    "action=wilson mass=0.1", r);
  for (int to = 0; to < size && rank % 2 == 1; ++to)
    MPI_Isend(&sent[to], 1, MPI_INT, to, 0, comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int from = 0; from < size; ++from) EXPECT_EQ(arrived[from], from);
}

TEST(COnRanks, ContextsComeAndGo) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const int size = world().size();
  for (int n = 0; n < 100; ++n) {
    const Copy comm;
    const Here here(comm, a_grid(), Order::x_fastest);
    const Field x = make_field(here.context);
    double norm = -1;
    EXPECT_DONE(quarksmith_norm2(x, &norm));
    EXPECT_EQ(norm, 0);
  }
  Context context;
  Field x;
  {
    const Copy comm;
    Here here(comm, a_grid(), Order::x_fastest);
    context = std::move(here.context);
    x = make_field(context);
  }
  double norm = -1;
  if (size > 1) refused(quarksmith_norm2(x, &norm), QUARKSMITH_BAD_ARGUMENT, "was freed");
}

TEST(COnRanks, ConfigurationsAreWrittenTogether) {
  if (!running()) GTEST_SKIP() << no_mpi;
  const Copy comm;
  const Here here(comm, a_grid(), Order::reverse);
  const std::string path = world().broadcast(
      (std::filesystem::temp_directory_path() / fmt::format("c_on_ranks_{}.ildg", getpid())).string());
  const Numbers links = cut(signed_links(), here.lattice, 36);
  const Gauge gauge = load_numbers(here.context, links);
  EXPECT_DONE(quarksmith_gauge_write(gauge, path.c_str(), "ildg", 64));
  if (world().size() > 1)
    refused(quarksmith_gauge_write(gauge, path.c_str(), "ildg", world().rank() == 0 ? 32 : 64), QUARKSMITH_BAD_ARGUMENT,
            "pass the same on all");
  Gauge read;
  EXPECT_DONE(quarksmith_gauge_read(here.context, path.c_str(), read.out()));
  Numbers back(links.size());
  void* to = back.data();
  const quarksmith_link_format format = link_format();
  EXPECT_DONE(quarksmith_gauge_get(read, &to, &format));
  EXPECT_EQ(back, links);
  Result result;
  EXPECT_DONE(quarksmith_run(here.context, "eigen", "gauge=links action=wilson mass=0.2 count=2 tol=1e-6", gauge,
                             result.out()));
  const char* json = "";
  EXPECT_DONE(quarksmith_result_text(result, QUARKSMITH_JSON, &json));
  EXPECT_NE(std::string(json).find("eigenvalues"), std::string::npos) << json;
  Field vectors;
  EXPECT_DONE(quarksmith_result_field(result, vectors.out()));
  std::vector<double> norms(2);
  EXPECT_DONE(quarksmith_norm2(vectors, norms.data()));
  EXPECT_NEAR(norms[0], 1, 1e-9);
  world().barrier();
  if (world().rank() == 0) std::filesystem::remove(path);
}

TEST(COnRanks, ThreadsWorkOnCommunicatorsOfTheirOwn) {
  if (!running()) GTEST_SKIP() << no_mpi;
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI was started without MPI_THREAD_MULTIPLE";
  const Copy first, second;
  alone();
  std::vector<std::thread> threads;
  for (const MPI_Comm comm : {MPI_Comm(first), MPI_Comm(second)})
    threads.emplace_back([comm] {
      const Here here(comm, a_grid(), Order::x_fastest);
      expect_same(
          everything(here.context, [&](const Numbers& all, std::size_t each) { return cut(all, here.lattice, each); }),
          alone(), here.lattice);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace c_on_ranks
#endif
