// Configurations of other codes, and what those codes obtain on them.
#include <fmt/format.h>

#include <numbers>

#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::operator*;
using data::antiperiodic;
using data::load;
using data::Quark;
using reference::SpinMatrix;

class Data : public support::OnDevice {};

struct Configuration {
  const char* name;
  Coordinates extent;
  double plaquette;
  int checks;  ///< recorded numbers that must agree
};

/// Plaquettes recomputed by the collectors of the data; checks recorded in the files themselves.
const Configuration configurations[] = {
    {"milc/lat.sample.l4444", {4, 4, 4, 4}, 0.594850158947, 1},
    {"milc/lat.sample.l4448", {4, 4, 4, 8}, 0.569055724369, 1},
    {"milc/lat.sample.l4448.gf", {4, 4, 4, 8}, 0.569055725854, 1},
    {"milc/lat.sample.l6666", {6, 6, 6, 6}, 0.660648253452, 1},
    {"milc/lat.sample.l6666.hisq", {6, 6, 6, 6}, 0.616691003407, 1},
    {"milc/lat.sample.l6666b650m010m050", {6, 6, 6, 6}, 0.549692611815, 1},
    {"milc/lat.sample.l8888", {8, 8, 8, 8}, 0.593560240433, 1},
    {"milc/lat.sample.l4444.ildg", {4, 4, 4, 4}, 0.594850158947, 1},
    {"milc/lat.sample.l4444.scidac", {4, 4, 4, 4}, 0.594850158947, 1},
    {"milc/lat.sample.l4448.scidac", {4, 4, 4, 8}, 0.569055724369, 1},
    {"milc/lat.sample.l4448.foreign", {4, 4, 4, 8}, 0.569055724369, 0},
    {"milc/lat.sample.l8", {8, 8, 8, 8}, 0.873640874413, 1},
    {"chroma/weak_field.lime", {4, 4, 4, 8}, 0.994804132267, 1},
    {"chroma/weak_field_b.qio", {4, 4, 4, 8}, 0.994764948926, 1},
    {"chroma/weak_field_b.nersc", {4, 4, 4, 8}, 0.994764948814, 3},
    {"chroma/disordered_4c8.nersc", {4, 4, 4, 8}, -0.003552432738, 3},
    {"chroma/t_nersc_4444.nersc", {4, 4, 4, 4}, 0.038242289324, 3},
    {"chroma/weak_field_32x4x4x8.nersc", {32, 4, 4, 8}, 0.994690434439, 3},
    {"pyqcd/chroma_config.ildg", {4, 4, 4, 8}, 0.717270308530, 1},
    {"nissa/L4T8conf", {4, 4, 4, 8}, 0.635005572229, 2},
    {"cl2qcd/conf.tmlqcd", {4, 4, 4, 4}, 0.628065051764, 2},
    {"bridge/conf_04040408.txt.gz", {4, 4, 4, 8}, 0.625129946975, 0},
    {"metaqcd/testconf.txt", {4, 4, 4, 4}, 0.587818337847, 0},
    {"latticeqcd_jl/conf_wilson_kappa0.141139.txt", {4, 4, 4, 4}, 0.565800226845, 0},
    {"latticeqcd_jl/conf_wilson_kappa0.141139.ildg", {4, 4, 4, 4}, 0.565800226845, 0},
    {"ddalphaamg/4x4x4x4b6.0000id3n1", {4, 4, 4, 4}, 0.595565289703, 1},
    {"ddalphaamg/8x8x8x8b6.0000id3n1", {8, 8, 8, 8}, 0.592431699204, 1},
    {"glu/lat..400", {4, 4, 4, 8}, 0.598545559083, 3},
    {"simulateqcd/lat.sample.l6666_nersc", {6, 6, 6, 6}, 0.660648230686, 3},
    {"simulateqcd/rhmc_reference_conf", {10, 10, 10, 10}, 0.526364559222, 3},
    {"simulateqcd/ildg.l8t4b3360_QUDA", {8, 8, 8, 4}, 0.311637548993, 1},
};

TEST_P(Data, ConfigurationsHavePlaquettesAndChecksumsRecorded) {
  REQUIRE_DATA();
  for (const Configuration& c : configurations) {
    const GaugeFile file = read_gauge(data::folder() / c.name, Lattice(c.extent));
    const double plaquette =
        gauge_averages(file.gauge, std::make_shared<Domain>(file.gauge.lattice, GetParam())).plaquette;
    EXPECT_NEAR(plaquette, c.plaquette, 6e-13) << c.name;
    ASSERT_EQ(file.checks.size(), static_cast<std::size_t>(c.checks)) << c.name;
    for (const RecordedCheck& check : file.checks) EXPECT_TRUE(check.agrees) << c.name << " " << check.what;
  }
}

TEST(Readers, TheSameFieldInSeveralFormatsGivesTheSameLinks) {
  REQUIRE_DATA();
  const std::tuple<const char*, const char*, Coordinates, double> pairs[] = {
      {"milc/lat.sample.l4444", "milc/lat.sample.l4444.ildg", {4, 4, 4, 4}, 0},
      {"milc/lat.sample.l4444", "milc/lat.sample.l4444.scidac", {4, 4, 4, 4}, 0},
      {"milc/lat.sample.l4448", "milc/lat.sample.l4448.foreign", {4, 4, 4, 8}, 0},
      {"milc/lat.sample.l6666", "simulateqcd/lat.sample.l6666_nersc", {6, 6, 6, 6}, 1e-6},
      {"chroma/weak_field_b.qio", "chroma/weak_field_b.nersc", {4, 4, 4, 8}, 1e-6},
      {"latticeqcd_jl/conf_wilson_kappa0.141139.txt",
       "latticeqcd_jl/conf_wilson_kappa0.141139.ildg",
       {4, 4, 4, 4},
       1e-10}};
  for (const auto& [first, second, extent, tolerance] : pairs) {
    const HostGauge a = load(first, extent), b = load(second, extent);
    EXPECT_LE(support::largest_difference(a, b), tolerance) << first << " " << second;
  }
}

TEST(Readers, MovesASignFoldedIntoTheLinksToTheBoundary) {
  REQUIRE_DATA();
  const GaugeFile file = read_gauge(data::folder() / "simulateqcd/ildg.l8t4b3360_QUDA");
  EXPECT_TRUE(file.phases_folded);
  EXPECT_EQ(file.gauge.phase[3], Complex64(-1));
  EXPECT_LT(check_unitarity(file.gauge).determinant, 1e-13);
}

TEST_P(Data, BridgeOperatorsAndPion) {
  REQUIRE_DATA();
  const HostGauge gauge = load("bridge/conf_04040408.txt.gz", {4, 4, 4, 8});
  const Action action = data::wilson(0.12, {-1, -1, -1, -1});
  const double kappa2 = 2 * 0.12;
  const auto domain = std::make_shared<Domain>(gauge.lattice, GetParam());
  int found = 0;
  const nlohmann::json peer = data::read_json("bridge/reference.json");
  for (const auto& entry : peer["entries"]) {
    const std::string name = entry["name"];
    const double theirs = entry["value"];
    if (name != "Mult Wilson" && name != "Mult Wilson even-odd" && name != "pion t=0 Wilson") continue;
    ++found;
    double ours = 0;
    if (name == "pion t=0 Wilson") {
      ours = Quark(gauge, action, GetParam()).pion("point:0,0,0,0")[0] / (kappa2 * kappa2);
    } else {
      const auto dirac = dense::dirac(action, gauge, domain);
      ours = name == "Mult Wilson" ? kappa2 * data::norm_on_ones(dirac->matrix())
                                   : data::norm_on_ones(*dirac->even_odd_operator(EvenOddForm::symmetric, 1));
    }
    EXPECT_NEAR(ours / theirs, 1, 2e-13) << name;
  }
  EXPECT_EQ(found, 3);
}

/// W psi for every site.
HostSpinor rotate(const SpinMatrix& w, const HostSpinor& psi) { return reference::multiply(w, psi); }

/// Spinors stored with axes t, x, y, z, spin, colour.
HostSpinor from_txyz(const std::vector<Complex64>& values, const Lattice& lattice) {
  HostSpinor psi(lattice);
  std::size_t n = 0;
  for (int t = 0; t < lattice.extent(3); ++t)
    for (int x = 0; x < lattice.extent(0); ++x)
      for (int y = 0; y < lattice.extent(1); ++y)
        for (int z = 0; z < lattice.extent(2); ++z)
          for (int k = 0; k < 12; ++k) psi.site[lattice.index({x, y, z, t})][k] = values.at(n++);
  return psi;
}

double largest_difference(const HostSpinor& a, const HostSpinor& b) {
  double largest = 0;
  for (std::size_t x = 0; x < a.site.size(); ++x)
    for (int k = 0; k < 12; ++k) largest = std::max(largest, std::abs(a.site[x][k] - b.site[x][k]));
  return largest;
}

TEST_P(Data, PyqcdOperatorAndSolution) {
  REQUIRE_DATA();
  const HostGauge gauge = load("pyqcd/chroma_config.ildg", {4, 4, 4, 8});
  const Action action = dense::wilson(0.4);
  // Their gammas are (gx, -gy, gz, -gt): W = gy gt turns ours into theirs.
  const SpinMatrix w = reference::gamma(1) * reference::gamma(3), back = reference::adjoint(w);
  HostSpinor unit(gauge.lattice);
  unit.site[0][0] = 1;
  const Quark quark(gauge, action, GetParam());
  const HostSpinor result = dense::apply(dense::dirac(action, gauge, quark.domain)->matrix(), {rotate(back, unit)})[0];
  const double d =
      largest_difference(rotate(w, result), from_txyz(data::read_npy("pyqcd/Dpsi_wilson.npy"), gauge.lattice));
  EXPECT_LT(d, 1e-14);
  const HostSpinor solution = rotate(w, quark.solve(rotate(back, unit)));
  const double s = largest_difference(
      solution, from_txyz(data::read_npy("pyqcd/spinor_wilson_conjugate_gradient.npy"), gauge.lattice));
  EXPECT_LT(s, 2e-12);
}

TEST_P(Data, Cl2qcdUnitGauge) {
  REQUIRE_DATA();
  const Quark quark(unit_gauge(Lattice({4, 4, 4, 4})), data::wilson(0.15, {1, 1, 1, 1}), GetParam());
  const std::vector<double> ours = quark.pion("point:0,0,0,0");
  const nlohmann::json theirs = data::read_json("cl2qcd/reference.json")["unit_gauge_4444"]["wilson_kappa015"];
  for (int t = 0; t < 4; ++t) {
    EXPECT_NEAR(ours[t] / 64 / theirs[t].get<double>(), 1, 1e-11);
  }
}

TEST_P(Data, TmlqcdPropagator) {
  REQUIRE_DATA();
  const HostGauge gauge = load("nissa/L4T8conf", {4, 4, 4, 8});
  const Lattice& lattice = gauge.lattice;
  const Quark quark(gauge, data::wilson(0.15, antiperiodic), GetParam());
  // Their gammas are (-gx, gy, -gz, -gt): W = gy turns ours into theirs.
  const SpinMatrix w = reference::gamma(1), back = reference::adjoint(w);
  double largest = 0;
  std::vector<double> pion(8);
  for (int n = 0; n < 12; ++n) {
    const InputFile file(data::folder() / fmt::format("tmlqcd/prop_kappa150/source_1.0003.00.inverted.{:02}", n));
    HostSpinor source(lattice), theirs(lattice);
    source.site[0][n] = 1;
    const std::size_t bytes = theirs.site.size() * sizeof(HostSite);
    std::uint64_t offset = 0;
    const std::string raw = file.head(file.size());
    offset = raw.find("scidac-binary-data") + 128;
    file.read(offset, theirs.site.data(), bytes, "a propagator");
    swap_bytes(theirs.site.data(), bytes, 8);
    HostSpinor ours = rotate(w, quark.solve(rotate(back, source)));
    for (long long x = 0; x < lattice.sites(); ++x) {
      const int t = lattice.coordinates(x)[3];
      for (Complex64& z : ours.site[x]) {
        pion[t] += std::norm(z);
        z *= std::polar(1.0, -std::numbers::pi * t / 8);
      }
    }
    largest = std::max(largest, largest_difference(ours, theirs));
  }
  EXPECT_LT(largest, 3e-9);
  const nlohmann::json correlator = data::read_json("tmlqcd/prop_kappa150/reference.json")["pion_correlator"];
  for (int t = 0; t < 8; ++t) {
    EXPECT_NEAR(pion[t], correlator[t].get<double>(), 1e-8);
  }
}

TEST_P(Data, ChromaAnisotropicWilson) {
  REQUIRE_DATA();
  HostGauge gauge = load("chroma/weak_field.lime", {4, 4, 4, 8});
  for (auto& site : gauge.site)  // their runs used the single precision rounding of the field
    for (Matrix3& u : site)
      for (Complex64& z : u) z = {static_cast<float>(z.real()), static_cast<float>(z.imag())};
  const Action action("wilson", {{"mass", data::mass_of(0.135)}, {"xi0", 2.464}, {"nu", 0.95}});
  int found = 0;
  const nlohmann::json peer = data::read_json("chroma/reference/propagators_weak_field.json");
  for (const auto& entry : peer["entries"]) {
    const std::string test = entry["test"];
    if (!test.ends_with("_wilson")) continue;  // five preconditionings of one matrix
    ++found;
    const Quark quark(gauge, action, GetParam(), 1e-12, test == "prec_wilson" ? "symmetric" : "none");
    const std::vector<double> ours = quark.pion("gaussian:0,0,0,0:2.0,5");
    for (int t = 0; t < 8; ++t) {
      const double theirs = entry["prop_corr"][t];
      EXPECT_NEAR(ours[t] / theirs, 1, test == "prec_wilson" ? 5e-7 : 3e-6) << test << " t = " << t;
    }
  }
  EXPECT_EQ(found, 5);
}

TEST_P(Data, ChromaFreeFieldTwistedBoundary) {
  REQUIRE_DATA();
  if (!support::built("double", "r12", "wilson", "non_relativistic", 4, true)) GTEST_SKIP() << support::wide;
  const Action action =
      data::wilson(0.1, {std::polar(1.0, 0.2 * std::numbers::pi), std::polar(1.0, 0.4 * std::numbers::pi), 1, 1});
  const std::vector<double> ours = Quark(unit_gauge(Lattice({4, 4, 4, 8})), action, GetParam()).pion("point:0,0,0,0");
  const nlohmann::json theirs =
      data::read_json("chroma/reference/propagator_free_field_twisted_bc.json")["entries"][0]["prop_corr"];
  for (int t = 0; t < 8; ++t) {
    EXPECT_NEAR(ours[t] / theirs[t].get<double>(), 1, 1e-6);
  }
}

TEST_P(Data, LalibeCloverPropagator) {
  REQUIRE_DATA();
  const HostGauge gauge = load("chroma/weak_field.lime", {4, 4, 4, 8});
  const Lattice& lattice = gauge.lattice;
  const Propagator ours =
      Quark(gauge, dense::wilson(0.1, 1.17), GetParam(), 1e-14).propagator("gaussian:0,0,0,4:2.0,5");
  // axes t, z, y, x, sink spin, source spin, sink colour, source colour
  const std::vector<Complex64> theirs = data::read_npy("lalibe/PS_up_4.npy");
  ASSERT_EQ(theirs.size(), static_cast<std::size_t>(lattice.sites()) * 144);
  double largest = 0;
  HostSpinor column(lattice);
  for (int r = 0; r < 4; ++r)
    for (int b = 0; b < 3; ++b) {
      ours.get_column(3 * r + b, column);
      for (long long x = 0; x < lattice.sites(); ++x)
        for (int s = 0; s < 4; ++s)
          for (int a = 0; a < 3; ++a) {
            const Complex64 z = theirs[((x * 4 + s) * 4 + r) * 9 + 3 * a + b];
            largest = std::max(largest, std::abs(column.site[x][3 * s + a] - z));
          }
    }
  EXPECT_LT(largest, 4e-13);
  const nlohmann::json pion = data::read_json("lalibe/PS_up_4.json")["pion_correlator"];
  const std::vector<double> c = meson_correlators(ours, 0)[15];
  for (int t = 0; t < 8; ++t) {
    EXPECT_NEAR(c[t], pion[t].get<double>(), 1e-12);
  }
}

ON_EACH_DEVICE(Data);

}  // namespace
