// Fat and long links against sums over all paths, against their definitions and against those of another code.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/link_check.hpp"
#include "runtime/fields/spinor_array.hpp"
#include "runtime/io/gauge.hpp"
#include "solvers/actions/link_store.hpp"
#include "tests/data.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using dense::FatAndLong;
using dense::made_links;
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

FatAndLong asqtad_links(const HostGauge& gauge, const DomainPointer& domain, double u0) {
  return made_links({"asqtad", {{"mass", 0.1}, {"u0", u0}}}, gauge, domain);
}

FatAndLong hisq_links(const HostGauge& gauge, const DomainPointer& domain, double epsilon = 0) {
  return made_links({"hisq", {{"mass", 0.1}, {"naik_epsilon", epsilon}}}, gauge, domain);
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

class Links : public support::OnDevice {
 protected:
  LinkField on_device(const HostGauge& gauge) const {
    return upload(gauge, domain(gauge.lattice), find_precision("double"), find_storage("r18"));
  }
  /// The nearest unitary matrices.
  HostGauge projected(const HostGauge& gauge) const {
    const LinkField v = on_device(gauge);
    LinkField w = on_device(gauge);
    evaluate("set_u3s", {v, 1.0}, {w});
    return download(w);
  }
};

TEST_P(Links, AreTheSumsOverAllPaths) {
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{2, 6, 2, 4}}) {
    const HostGauge gauge = hot_gauge(Lattice(extent), 5);
    const double u0 = 0.9;
    const FatAndLong made = asqtad_links(gauge, domain(gauge.lattice), u0);
    const auto expected = [&](auto* sum) {
      const PathCoefficients c = asqtad_coefficients(u0);
      return all_links(gauge.lattice, [&](long long x, int mu) { return sum(gauge, x, mu, c); });
    };
    EXPECT_LT(support::largest_difference(made.fat, expected(fat_link)), 1e-13);
    EXPECT_LT(support::largest_difference(made.longs, expected(long_link)), 1e-14);
  }
}

TEST_P(Links, StaplesOfAnyFieldAreAddedUp) {
  const Lattice lattice({4, 2, 4, 8});
  const HostGauge u = any_matrices(lattice, 1), v = any_matrices(lattice, 2), start = any_matrices(lattice, 3);
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu) {
      if (mu == nu) continue;
      LinkField out = on_device(start), kept = on_device(start), sum = on_device(start), alone = on_device(start);
      const LinkField read = on_device(u), moved = on_device(v);
      const LatticeDirection along{mu}, aside{nu};
      evaluate("set_staple", {read, moved, 0.7, along, aside}, {out});
      evaluate("keep_staple", {read, moved, sum, 0.7, along, aside}, {kept, sum});
      evaluate("add_staple", {read, moved, alone, 0.7, along, aside}, {alone});
      HostGauge staples = start, sums = start, set = start;
      for (long long x = 0; x < lattice.sites(); ++x) {
        const long long up = lattice.neighbour(x, nu, 1), down = lattice.neighbour(x, nu, -1);
        const long long ahead = lattice.neighbour(x, mu, 1), down_ahead = lattice.neighbour(down, mu, 1);
        Matrix3 p{};
        add(p, 1, multiply(multiply(u.site[x][nu], v.site[up][mu]), adjoint(u.site[ahead][nu])));
        add(p, 1, multiply(multiply(adjoint(u.site[down][nu]), v.site[down][mu]), u.site[down_ahead][nu]));
        staples.site[x][mu] = p;
        add(sums.site[x][mu], 0.7, p);
        set.site[x][mu] = Matrix3{};
        add(set.site[x][mu], 0.7, p);
      }
      EXPECT_LT(support::largest_difference(download(kept), staples), 1e-13) << mu << nu;
      EXPECT_LT(support::largest_difference(download(out), set), 1e-13) << mu << nu;
      EXPECT_LT(support::largest_difference(download(sum), sums), 1e-13) << mu << nu;
      EXPECT_LT(support::largest_difference(download(alone), sums), 1e-13) << mu << nu;
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
    const HostGauge w = projected(v);
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
  const HostGauge gauge = hot_gauge(Lattice({4, 4, 4, 4}), 8);
  EXPECT_THROW(hisq_links(HostGauge(gauge.lattice), domain(gauge.lattice)), Error);
}

TEST_P(Links, HisqIsFat7ProjectedAndSmearedAgain) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 2, 6}), 0.25, 4);
  const Lattice& lattice = gauge.lattice;
  const double epsilon = -0.21;
  const FatAndLong ours = hisq_links(gauge, domain(lattice), epsilon);
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
  EXPECT_LT(support::largest_difference(
                ours.fat, all_links(lattice, [&](long long x, int mu) { return fat_link(w, x, mu, c2); })),
            1e-13);
  EXPECT_LT(support::largest_difference(
                ours.longs, all_links(lattice, [&](long long x, int mu) { return long_link(w, x, mu, c2); })),
            1e-13);
}

TEST_P(Links, AgreeWithThoseOfMilc) {
  REQUIRE_DATA();
  const Lattice lattice({8, 8, 8, 8});
  const auto read = [&](const char* name) { return read_gauge(data::folder() / name, lattice).gauge; };
  const HostGauge gauge = read("milc/lat.sample.l8");
  const double u0 = data::read_json("milc/reference/asqtad_solve_l8.json")["u0"];
  FatAndLong ours = asqtad_links(gauge, domain(lattice), u0);
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
    const double d = support::largest_difference(*links, theirs);
    EXPECT_GT(square, 1);
    EXPECT_LT(d, 1e-6);  // they are stored in single precision
  }
}

ON_EACH_DEVICE(Links);

/// Matrices of an array [mu][row][t][z][y][x][column] and those of a field are the same.
TEST(Links, AreThoseOfAnArray) {
  const HostGauge u = hot_gauge(Lattice({4, 6, 2, 8}), 5);
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(u.lattice, device);
    const long long sites = u.lattice.sites();
    std::vector<Complex64> numbers, found(std::size_t(36 * sites));
    for (int n = 0; n < 12; ++n)
      for (const auto& site : u.site)
        for (int c = 0; c < 3; ++c) numbers.push_back(site[n / 3][3 * (n % 3) + c]);
    Memory memory(device, numbers.size() * sizeof(Complex64));
    device->upload(memory.data(), numbers.data(), memory.bytes());
    SpinorArray array;
    array.place_bytes = sizeof(Complex64);
    for (int mu = 0, step = 3; mu < directions; step *= u.lattice.extent(mu++)) array.step[mu] = step;
    array.spin = 3 * sites;
    const auto of = [&](int mu) {
      array.data = static_cast<char*>(memory.data()) + 9 * sites * mu * array.place_bytes;
      return array;
    };
    LinkField links(domain, find_precision("double"), find_storage("r18"));
    for (int mu = 0; mu < directions; ++mu) copy_array(of(mu), links, mu);
    EXPECT_EQ(download(links).site, u.site);
    device->fill(memory.data(), 0, memory.bytes());
    for (int mu = 0; mu < directions; ++mu) copy_array(links, mu, of(mu));
    device->download(found.data(), memory.data(), memory.bytes());
    EXPECT_EQ(found, numbers);
  }
}

/// What the device finds of links and makes of them, against the host.
TEST(LinksOnADevice, AreLookedAtAndMadeThere) {
  const Lattice lattice({4, 6, 4, 8});
  const auto domain = std::make_shared<Domain>(lattice, Device::cpu());
  const auto on = [&](const HostGauge& g) { return upload(g, domain, find_precision("double"), find_storage("r18")); };
  LinkField one = on(hot_gauge(lattice, 3));
  set_unit(one);
  EXPECT_EQ(download(one).site, unit_gauge(lattice).site);
  HostGauge turned = hot_gauge(lattice, 3);
  LinkField links = on(turned);
  multiply_across(links, 3, -1);
  for (long long i = 0; i < lattice.sites(); ++i)
    if (lattice.coordinates(i)[3] == 7)
      for (Complex64& z : turned.link(i, 3)) z *= -1;
  EXPECT_EQ(download(links).site, turned.site);
  EXPECT_FALSE(surely_su3(bound_of_deviation(links)));
  EXPECT_TRUE(is_multiple_of_unitary(links));
  for (auto& site : turned.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) z *= -1.0 / 24;
  EXPECT_TRUE(is_multiple_of_unitary(on(turned)));
  turned.link(5, 2)[3] += 1e-3;
  EXPECT_FALSE(is_multiple_of_unitary(on(turned)));
  const LinkField stored = encode_links(links, find_precision("single"), find_storage("r18"));
  const LinkDeviation far = deviation_of(stored, links), expected = deviation_of(stored, download(links));
  EXPECT_EQ(far.largest, expected.largest);
  EXPECT_EQ(far.typical, expected.typical);
  EXPECT_GT(far.largest, 1e-9);
  const LinkField u3 = encode_scaled(links, find_precision("double"), find_storage("r13"));
  EXPECT_TRUE(deviation_of(u3, links).negligible());
  EXPECT_GE(deviation_of(u3, links).largest, deviation_of(u3, download(links)).largest);
}

}  // namespace
