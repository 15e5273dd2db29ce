// Programs that call QUDA on ranks of theirs: MILC's calls and those of quda.h on local lattices, with the numberings
// of ranks that its clients have, give the bits of one process.
#ifdef QUARKSMITH_MPI
#include <quda_milc_interface.h>

#include <numbers>

#include "tests/ranks/c_interface.hpp"

namespace {
/// What QMP would say of this program, once it has declared a grid; x is not the fastest.
const int* declared = nullptr;
}  // namespace
extern "C" {
int QMP_logical_topology_is_declared() { return declared != nullptr; }
int QMP_get_logical_number_of_dimensions() { return 4; }
const int* QMP_get_logical_dimensions() { return declared; }
int QMP_get_node_number_from(const int* place) { return c_on_ranks::reversed(place, const_cast<int*>(declared)); }
}

namespace c_on_ranks {
namespace {

const Coordinates all_sites = {8, 4, 4, 8};

/// Even sites, then odd ones, from the lexicographic order; one parity if asked.
Numbers even_odd(const Numbers& sites, const Lattice& on, std::size_t each, int parity = QUARKSMITH_FULL) {
  constexpr int axes[] = {0, 1, 2, 3};
  Numbers sorted(sites.size());
  for (long long n = 0; n < on.sites(); ++n)
    std::copy_n(sites.begin() + n * long(each), each,
                sorted.begin() + long(each) * c::place_of(on, n, QUARKSMITH_EVEN_ODD, axes));
  const long half = long(sorted.size() / 2);
  if (parity == QUARKSMITH_FULL) return sorted;
  return {sorted.begin() + parity * half, sorted.begin() + (1 + parity) * half};
}

/// Results: sums, which may differ in their last digits, and arrays with their numbers a site.
struct Made {
  std::vector<double> sums;
  struct Array {
    Numbers numbers;
    std::size_t each;
    int parity = QUARKSMITH_FULL;
  };
  std::vector<Array> arrays;
};

/// The program on one local lattice, with data that are parts of those of the whole one.
class Client {
 public:
  explicit Client(const Lattice& lattice) : lattice_(lattice) { std::copy_n(lattice.extent().begin(), 4, extent_); }

  Made native() const {
    Made made;
    QudaGaugeParam g = newQudaGaugeParam();
    std::copy_n(extent_, 4, g.X);
    g.cpu_prec = g.cuda_prec = g.cuda_prec_sloppy = QUDA_DOUBLE_PRECISION;
    g.type = QUDA_WILSON_LINKS, g.gauge_order = QUDA_QDP_GAUGE_ORDER, g.t_boundary = QUDA_PERIODIC_T;
    g.reconstruct = QUDA_RECONSTRUCT_NO, g.gauge_fix = QUDA_GAUGE_FIXED_NO, g.anisotropy = 1;
    HostGauge u = weak_gauge(Lattice(all_sites), 0.3, 5);
    std::vector<Numbers> links(4);  // antiperiodic, by phases of all links
    for (int mu = 0; mu < 4; ++mu) {
      for (long long n = 0; n < u.lattice.sites(); ++n)
        for (int k = 0; k < 9; ++k)
          links[mu].push_back(u.link(n, mu)[k] * std::polar(1.0, mu == 3 ? std::numbers::pi / all_sites[3] : 0));
      links[mu] = here(links[mu], 9);
    }
    loadGaugeQuda(outputs(links).data(), &g);
    made.sums.resize(5);
    plaqQuda(made.sums.data());
    polyakovLoopQuda(made.sums.data() + 3, 3);
    solves(made);
    momenta(made, g);
    g.staggered_phase_type = QUDA_STAGGERED_PHASE_MILC, g.return_result_gauge = 1;
    g.t_boundary = QUDA_ANTI_PERIODIC_T;
    staggeredPhaseQuda(outputs(links).data(), &g);
    for (const Numbers& one : links) made.arrays.push_back({one, 9});
    freeCloverQuda();
    freeGaugeQuda();
    return made;
  }

  Made milc() const {
    Made made;
    const Numbers fat = here(random_numbers(36 * std::size_t(Lattice(all_sites).sites()), 1), 36);
    const Numbers naik = here(random_numbers(36 * std::size_t(Lattice(all_sites).sites()), 2), 36);
    Numbers b = source(3, 3), x(b.size()), y[2] = {x, x};
    QudaInvertArgs_t a{};
    a.max_iter = 2000, a.evenodd = QUDA_EVEN_PARITY, a.tadpole = 1;
    int count = -1;
    double residual = 0, heavy = 0;
    qudaDslash(2, 2, a, fat.data(), naik.data(), b.data(), x.data(), &count);
    made.arrays.push_back({x, 3});
    std::fill(x.begin(), x.end(), 0);
    a.evenodd = QUDA_ODD_PARITY;
    qudaInvert(2, 2, 0.8, a, 1e-9, 0, fat.data(), naik.data(), b.data(), x.data(), &residual, &heavy, &count);
    made.arrays.push_back({x, 3});
    made.sums.insert(made.sums.end(), {residual, double(count)});
    double offsets[] = {2.5, 4}, targets[] = {1e-8, 0}, none[2] = {}, finals[2];
    void* to[] = {y[0].data(), y[1].data()};
    qudaMultishiftInvert(2, 2, 2, offsets, a, targets, none, fat.data(), naik.data(), b.data(), to, finals, none,
                         &count);
    for (const Numbers& one : y) made.arrays.push_back({one, 3});
    made.sums.insert(made.sums.end(), {finals[0], finals[1], double(count)});
    return made;
  }

 private:
  Numbers here(const Numbers& all, std::size_t each, int parity = QUARKSMITH_FULL) const {
    return even_odd(lattice_.ranks() > 1 ? cut(all, lattice_, each) : all, lattice_, each, parity);
  }
  Numbers source(std::size_t each, unsigned seed, int parity = QUARKSMITH_FULL) const {
    return here(random_numbers(each * std::size_t(Lattice(all_sites).sites()), seed), each, parity);
  }

  void solves(Made& made) const {
    QudaInvertParam p = newQudaInvertParam();
    p.dslash_type = QUDA_CLOVER_WILSON_DSLASH, p.kappa = 0.11, p.clover_csw = 1.2, p.clover_coeff = 0;
    p.compute_clover = 1, p.compute_clover_trlog = 1, p.clover_cpu_prec = QUDA_DOUBLE_PRECISION;
    p.cpu_prec = p.cuda_prec = p.cuda_prec_sloppy = QUDA_DOUBLE_PRECISION;
    p.inv_type = QUDA_BICGSTAB_INVERTER, p.solve_type = QUDA_DIRECT_PC_SOLVE, p.solution_type = QUDA_MAT_SOLUTION;
    p.matpc_type = QUDA_MATPC_EVEN_EVEN, p.dagger = QUDA_DAG_NO, p.mass_normalization = QUDA_MASS_NORMALIZATION;
    p.dirac_order = QUDA_DIRAC_ORDER, p.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS;
    p.residual_type = QUDA_L2_RELATIVE_RESIDUAL, p.tol = 1e-9, p.maxiter = 1000;
    loadCloverQuda(nullptr, nullptr, &p);
    made.sums.insert(made.sums.end(), p.trlogA, p.trlogA + 2);
    Numbers b = source(12, 7), x(b.size());
    invertQuda(x.data(), b.data(), &p);
    made.arrays.push_back({x, 12});
    made.sums.insert(made.sums.end(), {p.true_res[0], double(p.iter)});
    MatQuda(x.data(), b.data(), &p);
    made.arrays.push_back({x, 12});
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.matpc_type = QUDA_MATPC_ODD_ODD, p.inv_type = QUDA_CG_INVERTER;
    p.solve_type = QUDA_NORMOP_PC_SOLVE, p.num_offset = 2;
    p.offset[0] = 0.01, p.offset[1] = 0.3, p.tol_offset[0] = p.tol_offset[1] = 1e-8;
    Numbers half = source(12, 7, QUARKSMITH_ODD), y[2] = {half, half};
    void* to[] = {y[0].data(), y[1].data()};
    invertMultiShiftQuda(to, half.data(), &p);
    for (int n = 0; n < 2; ++n) {
      made.arrays.push_back({y[n], 12, QUARKSMITH_ODD});
      made.sums.push_back(p.true_res_offset[n]);
    }
  }

  void momenta(Made& made, QudaGaugeParam g) const {
    g.gauge_order = QUDA_MILC_GAUGE_ORDER;
    Numbers p = source(20, 8);
    for (std::size_t n = 0; n < p.size(); n += 5) p[n + 4] = {-p[n + 3].real() - p[n + 3].imag(), 0};
    made.sums.push_back(momActionQuda(p.data(), &g));
  }

  Lattice lattice_;
  int extent_[4];
};

class QudaOnRanks : public testing::Test {
 protected:
  void SetUp() override {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun == 0) GTEST_SKIP() << "ranks of a program that calls QUDA: start it with mpirun";
    const char* asked = std::getenv("QUARKSMITH_TEST_DEVICE");
    setenv("QUARKSMITH_DEVICE", asked == nullptr ? "cpu" : asked, 1);
    setVerbosityQuda(QUDA_SILENT, "", stdout);
  }

  /// Compares with what this rank alone makes of the whole lattice.
  void expect_same(const Made& made, const Made& alone, const Lattice& lattice) const {
    const bool cpu = std::getenv("QUARKSMITH_DEVICE") == std::string("cpu");
    ASSERT_EQ(made.sums.size(), alone.sums.size());
    for (std::size_t n = 0; n < made.sums.size(); ++n)
      if (cpu || alone.sums[n] != std::round(alone.sums[n])) {
        EXPECT_NEAR(made.sums[n], alone.sums[n], 1e-12 * std::max(1.0, std::abs(alone.sums[n]))) << "sum " << n;
      }
    ASSERT_EQ(made.arrays.size(), alone.arrays.size());
    for (std::size_t n = 0; n < made.arrays.size(); ++n) {
      const auto& [numbers, each, parity] = alone.arrays[n];
      const Numbers part = part_of(numbers, each, parity, lattice);
      EXPECT_LE(distance(made.arrays[n].numbers, part), cpu ? 0 : 1e-7) << "array " << n;
    }
  }
  static Numbers part_of(const Numbers& numbers, std::size_t each, int parity, const Lattice& lattice) {
    constexpr int axes[] = {0, 1, 2, 3};
    const Lattice whole_lattice(all_sites);
    const std::size_t before = parity == QUARKSMITH_ODD ? numbers.size() : 0;  // of even sites, which are not there
    Numbers sites(each * std::size_t(whole_lattice.sites()));
    for (long long n = 0; n < whole_lattice.sites(); ++n) {
      const std::size_t place = each * std::size_t(c::place_of(whole_lattice, n, QUARKSMITH_EVEN_ODD, axes));
      if (place >= before && place - before < numbers.size())
        std::copy_n(numbers.begin() + long(place - before), each, sites.begin() + n * long(each));
    }
    return even_odd(cut(sites, lattice, each), lattice, each, parity);
  }
  static const Made& alone(bool milc) {
    static const auto both = [] {
      MPI_Comm self = MPI_COMM_SELF;
      setMPICommHandleQuda(&self);
      int extent[4], grid[] = {1, 1, 1, 1};
      std::copy_n(all_sites.begin(), 4, extent);
      qudaInit({QUDA_SILENT, {extent, grid, 0}});
      const Client client{Lattice(all_sites)};
      const std::array<Made, 2> made{client.native(), client.milc()};
      endQuda();
      return made;
    }();
    return both[milc];
  }
};

TEST_F(QudaOnRanks, FunctionsOfQudaGiveTheBitsOfOneProcess) {
  const Made& wanted = alone(false);
  int n = 0;
  for (Coordinates grid : ranks::grids(all_sites)) {
    SCOPED_TRACE(text(grid));
    const Copy comm;
    MPI_Comm handle = comm;
    const bool named = n++ % 2 == 0;
    setMPICommHandleQuda(&handle);
    initCommsGridQuda(4, grid.data(), named ? reversed : nullptr, named ? grid.data() : nullptr);
    initQuda(named ? -1 : world().rank());
    const Lattice lattice(all_sites, grid, place_of(comm, grid, named ? Order::reverse : Order::t_fastest));
    expect_same(Client(lattice).native(), wanted, lattice);
    endQuda();
  }
}

TEST_F(QudaOnRanks, MilcsFunctionsGiveTheBitsOfOneProcess) {
  const Made& wanted = alone(true);
  for (Coordinates grid : ranks::grids(all_sites)) {
    SCOPED_TRACE(text(grid));
    bool reaches = true;  // long links are three sites long
    for (int mu = 0; mu < 4; ++mu) reaches = reaches && all_sites[mu] >= 4 * grid[mu];
    if (!reaches) continue;
    declared = grid[3] > 1 ? grid.data() : nullptr;  // with QMP, and without
    MPI_Comm world_ranks = MPI_COMM_WORLD;
    qudaSetMPICommHandle(&world_ranks);
    int extent[4];
    std::copy_n(all_sites.begin(), 4, extent);
    qudaInit({QUDA_SILENT, {extent, grid.data(), 0}});
    const Lattice lattice(all_sites, grid,
                          place_of(MPI_COMM_WORLD, grid, declared ? Order::reverse : Order::x_fastest));
    expect_same(Client(lattice).milc(), wanted, lattice);
    qudaFinalize();
  }
  declared = nullptr;
}

/// Ends the job: run by itself (tests/command/test_quda_ranks.py).
TEST_F(QudaOnRanks, DISABLED_OneRankRefuses) {
  const Coordinates grid = {1, 1, 1, world().size()};
  initCommsGridQuda(4, grid.data(), nullptr, nullptr);
  initQuda(-1);
  QudaGaugeParam g = newQudaGaugeParam();
  std::fill_n(g.X, 4, 4);
  g.cpu_prec = QUDA_DOUBLE_PRECISION, g.type = QUDA_WILSON_LINKS, g.gauge_order = QUDA_MILC_GAUGE_ORDER;
  g.i_mu = world().rank() == 1 ? 0.1 : 0;
  Numbers links = numbers_of(unit_gauge(Lattice({4, 4, 4, 4})));
  loadGaugeQuda(links.data(), &g);
}

}  // namespace
}  // namespace c_on_ranks
#endif
