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

/// Where a site stands when they are counted along `axes` (fastest first), even ones first if asked.
int place_of(const Lattice& lattice, long long site, int sites, const int (&axes)[4]) {
  const Coordinates x = lattice.coordinates(site);
  int n = 0;
  for (int k = 3; k >= 0; --k) n = n * lattice.extent(axes[k]) + x[axes[k]];
  return sites == QUARKSMITH_EVEN_ODD ? n / 2 + int(Lattice::parity(x)) * int(lattice.half_sites()) : n;
}

/// Calls use(site, component, its place) for the sites of a parity (2: all) in arrays of a format.
template <class Use>
void for_each_component(const Lattice& lattice, const quarksmith_spinor_format& f, int parity, const Use& use) {
  for (long long site = 0; site < lattice.sites(); ++site) {
    if (parity != 2 && int(Lattice::parity(lattice.coordinates(site))) != parity) continue;
    int at = place_of(lattice, site, f.sites, f.axes);
    if (f.half) at = f.sites == QUARKSMITH_EVEN_ODD ? at % int(lattice.half_sites()) : at / 2;
    for (int s = 0; s < 4; ++s)
      for (int a = 0; a < 3; ++a)
        use(site, 3 * s + a, std::size_t(12 * at + (f.order == QUARKSMITH_COLOUR_SPIN ? 4 * a + s : 3 * s + a)));
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
  for (int n = 0; n < 96; ++n) {
    quarksmith_link_format f = link_format();
    f.precision = n & 1;
    f.sites = n >> 1 & 1;
    f.order = n >> 2 & 1;
    f.colour = n >> 3 & 1;
    std::copy_n(axis_orders[n / 32], 4, f.axes);
    if (n >> 4 & 1) f.directions[0] = 3, f.directions[1] = 0, f.directions[2] = 1, f.directions[3] = 2;  // t first
    SCOPED_TRACE(n);
    const std::size_t sites = links.site.size();
    std::vector<Array> arrays(4, Array(f.precision, 36 * sites)), again = arrays;
    for (std::size_t site = 0; site < sites; ++site)
      for (int k = 0; k < 4; ++k)
        for (int e = 0; e < 9; ++e) {
          const std::size_t at = std::size_t(place_of(links.lattice, (long long)site, f.sites, f.axes));
          const int element = f.colour == QUARKSMITH_COLUMN_MAJOR ? 3 * (e % 3) + e / 3 : e;
          const bool apart = f.order == QUARKSMITH_DIRECTION_MAJOR;
          arrays[apart ? k : 0].set(9 * (apart ? at : 4 * at + std::size_t(k)) + std::size_t(element),
                                    links.site[site][f.directions[k]][e]);
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
    EXPECT_LE(support::compare(dslash(gauge, text_of(action), dagger, in), dense.hop({in}, dagger != 0)[0]).norm,
              limit);
    EXPECT_DONE(quarksmith_gauge_get(gauge, to, &f));
    EXPECT_TRUE(again == arrays);
  }
}

/// Rows of the rotation from the DeGrand-Rossi basis; UKQCD's is the non-relativistic one with the other sign of the
/// gamma_i: gamma_t turns it.
HostSpinor in_basis(int basis, const HostSpinor& psi, bool back) {
  if (basis == 0) return psi;
  reference::SpinMatrix v = reference::basis_of("non_relativistic")->rotation;
  if (basis == 1) v = reference::operator*(reference::basis_of("non_relativistic")->gamma[3], v);
  return reference::multiply(back ? reference::adjoint(v) : v, psi);
}

TEST_P(Orders, OfSpinors) {
  static const char* const bases[3] = {"degrand_rossi", "ukqcd", "non_relativistic"};
  const Gauge gauge = load(context, links);
  const Operator op = make_operator(gauge, text_of(action));
  for (int n = 0; n < 3 * 3 * 16 * 2; ++n) {
    SCOPED_TRACE(n);
    const int basis = n % 3, parity = n / 144;
    quarksmith_spinor_format f = spinor_format();
    f.basis = bases[basis];
    std::copy_n(axis_orders[n / 3 % 3], 4, f.axes);
    f.precision = n / 9 & 1;
    f.sites = n / 18 & 1;
    f.order = n / 36 & 1;
    f.half = n / 72 & 1;
    Array from(f.precision, 12 * in.site.size()), to = from;
    for_each_component(in.lattice, f, f.half ? 1 - parity : 2,
                       [&](long long site, int k, std::size_t at) { from.set(at, in.site.at(site)[k]); });
    void* outs = to.data();
    const void* ins = from.data();
    EXPECT_DONE(quarksmith_dslash_host(op, parity, 0, 1, &outs, &ins, &f));
    HostSpinor out(in.lattice);
    for_each_component(in.lattice, f, f.half ? parity : 2,
                       [&](long long site, int k, std::size_t at) { out.site.at(site)[k] = to[at]; });
    const auto expected = in_basis(basis, dense.hop({in_basis(basis, in, true)})[0], false);
    EXPECT_LE(support::compare(out, dense::half({expected}, Parity(parity))[0]).norm, f.precision ? 5e-7 : 1e-14);
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

ON_DEVICES_BY_NAME(Orders);

}  // namespace
