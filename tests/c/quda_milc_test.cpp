// The library of QUDA's names as MILC calls it: its order of calls, its arrays, and what it leaves uninitialised.
#include <quda_milc_interface.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <regex>

#include "tests/c/support.hpp"

namespace {

using namespace c;

/// Numbers in the precision of MILC's arrays: 1 or 2.
struct MilcArray {
  MilcArray(int p, Numbers n) : precision(p), numbers(std::move(n)) {
    for (const Complex64 z : numbers) single.emplace_back(float(z.real()), float(z.imag()));
    if (p == 1) std::copy(single.begin(), single.end(), numbers.begin());
  }
  void* data() { return precision == 1 ? static_cast<void*>(single.data()) : numbers.data(); }
  /// What a call has left there.
  Numbers now() const { return precision == 1 ? Numbers(single.begin(), single.end()) : numbers; }

  int precision;
  Numbers numbers;
  std::vector<std::complex<float>> single;
};

/// The call must end its program by SIGABRT after one line on stderr, which has the text.
void aborts(const std::function<void()>& call, const std::string& text) {
  int ends[2], status = 0;
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    call();
    _exit(0);
  }
  close(ends[1]);
  std::string all;
  char part[256];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) all.append(part, std::size_t(n));
  close(ends[0]);
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << text;
  EXPECT_TRUE(std::regex_search(all, std::regex("^ERROR: " + text)) && std::ranges::count(all, '\n') == 1) << all;
}

class QudaMilc : public testing::Test {
 protected:
  void SetUp() override {
    int extent[4], grid[] = {1, 1, 1, 1};
    std::copy_n(lattice.extent().begin(), 4, extent);
    qudaInit({QUDA_SILENT, {extent, grid, 0}});
    const HostGauge u = hot_gauge(lattice, 2);
    for (long long n = 0; n < lattice.sites(); ++n)
      for (int mu = 0; mu < 4; ++mu)
        for (int k = 0; k < 9; ++k)
          lng[std::size_t(36 * place(n) + 9 * mu + k)] = std::polar(-1.0 / 24, 0.3) * u.link(n, mu)[k];
  }
  void TearDown() override { qudaFinalize(); }

  int place(long long site) const {
    constexpr int axes[] = {0, 1, 2, 3};
    return place_of(lattice, site, QUARKSMITH_EVEN_ODD, axes);
  }
  /// D v, formula of improved staggered quarks on MILC's links, which hold all phases.
  Numbers d(const Numbers& fat_links, const Numbers& v) const {
    Numbers out(v.size());
    for (long long n = 0; n < lattice.sites(); ++n)
      for (int mu = 0; mu < 4; ++mu)
        for (const int length : {1, 3, -1, -3}) {
          Coordinates x = lattice.coordinates(n);
          x[mu] = (x[mu] + length + 2 * lattice.extent(mu)) % lattice.extent(mu);
          const int here = place(n), there = place(lattice.index(x));
          const Numbers& links = std::abs(length) == 1 ? fat_links : lng;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              out[std::size_t(3 * here + a)] +=
                  v[std::size_t(3 * there + b)] *
                  (length > 0 ? links[std::size_t(36 * here + 9 * mu + 3 * a + b)]
                              : -std::conj(links[std::size_t(36 * there + 9 * mu + 3 * b + a)]));
        }
    return out;
  }
  /// The half of a parity; the other one is 0.
  Numbers half(Numbers v, int parity) const {
    std::fill_n(v.begin() + (1 - parity) * long(v.size() / 2), v.size() / 2, 0.0);
    return v;
  }
  /// |b - (shift - D^2) x| / |b| on the sites of a parity, and (shift - D^2) x.
  double residual(const Numbers& fat_links, double shift, const Numbers& x, const Numbers& b, int parity) const {
    return distance(image(fat_links, shift, x, parity), half(b, parity));
  }
  Numbers image(const Numbers& fat_links, double shift, const Numbers& x, int parity) const {
    const Numbers on = half(x, parity), dd = d(fat_links, d(fat_links, on));
    Numbers all = on;
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = shift * on[n] - dd[n];
    return half(all, parity);
  }
  /// The root of the mean of |r|^2 / |x|^2 over the sites of a parity.
  double heavy_quark(const Numbers& fat_links, double shift, const Numbers& x, const Numbers& b, int parity) const {
    const Numbers ax = image(fat_links, shift, x, parity);
    double sum = 0;
    for (std::size_t n = parity * x.size() / 2; n < (1 + parity) * x.size() / 2; n += 3) {
      double rr = 0, xx = 0;
      for (std::size_t k = n; k < n + 3; ++k) rr += std::norm(b[k] - ax[k]), xx += std::norm(x[k]);
      sum += rr / xx;
    }
    return std::sqrt(6 * sum / double(x.size()));
  }
  QudaInvertArgs_t args(int parity, int mixed = 0) const {
    QudaInvertArgs_t a;
    std::memset(&a, 0x5a, sizeof a);  // what MILC does not set
    a.max_iter = 2000, a.evenodd = QudaParity(parity), a.mixed_precision = mixed, a.tadpole = 1, a.naik_epsilon = 0;
    return a;
  }

  Lattice lattice{{4, 4, 4, 4}};
  Numbers fat = random_numbers(36 * std::size_t(lattice.sites()), 1), lng{Numbers(fat.size())};
  Numbers b = random_numbers(3 * std::size_t(lattice.sites()), 3);
};

TEST_F(QudaMilc, OperatorInPlaceAndWithLinksThatChange) {
  for (const int parity : {1, 0}) {
    Numbers v = b;
    int changed = -1;
    qudaDslash(2, 2, args(parity), fat.data(), lng.data(), v.data(), v.data(), &changed);
    EXPECT_LE(distance(half(v, parity), half(d(fat, b), parity)), 1e-14);
    EXPECT_EQ(half(v, 1 - parity), half(b, 1 - parity));
    changed = 0;  // not true: the digest of the links shows it
    for (Complex64& z : fat) z *= 0.9;
    qudaDslash(2, 1, args(parity), fat.data(), lng.data(), b.data(), v.data(), &changed);
    EXPECT_LE(distance(half(v, parity), half(d(fat, b), parity)), 1e-14);
  }
}

TEST_F(QudaMilc, ShiftsWithoutATargetGoOn) {
  std::vector<double> offsets = {0.01, 0.3, 4}, targets = {1e-3, 0, 0}, fermilab(3), final(3), heavy(3, -1);
  std::vector<Numbers> x(3, b);
  int count = -1;
  qudaMultishiftInvert(2, 2, 3, offsets.data(), args(1), targets.data(), fermilab.data(), fat.data(), lng.data(),
                       b.data(), outputs(x).data(), final.data(), heavy.data(), &count);
  for (int n = 0; n < 3; ++n) {
    const double found = residual(fat, offsets[n], x[n], b, 1);
    EXPECT_NEAR(final[n], found, 1e-9 * found + 1e-15) << n;
    EXPECT_LE(found, n == 0 ? 1e-3 : final[n - 1]);
    EXPECT_EQ(half(x[n], 0), half(b, 0));
    EXPECT_EQ(heavy[n], 0);
  }
  EXPECT_LT(final[2], 1e-2 * final[0]);
  EXPECT_GT(count, 10);
}

TEST_F(QudaMilc, MomentaAndLoopsOfTheSiteStructure) {
  struct Site {
    float before[3];
    double links[72], momenta[40];
  };
  const HostGauge u = hot_gauge(lattice, 5);
  const Numbers draws = random_numbers(20 * std::size_t(lattice.sites()), 6);
  std::vector<Site> sites(std::size_t(lattice.sites()));
  double action = 0, loop = 0;
  for (long long n = 0; n < lattice.sites(); ++n) {
    Site& s = sites[std::size_t(place(n))];
    const Coordinates x = lattice.coordinates(n);
    const int counted[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] == lattice.extent(3) - 1};
    for (int mu = 0; mu < 4; ++mu) {
      for (int k = 0; k < 9; ++k) {
        const Complex64 z = (counted[mu] % 2 == 0 ? 1.0 : -1.0) * u.link(n, mu)[k];
        s.links[18 * mu + 2 * k] = z.real(), s.links[18 * mu + 2 * k + 1] = z.imag();
      }
      double* const p = s.momenta + 10 * mu;
      std::memcpy(p, &draws[std::size_t(20 * n + 5 * mu)], 10 * sizeof(double));
      p[8] = -p[6] - p[7], p[9] = NAN;
      for (int k = 0; k < 9; ++k) action += (k < 6 ? 1 : 0.5) * p[k] * p[k];
      action -= 4;
    }
    if (x[3] == 0) {
      Matrix3 line = u.site[n][3];
      for (int t = 1; t < lattice.extent(3); ++t)
        line = multiply(line, u.site[lattice.index({x[0], x[1], x[2], t})][3]);
      loop += (line[0] + line[4] + line[8]).real() * lattice.extent(3) / double(lattice.sites());
    }
  }
  QudaMILCSiteArg_t arg = {sites.data(), nullptr, offsetof(Site, links), nullptr, offsetof(Site, momenta),
                           sizeof(Site)};
  EXPECT_NEAR(qudaMomAction(2, &arg), action, 1e-10);
  const Gauge plain = load(open("cpu", lattice.extent()), u);
  double mine[3], plaquette[3], polyakov[2];
  EXPECT_DONE(quarksmith_gauge_plaquette(plain, mine));
  qudaPlaquettePhased(2, plaquette, &arg, 1);
  for (int n = 0; n < 3; ++n) EXPECT_NEAR(plaquette[n], mine[n], 1e-13);
  qudaPolyakovLoopPhased(2, polyakov, 3, &arg, 1);
  EXPECT_NEAR(polyakov[0], loop, 1e-13);
  QudaGaugeParam p = newQudaGaugeParam();
  std::copy_n(lattice.extent().begin(), 4, p.X);
  p.cpu_prec = QUDA_DOUBLE_PRECISION, p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_MILC_SITE_GAUGE_ORDER;
  p.gauge_offset = arg.link_offset, p.mom_offset = arg.mom_offset, p.site_size = arg.size;
  p.staggered_phase_applied = 1, p.staggered_phase_type = QUDA_STAGGERED_PHASE_MILC;
  p.t_boundary = QUDA_ANTI_PERIODIC_T;
  EXPECT_NEAR(momActionQuda(sites.data(), &p), action, 1e-10);
  loadGaugeQuda(sites.data(), &p);
  polyakovLoopQuda(polyakov, 3);
  EXPECT_NEAR(polyakov[0], -loop, 1e-13);  // of links with the sign of the boundary
  aborts([&] { qudaPolyakovLoopPhased(2, polyakov, 0, &arg, 1); }, "qudaPolyakovLoopPhased: dir 0");
  aborts([&] { qudaGaugeForcePhased(2, 4, mine, 0, &arg, 1); }, "qudaGaugeForcePhased: num_loop_types 4");
}

TEST_F(QudaMilc, LatticesThatRanksCannotShareAreRefused) {
  int extent[] = {4, 4, 4, 6}, odd[] = {4, 4, 3, 4}, grid[] = {1, 1, 1, 4}, one[] = {1, 1, 1, 1};
  aborts([&] { qudaSetLayout({extent, grid, 0}); }, "qudaSetLayout: latsize .* 3");
  aborts([&] { qudaSetLayout({odd, one, 0}); }, "qudaSetLayout: .*3 sites in direction 2");
}

/// A call of qudaInvert or qudaMultishiftInvert.
struct MilcSetting {
  int external, internal, parity, mixed, shifts, wrong;
  bool in_place;
  double mass, tolerance, fermilab = 0;
};

/// One of a hundred, some of them wrong in one way.
MilcSetting setting_of(int n, std::mt19937_64& engine) {
  const auto draw = [&](int most) { return int(engine() % unsigned(most)); };
  // What needs new solvers changes slowly.
  MilcSetting s = {1 + n / 25 % 2, 1 + n / 8 % 2,       n / 50, n / 16 % 3, draw(5), draw(12),
                   draw(2) == 0,   0.1 * (1 + draw(9)), 0};
  s.tolerance = std::pow(10, -2 - draw(8));
  if (s.wrong == 0) s.parity = draw(2) == 0 ? 2 : QUDA_INVALID_PARITY;
  if (s.wrong == 1) s.mixed = 3 + draw(9);
  if (s.wrong == 2) s.internal = 3 * draw(2);
  if (s.wrong == 3) s.external = 0;
  if (s.wrong == 4) s.tolerance = draw(2);
  if (s.wrong == 5) s.fermilab = 1e-6, s.shifts = std::max(s.shifts, 1);
  if (s.wrong > 6 && s.shifts == 0 && n % 2 == 0) s.fermilab = 5 * s.tolerance;
  return s;
}

TEST_F(QudaMilc, HundredSettingsAreRightOrRefused) {
  constexpr const char* refusals[] = {"evenodd",         "mixed_precision", "quda_precision",     "external_precision",
                                      "target_residual", "fermilab",        "long links are NULL"};
  std::mt19937_64 engine(8);
  int served = 0;
  for (int n = 0; n < 100; ++n) {
    const MilcSetting s = setting_of(n, engine);
    const bool good = s.wrong > 6;
    SCOPED_TRACE(fmt::format("{}: external {} internal {} parity {} mixed {} shifts {} wrong {} mass {} tolerance {}",
                             n, s.external, s.internal, s.parity, s.mixed, s.shifts, s.wrong, s.mass, s.tolerance));
    MilcArray links(s.external == 1 ? 1 : 2, fat), far(links.precision, lng), source(links.precision, b);
    std::vector<MilcArray> x(std::size_t(std::max(s.shifts, 1)),
                             MilcArray(links.precision, random_numbers(b.size(), 9)));
    if (s.in_place) x[0] = source;
    void* const from = s.in_place ? x[0].data() : source.data();
    std::vector<void*> to;
    for (MilcArray& one : x) to.push_back(one.data());
    std::vector<double> offsets, targets(x.size()), fermilab(x.size(), s.fermilab), final(x.size()), heavy(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) offsets.push_back(4 * s.mass * s.mass * (1 + double(k)));
    targets[0] = s.tolerance;
    int count = 0;
    const auto call = [&] {
      const QudaInvertArgs_t a = args(s.parity, s.mixed);
      void* const naik = s.wrong == 6 ? nullptr : far.data();
      if (s.shifts == 0)
        qudaInvert(s.external, s.internal, s.mass, a, s.tolerance, s.fermilab, links.data(), naik, from, to[0],
                   final.data(), heavy.data(), &count);
      else
        qudaMultishiftInvert(s.external, s.internal, s.shifts, offsets.data(), a, targets.data(), fermilab.data(),
                             links.data(), naik, from, to.data(), final.data(), heavy.data(), &count);
    };
    if (!good) {
      aborts(call, std::string("quda(Multishift)?Invert: .*") + refusals[s.wrong]);
      continue;
    }
    ++served;
    call();
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_LE(final[k], s.tolerance);
      EXPECT_LE(residual(links.numbers, offsets[k], x[k].now(), source.numbers, s.parity),
                s.external == 2 ? 1.01 * s.tolerance : s.tolerance + 1e-4);
      EXPECT_EQ(half(x[k].now(), 1 - s.parity), half(x[k].numbers, 1 - s.parity));
      EXPECT_LE(heavy[k], s.fermilab);
    }
    if (s.fermilab > 0 && s.external == 2) {
      EXPECT_NEAR(heavy[0], heavy_quark(links.numbers, offsets[0], x[0].now(), source.numbers, s.parity),
                  1e-3 * s.fermilab);
    }
  }
  EXPECT_GT(served, 30);
  EXPECT_LT(served, 70);
}

}  // namespace
