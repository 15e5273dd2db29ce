// Links and spinors in every order, precision and basis against the reference; boundary phases.
#include <numbers>

#include "tests/c/support.hpp"
#include "tests/support.hpp"

namespace {

using namespace c;

const Coordinates order_extent = {4, 6, 2, 8};
constexpr int axis_orders[3][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 1, 0, 3}};

/// Numbers as a caller holds them, in double or single.
class Array {
 public:
  Array(int precision, std::size_t count)
      : single_(precision == QUARKSMITH_SINGLE), bytes_(count * (single_ ? 8 : 16)) {}
  void set(std::size_t n, Complex64 z) {
    if (single_)
      reinterpret_cast<std::complex<float>*>(data())[n] = std::complex<float>(z);
    else
      static_cast<Complex64*>(data())[n] = z;
  }
  Complex64 operator[](std::size_t n) const {
    return single_ ? Complex64(reinterpret_cast<const std::complex<float>*>(bytes_.data())[n])
                   : reinterpret_cast<const Complex64*>(bytes_.data())[n];
  }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }
  friend bool operator==(const Array&, const Array&) = default;

 private:
  bool single_;
  std::vector<char> bytes_;
};

/// Staggered phases by the first direction of their order: x (Kogut and Susskind), t (MILC: eta_t = 1, eta_x = (-1)^t,
/// eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y)), or t, z, y, x (TIFR).
struct Staggered {
  int eta[4];
  int (*exponent)(int mu, const Coordinates& x);
};
const Staggered staggered_phases[] = {
    {{0, 0, 0, 0}, [](int, const Coordinates&) { return 0; }},
    {{0, 1, 2, 3},
     [](int mu, const Coordinates& x) {
       return mu == 0 ? 0 : mu == 1 ? x[0] : mu == 2 ? x[0] + x[1] : x[0] + x[1] + x[2];
     }},
    {{3, 0, 1, 2},
     [](int mu, const Coordinates& x) {
       return mu == 3 ? 0 : mu == 0 ? x[3] : mu == 1 ? x[3] + x[0] : x[3] + x[0] + x[1];
     }},
    {{3, 2, 1, 0}, [](int mu, const Coordinates& x) {
       return mu == 3 ? 0 : mu == 2 ? x[3] : mu == 1 ? x[3] + x[2] : x[3] + x[2] + x[1];
     }}};

/// Calls use(site, component, its place) for the sites of a parity (2: all) in arrays of a format.
template <class Use>
void for_each_component(const Lattice& lattice, const quarksmith_spinor_format& f, int parity, const Use& use) {
  for (long long site = 0; site < lattice.sites(); ++site) {
    if (parity != 2 && int(Lattice::parity(lattice.coordinates(site))) != parity) continue;
    int at = place_of(lattice, site, f.sites, f.axes);
    if (f.half) at = f.sites == QUARKSMITH_EVEN_ODD ? at % int(lattice.half_sites()) : at / 2;
    for (int s = 0; s < 4; ++s)
      for (int a = 0; a < 3; ++a)
        use(site, 3 * s + a,
            std::size_t((f.stride == 0 ? 12 : 17) * at + (f.order == QUARKSMITH_COLOUR_SPIN ? 4 * a + s : 3 * s + a)));
  }
}

/// Dslash of both parities by the library, default spinor format.
HostSpinor dslash(quarksmith_gauge* gauge, const std::string& action, int dagger, const HostSpinor& in) {
  const quarksmith_spinor_format format = spinor_format();
  const Operator op = make_operator(gauge, action);
  HostSpinor out(in.lattice);
  void* to = out.site.at(0);
  const void* from = in.site.at(0);
  for (const int parity : {0, 1}) EXPECT_DONE(quarksmith_dslash_host(op, parity, dagger, 1, &to, &from, &format));
  return out;
}

class Orders : public OnDevice {
 protected:
  Context context = open(GetParam(), order_extent);
  HostGauge links = hot_gauge(Lattice(order_extent), 11);
  Action action = dense::wilson(0);
  dense::DenseAction dense{action, links};
  HostSpinor in = reference::random_spinor(links.lattice, 7);
};

TEST_P(Orders, OfLinks) {
  const auto domain = std::make_shared<Domain>(links.lattice, Device::cpu());
  const GaugeAverages averages = gauge_averages(links, domain);
  const HostSpinor hopped[] = {dense.hop({in})[0], dense.hop({in}, true)[0]};
  for (int n = 0; n < 96; ++n) {  // folded in: sign of the boundary, which is found, or named by the format
    quarksmith_link_format f = link_format();
    f.precision = n & 1;
    f.sites = n >> 1 & 1;
    f.order = n >> 2 & 1;
    f.colour = n >> 3 & 1;
    std::copy_n(axis_orders[n / 32], 4, f.axes);
    const Staggered& staggered = staggered_phases[n * 5 / 3 % 4];
    std::copy_n(staggered.eta, 4, f.eta);
    const bool sign = n % 5 > 1;
    f.boundary[3] = n % 5 > 2;
    if (n >> 4 & 1) f.directions[0] = 3, f.directions[1] = 0, f.directions[2] = 1, f.directions[3] = 2;  // t first
    SCOPED_TRACE(n);
    const std::size_t sites = links.site.size();
    const bool apart = f.order == QUARKSMITH_DIRECTION_MAJOR;
    const std::size_t each = (apart ? 9u : 36u) + (n % 7 < 3 ? 5u : 0u);
    if (n % 7 < 3) f.stride = each * (f.precision == QUARKSMITH_SINGLE ? 8 : 16);
    std::vector<Array> arrays(4, Array(f.precision, each * sites)), again = arrays;
    for (std::size_t site = 0; site < sites; ++site)
      for (int k = 0; k < 4; ++k)
        for (int e = 0; e < 9; ++e) {
          const std::size_t at = std::size_t(place_of(links.lattice, (long long)site, f.sites, f.axes));
          const int element = f.colour == QUARKSMITH_COLUMN_MAJOR ? 3 * (e % 3) + e / 3 : e;
          const Coordinates x = links.lattice.coordinates((long long)site);
          const int mu = f.directions[k], minus = staggered.exponent(mu, x) + (sign && mu == 3 && x[3] == 7);
          arrays[apart ? k : 0].set(each * at + (apart ? 0 : 9u * unsigned(k)) + std::size_t(element),
                                    (minus % 2 == 0 ? 1.0 : -1.0) * links.site[site][mu][e]);
        }
    Gauge gauge;
    const void* from[] = {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data()};
    void* to[] = {again[0].data(), again[1].data(), again[2].data(), again[3].data()};
    EXPECT_DONE(quarksmith_gauge_load(context, from, &f, gauge.out()));
    const double limit = f.precision == QUARKSMITH_SINGLE ? 5e-7 : 1e-14;
    double plaquette[3];
    EXPECT_DONE(quarksmith_gauge_plaquette(gauge, plaquette));
    EXPECT_NEAR(plaquette[0], averages.plaquette, limit);
    EXPECT_NEAR(plaquette[1], averages.space_plaquette, limit);
    EXPECT_NEAR(plaquette[2], averages.time_plaquette, limit);
    const int dagger = n % 3 == 0;
    EXPECT_LE(support::compare(dslash(gauge, text_of(action), dagger, in), hopped[dagger]).norm, limit);
    EXPECT_DONE(quarksmith_gauge_get(gauge, to, &f));
    EXPECT_TRUE(again == arrays);
  }
}

/// gamma_i = (0, s i sigma_i; -s i sigma_i, 0), and gamma_t.
std::array<reference::SpinMatrix, 4> gammas(double s, const reference::SpinMatrix& gamma_t) {
  const Complex64 i(0, 1);
  const Complex64 sigma[3][2][2] = {{{0, 1}, {1, 0}}, {{0, -i}, {i, 0}}, {{1, 0}, {0, -1}}};
  std::array<reference::SpinMatrix, 4> gamma{};
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) {
        gamma[k][a][2 + b] = s * i * sigma[k][a][b];
        gamma[k][2 + a][b] = -s * i * sigma[k][a][b];
      }
  gamma[3] = gamma_t;
  return gamma;
}

/// Rows of the rotation from the DeGrand-Rossi basis to the one of these matrices, up to a number: the sum of
/// G X G_DeGrandRossi^+ over all products G of gammas.
reference::SpinMatrix rotation_to(const std::array<reference::SpinMatrix, 4>& gamma) {
  using reference::operator*, reference::operator+;
  reference::SpinMatrix sum{}, seed{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) seed[r][s] = {1.0 + r * r + 0.5 * s, 0.3 * s - 0.7 * r};
  for (unsigned product = 0; product < 16; ++product) {
    reference::SpinMatrix left = reference::identity(), right = left;
    for (int mu = 0; mu < 4; ++mu)
      if ((product >> mu & 1) != 0) {
        left = left * gamma[mu];
        right = right * reference::gamma(mu);
      }
    sum = sum + left * seed * reference::adjoint(right);
  }
  double norm = 0;
  for (const auto& row : sum)
    for (const Complex64& z : row) norm += std::norm(z);
  return Complex64(2 / std::sqrt(norm)) * sum;
}

HostSpinor in_basis(int basis, const HostSpinor& psi, bool back) {
  static const reference::SpinMatrix diagonal = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}},
                                     minus = {{{0, 0, -1, 0}, {0, 0, 0, -1}, {-1, 0, 0, 0}, {0, -1, 0, 0}}};
  static const reference::SpinMatrix rotations[] = {reference::identity(), rotation_to(gammas(1, diagonal)),
                                                    rotation_to(gammas(-1, diagonal)), rotation_to(gammas(-1, minus))};
  return reference::multiply(back ? reference::adjoint(rotations[basis]) : rotations[basis], psi);
}

TEST_P(Orders, OfSpinors) {
  static const char* const bases[] = {"degrand_rossi", "ukqcd", "non_relativistic", "chiral"};
  const Gauge gauge = load(context, links);
  const Operator op = make_operator(gauge, text_of(action));
  std::vector<HostSpinor> expected;
  for (int basis = 0; basis < 4; ++basis)
    expected.push_back(in_basis(basis, dense.hop({in_basis(basis, in, true)})[0], false));
  for (int n = 0; n < 4 * 3 * 16 * 2; ++n) {
    SCOPED_TRACE(n);
    const int basis = n % 4, parity = n / 192;
    quarksmith_spinor_format f = spinor_format();
    f.basis = bases[basis];
    std::copy_n(axis_orders[n / 4 % 3], 4, f.axes);
    f.precision = n / 12 & 1;
    f.sites = n / 24 & 1;
    f.order = n / 48 & 1;
    f.half = n / 96 & 1;
    if (n % 5 < 2) f.stride = 17 * (f.precision == QUARKSMITH_SINGLE ? 8 : 16);  // fields in a struct of a site
    Array from(f.precision, 17 * in.site.size()), to = from;
    for_each_component(in.lattice, f, f.half ? 1 - parity : 2,
                       [&](long long site, int k, std::size_t at) { from.set(at, in.site.at(site)[k]); });
    void* outs = to.data();
    const void* ins = from.data();
    EXPECT_DONE(quarksmith_dslash_host(op, parity, 0, 1, &outs, &ins, &f));
    HostSpinor out(in.lattice);
    for_each_component(in.lattice, f, f.half ? parity : 2,
                       [&](long long site, int k, std::size_t at) { out.site.at(site)[k] = to[at]; });
    EXPECT_LE(support::compare(out, dense::half({expected[std::size_t(basis)]}, Parity(parity))[0]).norm,
              f.precision ? 5e-7 : 1e-14);
  }
}

/// A sign in the links is found; a boundary that is given replaces it; a twist. The lattice cannot be cut into lanes.
TEST_P(Orders, OfBoundaries) {
  const Coordinates uncut = {2, 6, 2, 6};
  const HostGauge plain = hot_gauge(Lattice(uncut), 13);
  HostGauge folded = plain;
  for (std::size_t site = 0; site < folded.site.size(); ++site)
    if (plain.lattice.coordinates((long long)site)[1] == uncut[1] - 1)
      for (Complex64& z : folded.site[site][1]) z *= -1;
  const Context there = open(GetParam(), uncut);
  const Gauge gauge = load(there, folded), without = load(there, plain);
  double angle[4], both[2][3];
  EXPECT_DONE(quarksmith_gauge_phase(gauge, angle));
  EXPECT_EQ(std::vector(angle, angle + 4), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, both[0]));
  EXPECT_DONE(quarksmith_gauge_plaquette(without, both[1]));
  EXPECT_NEAR(both[0][0], both[1][0], 1e-15);
  const HostSpinor psi = reference::random_spinor(plain.lattice, 1);
  const auto expect = [&](quarksmith_gauge* of, const std::string& boundary, const BoundaryPhases& phases) {
    const dense::DenseAction with(Action("wilson", {{"mass", 0}}, phases), plain);
    EXPECT_LE(support::compare(dslash(of, text_of(action) + boundary, 0, psi), with.hop({psi})[0]).norm, 1e-14)
        << boundary;
  };
  expect(gauge, "", {1, -1, 1, 1});
  expect(gauge, " boundary=antiperiodic", {1, 1, 1, -1});
  expect(without, " boundary=0.3,0,0,1", {std::polar(1.0, 0.3 * std::numbers::pi), 1, 1, -1});
}

/// Phases of all links are a boundary condition, of which arrays of spinors know nothing: M is that of the links as
/// they are.
TEST_P(Orders, OfBoundariesThatAreSpread) {
  HostGauge given = hot_gauge(Lattice(order_extent), 14);
  double angles[] = {0.3 / order_extent[0], 0, 0, 1.0 / order_extent[3]}, found[4];
  for (long long site = 0; site < given.lattice.sites(); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (Complex64& z : given.link(site, mu)) z *= std::polar(1.0, std::numbers::pi * angles[mu]);
  const Context there = open(GetParam(), order_extent);
  quarksmith_link_format f = link_format();
  f.spread = 1;
  const Numbers links = numbers_of(given);
  const void* from = links.data();
  Gauge gauge;
  EXPECT_DONE(quarksmith_gauge_load(there, &from, &f, gauge.out()));
  EXPECT_DONE(quarksmith_gauge_spread(gauge, found));
  for (int mu = 0; mu < 4; ++mu) EXPECT_NEAR(found[mu], angles[mu], 1e-14);
  EXPECT_DONE(quarksmith_gauge_phase(gauge, found));
  EXPECT_NEAR(found[0], 0.3, 1e-13);
  EXPECT_EQ(std::abs(found[3]), 1);
  Numbers back(links.size());
  void* to = back.data();
  EXPECT_DONE(quarksmith_gauge_get(gauge, &to, &f));
  EXPECT_LE(distance(back, links), 1e-14);
  quarksmith_spinor_format spinors = spinor_format();
  std::copy_n(angles, 4, spinors.spread);
  const HostSpinor psi = reference::random_spinor(given.lattice, 2);
  const std::vector<Numbers> in(1, numbers_of(psi));
  std::vector<Numbers> out = in;
  const Operator op = make_operator(gauge, text_of(action));
  EXPECT_DONE(quarksmith_matrix_host(op, 0, 1, outputs(out).data(), inputs(in).data(), &spinors));
  const dense::DenseAction as_given(Action(action.name(), {{"mass", 0}}, {1, 1, 1, 1}), given);
  EXPECT_LE(distance(out[0], numbers_of(as_given.matrix(psi))), 1e-14);
}

ON_DEVICES_BY_NAME(Orders);

}  // namespace
