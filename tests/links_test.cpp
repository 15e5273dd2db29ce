// Fat and long links against sums over all paths, against their definitions and against those of another code.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "solvers/actions/improved_links.hpp"
#include "tests/data.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using Path = std::vector<int>;

/// Of sums over paths: one link, 3, 5 and 7 links, Lepage's and Naik's.
struct PathCoefficients {
  double one, three, five, seven, lepage, naik;
};

/// Those of hep-lat/9903032.
PathCoefficients asqtad_coefficients(double u0) {
  const double u2 = u0 * u0, u4 = u2 * u2;
  return {5.0 / 8, 1 / (16 * u2), 1 / (64 * u4), 1 / (384 * u2 * u4), -1 / (16 * u4), -1 / (24 * u2)};
}

ImprovedLinks asqtad_links(const HostGauge& gauge, const DomainPointer& domain, double u0) {
  return improved_links({find_action("asqtad"), {{"mass", 0.1}, {"u0", u0}}}, gauge, domain);
}

ImprovedLinks hisq_links(const HostGauge& gauge, const DomainPointer& domain, double epsilon = 0) {
  return improved_links({find_action("hisq"), {{"mass", 0.1}, {"naik_epsilon", epsilon}}}, gauge, domain);
}

/// Steps aside, the link, the same steps back.
Path around(const Path& aside, int mu) {
  Path path = aside;
  path.push_back(mu + 1);
  for (auto step = aside.rbegin(); step != aside.rend(); ++step) path.push_back(-*step);
  return path;
}

void add(Matrix3& sum, double factor, const Matrix3& m) {
  for (int n = 0; n < 9; ++n) sum[n] += factor * m[n];
}

/// Every word of up to three steps to +-x..t is tried; it counts if its steps leave the line of the link in directions
/// that differ, or if it is the same step twice.
Matrix3 fat_link(const HostGauge& gauge, long long x, int mu, const PathCoefficients& c) {
  Matrix3 sum{};
  add(sum, c.one, gauge.site[x][mu]);
  const auto aside = [&](int step) { return step != 0 && std::abs(step) != mu + 1; };
  for (int a = -4; a <= 4; ++a) {
    if (!aside(a)) continue;
    add(sum, c.three, reference::path(gauge, x, around({a}, mu)));
    add(sum, c.lepage, reference::path(gauge, x, around({a, a}, mu)));
    for (int b = -4; b <= 4; ++b) {
      if (!aside(b) || std::abs(b) == std::abs(a)) continue;
      add(sum, c.five, reference::path(gauge, x, around({a, b}, mu)));
      for (int d = -4; d <= 4; ++d)
        if (aside(d) && std::abs(d) != std::abs(a) && std::abs(d) != std::abs(b))
          add(sum, c.seven, reference::path(gauge, x, around({a, b, d}, mu)));
    }
  }
  return sum;
}

Matrix3 long_link(const HostGauge& gauge, long long x, int mu, const PathCoefficients& c) {
  Matrix3 sum{};
  add(sum, c.naik, reference::path(gauge, x, {mu + 1, mu + 1, mu + 1}));
  return sum;
}

/// Largest element of a difference.
double deviation(const HostGauge& a, const HostGauge& b) {
  double largest = 0;
  for (std::size_t x = 0; x < a.site.size(); ++x)
    for (int mu = 0; mu < 4; ++mu)
      for (int n = 0; n < 9; ++n) {
        const double d = std::abs(a.site[x][mu][n] - b.site[x][mu][n]);
        if (!(d <= largest)) largest = d;  // a NaN sticks
      }
  return largest;
}

/// made(x, mu) at all links.
template <class Made>
HostGauge all_links(const Lattice& lattice, const Made& made) {
  HostGauge result(lattice);
#pragma omp parallel for schedule(static)
  for (long long x = 0; x < lattice.sites(); ++x)
    for (int mu = 0; mu < 4; ++mu) result.site[x][mu] = made(x, mu);
  return result;
}

/// Matrices that have nothing in common with unitary ones.
HostGauge any_matrices(const Lattice& lattice, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, 0.5);
  HostGauge result(lattice);
  for (auto& site : result.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) z = Complex64(normal(engine), normal(engine));
  return result;
}

class Links : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  DomainPointer domain(const Lattice& lattice) const { return std::make_shared<Domain>(lattice, GetParam()); }
  LinkField on_device(const HostGauge& gauge) const {
    return upload(gauge, domain(gauge.lattice), find_precision("double"), find_storage("r18"));
  }
};

TEST_P(Links, AreTheSumsOverAllPaths) {
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{2, 6, 2, 4}}) {
    const HostGauge gauge = any_matrices(Lattice(extent), 5);
    const double u0 = 0.9;
    const ImprovedLinks made = asqtad_links(gauge, domain(gauge.lattice), u0);
    const auto expected = [&](auto* sum) {
      const PathCoefficients c = asqtad_coefficients(u0);
      return all_links(gauge.lattice, [&](long long x, int mu) { return sum(gauge, x, mu, c); });
    };
    EXPECT_LT(deviation(made.fat, expected(fat_link)), 1e-13);
    EXPECT_LT(deviation(made.longs, expected(long_link)), 1e-14);
  }
}

TEST_P(Links, StaplesOfAnyFieldAreAddedUp) {
  const Lattice lattice({4, 2, 4, 8});
  const HostGauge u = any_matrices(lattice, 1), v = any_matrices(lattice, 2), start = any_matrices(lattice, 3);
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu) {
      if (mu == nu) continue;
      LinkField out = on_device(start), sum = on_device(start), alone = on_device(start);
      const LinkField read = on_device(u), moved = on_device(v);
      const LatticeDirection along{mu}, aside{nu};
      evaluate("staple", {read, moved, sum, 0.7, along, aside, out, sum});
      evaluate("last_staple", {read, moved, alone, 0.7, along, aside, alone});
      HostGauge staples = start, sums = start;
      for (long long x = 0; x < lattice.sites(); ++x) {
        const long long up = lattice.neighbour(x, nu, 1), down = lattice.neighbour(x, nu, -1);
        const long long ahead = lattice.neighbour(x, mu, 1), down_ahead = lattice.neighbour(down, mu, 1);
        Matrix3 p{};
        add(p, 1, multiply(multiply(u.site[x][nu], v.site[up][mu]), adjoint(u.site[ahead][nu])));
        add(p, 1, multiply(multiply(adjoint(u.site[down][nu]), v.site[down][mu]), u.site[down_ahead][nu]));
        staples.site[x][mu] = p;
        add(sums.site[x][mu], 0.7, p);
      }
      EXPECT_LT(deviation(download(out), staples), 1e-13) << mu << nu;
      EXPECT_LT(deviation(download(sum), sums), 1e-13) << mu << nu;
      EXPECT_LT(deviation(download(alone), sums), 1e-13) << mu << nu;
    }
}

/// U diag(s) V with unitary U and V.
Matrix3 with_singular_values(const HostGauge& unitary, long long x, const std::array<double, 3>& s) {
  Matrix3 m = unitary.site[x][0];
  for (int n = 0; n < 9; ++n) m[n] *= s[n % 3] * std::polar(1.0, 0.3 * static_cast<double>(x));
  return multiply(m, unitary.site[x][1]);
}

TEST_P(Links, ProjectionIsThePolarDecomposition) {
  // W is the unitary factor of V if and only if it is unitary and W^+ V is Hermitian and positive.
  const Lattice lattice({4, 4, 4, 4});
  const HostGauge unitary = hot_gauge(lattice, 8);
  for (const std::array<double, 3>& s :
       {std::array<double, 3>{1, 1, 1}, {0.9, 0.7, 0.7}, {2, 2, 1e-3}, {1, 1e-4, 1e-4}, {1, 1e-3, 1e-6}, {40, 7, 3}}) {
    const HostGauge v = all_links(lattice, [&](long long x, int) { return with_singular_values(unitary, x, s); });
    const HostGauge w = download(project_u3(on_device(v)));
    const double smallest = *std::min_element(s.begin(), s.end()), largest = *std::max_element(s.begin(), s.end());
    EXPECT_LT(check_unitarity(w).unitary, 1e-14);
    EXPECT_GT(check_unitarity(w).determinant, 0.1);  // it is in U(3), not SU(3)
    double skew = 0, trace_error = 0;
    for (long long x = 0; x < lattice.sites(); ++x) {
      const Matrix3 h = multiply(adjoint(w.site[x][2]), v.site[x][2]);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) skew = std::max(skew, std::abs(h[3 * i + j] - std::conj(h[3 * j + i])));
      // The trace norm: no other unitary matrix reaches it, of any signs of the eigenvalues of W^+ V.
      trace_error = std::max(trace_error, std::abs((h[0] + h[4] + h[8]).real() - (s[0] + s[1] + s[2])));
    }
    // Errors grow with the condition of V, not with its square as for methods that diagonalise V^+ V.
    const double limit = largest * (1e-14 + 1e-16 * largest / smallest);
    EXPECT_LT(skew, limit) << smallest;
    EXPECT_LT(trace_error, limit) << smallest;
  }
}

TEST_P(Links, SmallEigenvaluesAreCounted) {
  // Where the inverse eigenvalues of V^+ V, the squares of the singular values, add up to more than 20000.
  const Lattice lattice({4, 4, 4, 4});
  const HostGauge unitary = hot_gauge(lattice, 8);
  for (const auto& [s, damped] : {std::pair{std::array<double, 3>{1, 1, 0.0072}, false},
                                  {{1, 1, 0.0070}, true},
                                  {{0.0101, 0.0101, 3}, false},
                                  {{0.0099, 0.0099, 3}, true}}) {
    HostGauge v = unitary;
    for (const int x : {3, 100, 101, 255}) v.site[x][1] = with_singular_values(unitary, x, s);
    EXPECT_EQ(evaluate("damped_projections", {on_device(v)})[0], damped ? 4 : 0) << s[2];
  }
}

TEST_P(Links, ASingularLinkHasNoProjection) {
  HostGauge gauge = hot_gauge(Lattice({4, 4, 4, 4}), 8);
  gauge.site[17][2] = Matrix3{};
  EXPECT_THROW(project_u3(on_device(gauge)), Error);
}

TEST_P(Links, HisqIsFat7ProjectedAndSmearedAgain) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 2, 6}), 0.25, 4);
  const Lattice& lattice = gauge.lattice;
  const double epsilon = -0.21;
  const ImprovedLinks ours = hisq_links(gauge, domain(lattice), epsilon);
  const PathCoefficients c1 = {1 / 8., 1 / 16., 1 / 64., 1 / 384., 0, 0};
  const PathCoefficients c2 = {1 + epsilon / 8, 1 / 16., 1 / 64., 1 / 384., -1 / 8., -(1 + epsilon) / 24};
  const HostGauge w = all_links(lattice, [&](long long x, int mu) {
    // V (V^+ V)^(-1/2) = V + V R / 2 + 3 V R^2 / 8 + ..., R = 1 - V^+ V: converges slowly, but does on this field.
    const Matrix3 v = fat_link(gauge, x, mu, c1), h = multiply(adjoint(v), v);
    Matrix3 rest{1, 0, 0, 0, 1, 0, 0, 0, 1}, power = rest, sum{};
    add(rest, -1, h);
    double factor = 1;
    for (int n = 0; n < 1000; ++n) {
      add(sum, factor, power);
      power = multiply(power, rest);
      factor *= (2 * n + 1.0) / (2 * n + 2.0);
    }
    return multiply(v, sum);
  });
  EXPECT_LT(check_unitarity(w).unitary, 1e-12);
  EXPECT_LT(deviation(ours.fat, all_links(lattice, [&](long long x, int mu) { return fat_link(w, x, mu, c2); })),
            1e-13);
  EXPECT_LT(deviation(ours.longs, all_links(lattice, [&](long long x, int mu) { return long_link(w, x, mu, c2); })),
            1e-13);
}

TEST_P(Links, AreGaugeCovariant) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 6}), 0.6, 4);
  const Lattice& lattice = gauge.lattice;
  const auto g = reference::random_gauge_transformation(lattice, 3);
  const auto three_ahead = [&](long long x, int mu) {
    for (int n = 0; n < 3; ++n) x = lattice.neighbour(x, mu, 1);
    return x;
  };
  const auto check = [&](const ImprovedLinks& here, const ImprovedLinks& there) {
    EXPECT_LT(deviation(there.fat, reference::transform(here.fat, g)), 1e-13);
    EXPECT_LT(deviation(there.longs, all_links(lattice,
                                               [&](long long x, int mu) {
                                                 return multiply(multiply(g[x], here.longs.site[x][mu]),
                                                                 adjoint(g[three_ahead(x, mu)]));
                                               })),
              1e-14);
  };
  const HostGauge other = reference::transform(gauge, g);
  check(asqtad_links(gauge, domain(lattice), 0.9), asqtad_links(other, domain(lattice), 0.9));
  check(hisq_links(gauge, domain(lattice)), hisq_links(other, domain(lattice)));
}

TEST(LinkCoefficients, AreThoseOfActionsThatMakeLinks) {
  const HostGauge gauge = unit_gauge(Lattice({4, 4, 4, 4}));
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::select("cpu"));
  EXPECT_THROW(asqtad_links(gauge, domain, 0), UsageError);
  EXPECT_THROW(improved_links({find_action("staggered"), {{"mass", 0.1}}}, gauge, domain), UsageError);
}

TEST(LinkCoefficients, NaikEpsilonMakesSlowQuarksRelativistic) {
  // f(E) = sinh E - (1 + epsilon)/6 sinh^3 E is m for a quark at rest; dE^2/dp^2 = 1 there means f f' = E.
  for (const double energy : {0.1, 0.3, 0.5}) {
    const double s = std::sinh(energy), c = std::cosh(energy);
    const double exact = (4 - std::sqrt(4 + 12 * energy / (s * c))) / (s * s) - 1;
    const double mass = s - (1 + exact) / 6 * s * s * s;
    EXPECT_NEAR(naik_epsilon(mass), exact, 0.02 * std::pow(mass, 10) + 1e-12) << mass;
    EXPECT_GT(std::abs(naik_epsilon(1.05 * mass) - exact), 1e-4);
  }
}

TEST_P(Links, AgreeWithThoseOfMilc) {
  REQUIRE_DATA();
  const Lattice lattice({8, 8, 8, 8});
  const auto read = [&](const char* name) { return read_gauge(data::folder() / name, lattice).gauge; };
  const HostGauge gauge = read("milc/lat.sample.l8");
  const double u0 = data::read_json("milc/reference/asqtad_solve_l8.json")["u0"];
  ImprovedLinks ours = asqtad_links(gauge, domain(lattice), u0);
  // Theirs include the staggered phases and the sign of the boundary: put them into ours.
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    for (int mu = 0; mu < 4; ++mu) {
      const int sum[4] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
      const double phase = sum[mu] % 2 == 0 ? 1 : -1;
      for (Complex64& z : ours.fat.site[i][mu]) z *= mu == 3 && x[3] + 1 >= 8 ? -phase : phase;
      for (Complex64& z : ours.longs.site[i][mu]) z *= mu == 3 && x[3] + 3 >= 8 ? -phase : phase;
    }
  }
  for (const auto& [name, links] : {std::pair{"milc/fat.l8", &ours.fat}, {"milc/long.l8", &ours.longs}}) {
    const HostGauge theirs = read(name);
    double square = 0, largest = 0;
    for (const auto& site : theirs.site)
      for (const Matrix3& u : site)
        for (const Complex64& z : u) square += std::norm(z), largest = std::max(largest, std::abs(z));
    const double d = deviation(*links, theirs);
    fmt::print("DATA | {} | largest element | {:.9g} | largest element-wise difference | {:.2e}\n", name, largest, d);
    EXPECT_GT(square, 1);
    EXPECT_LT(d, 1e-6);  // they are stored in single precision
  }
}

/// One colour vector a site.
using Quarks = std::vector<std::array<Complex64, 3>>;

/// 2m v + s D v, (D v)(x) = sum_mu eta_mu(x) [F v(x+mu) - F^+ v(x-mu) + L v(x+3mu) - L^+ v(x-3mu)], with the phases of
/// MILC and periodic boundaries.
Quarks staggered(const ImprovedLinks& u, const Quarks& v, double mass, double s) {
  const Lattice& lattice = u.fat.lattice;
  Quarks result(v.size());
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const int sum[4] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
    for (int a = 0; a < 3; ++a) result[i][a] = 2 * mass * v[i][a];
    for (int mu = 0; mu < 4; ++mu)
      for (const auto& [links, steps] : {std::pair{&u.fat, 1}, {&u.longs, 3}}) {
        long long ahead = i, behind = i;
        for (int n = 0; n < steps; ++n)
          ahead = lattice.neighbour(ahead, mu, 1), behind = lattice.neighbour(behind, mu, -1);
        const double eta = sum[mu] % 2 == 0 ? s : -s;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            result[i][a] += eta * (links->site[i][mu][3 * a + b] * v[ahead][b] -
                                   std::conj(links->site[behind][mu][3 * b + a]) * v[behind][b]);
      }
  }
  return result;
}

double norm2(const Quarks& v) {
  double sum = 0;
  for (const auto& site : v)
    for (const Complex64& z : site) sum += std::norm(z);
  return sum;
}

/// M^-1 of a source of one colour at the origin: conjugate gradients on M^+ M.
Quarks propagator(const ImprovedLinks& u, double mass, int colour) {
  Quarks b(u.fat.site.size()), x(b.size());
  b[0][colour] = 1;
  Quarks r = staggered(u, b, mass, -1), p = r;
  const double start = norm2(r);
  double rr = start;
  for (int n = 0; n < 2000 && rr > 1e-26 * start; ++n) {
    const Quarks q = staggered(u, p, mass, 1), s = staggered(u, q, mass, -1);
    const double alpha = rr / norm2(q), old = rr;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int a = 0; a < 3; ++a) x[i][a] += alpha * p[i][a], r[i][a] -= alpha * s[i][a];
    rr = norm2(r);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int a = 0; a < 3; ++a) p[i][a] = r[i][a] + rr / old * p[i][a];
  }
  EXPECT_LT(rr, 1e-25 * start);
  return x;
}

TEST_P(Links, GiveTheKaonsOfMilc) {
  REQUIRE_DATA();
  const HostGauge gauge = read_gauge(data::folder() / "milc/lat.sample.l4448.gf", Lattice({4, 4, 4, 8})).gauge;
  for (const auto& [file, links] : {std::pair{"asqtad", asqtad_links(gauge, domain(gauge.lattice), 1)},
                                    {"hisq_m05", hisq_links(gauge, domain(gauge.lattice))}}) {
    std::array<double, 8> ours{};
    for (int colour = 0; colour < 3; ++colour) {
      const Quarks g = propagator(links, 0.05, colour);
      for (std::size_t i = 0; i < g.size(); ++i)
        for (const Complex64& z : g[i]) ours[i / 64] += 0.000244141 * std::norm(z);  // their rounding of 1/64^2
    }
    const auto theirs = data::read_json(fmt::format("milc/reference/ks_point_kaon_l4448gf_{}.json",
                                                    file))["correlators"]["POINT_KAON_5_d_d_d_d_m0.05_m0.05_p000"];
    for (int t = 0; t < 8; ++t) {
      const double expected = theirs[t][0];
      fmt::print("DATA | milc {} kaon m 0.05 | C({}) | {:.15g} | {:.15g} | {:.1e}\n", file, t, expected, ours[t],
                 std::abs(ours[t] - expected));
      EXPECT_NEAR(ours[t] / expected, 1, 3e-7) << file << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Links, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
