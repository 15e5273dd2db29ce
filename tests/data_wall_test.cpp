// Domain-wall fermions on configurations of other codes, and what those codes obtain.
#include <fmt/format.h>

#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using data::load;
using reference::operator*;
using reference::SpinMatrix;

class DataWall : public support::OnDevice {
 protected:
  /// A domain-wall solver with the boundary condition of both codes: antiperiodic in time.
  Solver solver(const HostGauge& gauge, double mass, double m5, int slices) const {
    SolveSettings settings;
    settings.method = Method::cg;
    settings.links = "r18";
    settings.options.tolerance = 1e-13;
    const ActionValues values(find_action("domain_wall"), {{"mass", mass}, {"m5", m5}}, slices);
    return Solver(Action(values), gauge, std::make_shared<Domain>(gauge.lattice, GetParam()), settings);
  }
};

TEST_P(DataWall, BridgeOperatorAndPion) {
  REQUIRE_DATA();
  const HostGauge gauge = load("bridge/conf_04040408.txt.gz", {4, 4, 4, 8});
  int found = 0;
  const nlohmann::json peer = data::read_json("bridge/reference.json");
  for (const auto& entry : peer["entries"]) {
    const std::string name = entry["name"];
    if (name != "Mult domain wall" && name != "pion t=0 domain wall") continue;
    ++found;
    const Solver quark = solver(gauge, entry["mass"], entry["M0"], entry["Ls"]);
    double ours = 0;
    if (name == "Mult domain wall") {
      ours = data::norm_on_ones(quark.dirac().matrix());
    } else {
      SpinorField four(quark.domain(), find_precision("double"), Subset::full), result = four.like();
      for (int n = 0; n < 12; ++n) {
        HostSpinor source(gauge.lattice);
        source.site[0][n] = 1;
        upload(source, four, quark.basis());
        EXPECT_TRUE(quark.solve_sources(result, four).front().converged);
        const HostSpinor column = dense::get_one(result, quark.basis());
        for (long long i = 0; i < gauge.lattice.sites(); ++i)
          if (gauge.lattice.coordinates(i)[3] == 0)
            for (const Complex64& z : column.site[i]) ours += std::norm(z);
      }
    }
    const double theirs = entry["value"];
    EXPECT_NEAR(ours / theirs, 1, 2e-13) << name;
  }
  EXPECT_EQ(found, 2);
}

TEST_P(DataWall, PyqcdOperator) {
  REQUIRE_DATA();
  const HostGauge gauge = load("pyqcd/chroma_config.ildg", {4, 4, 4, 8});
  constexpr int slices = 4;
  const Solver quark = solver(gauge, 0.4, 1.6, slices);
  // Their gammas are (gx, -gy, gz, -gt): W = gy gt turns ours into theirs; gamma_5 is the same.
  const SpinMatrix w = reference::gamma(1) * reference::gamma(3), back = reference::adjoint(w);
  HostSpinor unit(gauge.lattice);
  unit.site[0][0] = 1;
  dense::Vectors b(slices, HostSpinor(gauge.lattice));
  b[0] = reference::multiply(back, unit);
  const dense::Vectors all = dense::multiply(w, dense::apply(quark.dirac().matrix(), b));
  const std::vector<Complex64> theirs = data::read_npy("pyqcd/Dpsi_dwf_wilson.npy");
  ASSERT_EQ(theirs.size(), static_cast<std::size_t>(slices * 12 * gauge.lattice.sites()));
  double largest = 0;
  std::size_t n = 0;
  for (int s = 0; s < slices; ++s) {
    for (int t = 0; t < 8; ++t)
      for (int i = 0; i < 64; ++i)  // x, y, z, z fastest
        for (int k = 0; k < 12; ++k)
          largest = std::max(
              largest,
              std::abs(theirs[n++] - all[std::size_t(s)].site[gauge.lattice.index({i / 16, i / 4 % 4, i % 4, t})][k]));
  }
  EXPECT_LT(largest, 1e-14);
}

ON_EACH_DEVICE(DataWall);

}  // namespace
