// Staggered quarks on configurations of the MILC collaboration: links, solutions and pions of its programs.
#include <fmt/format.h>

#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/io/lime.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "solvers/solve/mass_solver.hpp"
#include "solvers/measure/correlators.hpp"
#include "tests/quark.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Single precision complex numbers of a SciDAC file.
std::vector<Complex64> read_scidac(const std::string& name) {
  const InputFile file(data::folder() / name);
  const std::vector<LimeRecord> records = lime_records(file);
  const LimeRecord* record = find_record(records, "scidac-binary-data");
  Bytes bytes = file.read(record->offset, record->bytes, "field");
  swap_bytes(bytes.data(), bytes.size(), 4);
  const auto* numbers = reinterpret_cast<const float*>(bytes.data());
  std::vector<Complex64> values;
  for (std::size_t n = 0; n < bytes.size() / 8; ++n) values.emplace_back(numbers[2 * n], numbers[2 * n + 1]);
  return values;
}

HostSpinor read_vector(const std::string& name, const Lattice& lattice) {
  const std::vector<Complex64> values = read_scidac(name);
  HostSpinor psi(lattice);
  for (std::size_t i = 0; i < psi.site.size(); ++i)
    for (int c = 0; c < 3; ++c) psi.site[i][c] = values[3 * i + c];
  return psi;
}

/// Links of a file that have staggered phases, time first, and antiperiodic boundaries folded in, without them;
/// `length` sites long.
HostGauge read_links(const std::string& name, const Lattice& lattice, int length) {
  const std::vector<Complex64> values = read_scidac(name);
  HostGauge links(lattice);
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const int phase[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] + length >= lattice.extent(3) ? 1 : 0};
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n)
        links.site[i][mu][n] = values[9 * (4 * i + mu) + n] * (phase[mu] % 2 == 0 ? 1.0 : -1.0);
  }
  return links;
}

/// A solver for staggered quarks with its fields.
struct StaggeredQuark {
  StaggeredQuark(const HostGauge& gauge, const Action& action, const std::shared_ptr<Device>& device,
                 const std::string& links)
      : lattice(gauge.lattice), domain(std::make_shared<Domain>(lattice, device, Communicator::self(), 3)) {
    settings.method = Method::cg;
    settings.links = links;
    settings.options.tolerance = 1e-12;
    solver = std::make_unique<Solver>(action, gauge, domain, settings);
  }
  SpinorField upload(const HostSpinor& host) const {
    SpinorField field = solver->field();
    quarksmith::upload(host, field, solver->basis());
    return field;
  }
  HostSpinor solve(const HostSpinor& source) const {
    const SpinorField b = upload(source);
    SpinorField x = b.like();
    EXPECT_TRUE(solver->solve(x, b).converged);
    return dense::get_one(x, solver->basis());
  }

  Lattice lattice;
  DomainPointer domain;
  SolveSettings settings;
  std::unique_ptr<Solver> solver;
};

double relative(const HostSpinor& a, const HostSpinor& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.site.size(); ++i)
    for (int c = 0; c < 3; ++c) difference += std::norm(a.site[i][c] - b.site[i][c]), size += std::norm(b.site[i][c]);
  return std::sqrt(difference / size);
}

class StaggeredData : public support::OnDevice {};

/// Fat and long links, source and solution of a file, all in single precision.
TEST_P(StaggeredData, AsqtadSolution) {
  REQUIRE_DATA();
  const std::string source = "milc asqtad_solve_l8";
  const Lattice lattice({8, 8, 8, 8});
  const HostGauge gauge = read_gauge(data::folder() / "milc/lat.sample.l8", lattice).gauge;
  const HostSpinor b = read_vector("milc/ksvector.src.sample.l8", lattice);
  const HostSpinor theirs = read_vector("milc/ksvector.ans.Minv.sample.l8", lattice);
  const Action asqtad("asqtad", {{"mass", 0.1}, {"u0", 0.502}});
  const Action with_files =
      dense::with_links(asqtad, {read_links("milc/fat.l8", lattice, 1), read_links("milc/long.l8", lattice, 3)});
  for (const char* storage : {"r18", "r13"}) {
    const StaggeredQuark quark(gauge, with_files, GetParam(), storage);
    const double stored = quark.solver->residual(quark.upload(theirs), quark.upload(b));
    EXPECT_LT(stored, 1.5e-7);
    const double difference = relative(quark.solve(b), theirs);
    EXPECT_LT(difference, 1e-6);
  }
  const StaggeredQuark own(gauge, asqtad, GetParam(), "r13");
  const double difference = relative(own.solve(b), theirs);
  EXPECT_LT(difference, 2e-6);
}

/// Correlators sum conj(A) B of point propagators, which the files give times 2.44141e-4.
void compare_pions(const std::string& file, const char* name_of_action, const std::vector<double>& masses,
                   const std::shared_ptr<Device>& device) {
  const nlohmann::json expected = data::read_json("milc/reference/" + file)["correlators"];
  constexpr double factor = 2.44141e-4;
  const Lattice lattice({4, 4, 4, 8});
  const HostGauge gauge = read_gauge(data::folder() / "milc/lat.sample.l4448.gf", lattice).gauge;
  const Action action(name_of_action, {{"mass", masses[0]}}, {1, 1, 1, 1});
  const StaggeredQuark quark(gauge, action, device, "r18");
  const MassSolver solver(action, masses, gauge, quark.domain, quark.settings);
  std::vector<Propagator> propagators;
  for (std::size_t k = 0; k < masses.size(); ++k) propagators.emplace_back(quark.domain, 1);
  const SourceSettings source = source_of("point:0,0,0,0", lattice);
  for (int colour = 0; colour < 3; ++colour) {
    const SpinorField b = quark.upload(make_source(source, lattice, 0, colour));
    SpinorField x = quark.solver->field(int(masses.size()));
    for (const SolveReport& r : solver.solve(x, b)) EXPECT_TRUE(r.converged);
    HostSpinor column(lattice);
    for (std::size_t k = 0; k < masses.size(); ++k) {
      download(x, column, quark.solver->basis(), int(k));
      propagators[k].set_column(colour, column);
    }
  }
  for (std::size_t i = 0; i < masses.size(); ++i)
    for (std::size_t j = i; j < masses.size(); ++j) {
      const std::string name = fmt::format("POINT_KAON_5_d_d_d_d_m{}_m{}_p000", masses[i], masses[j]);
      ASSERT_TRUE(expected.contains(name)) << name;
      const std::vector<Complex64> ours = goldstone_correlator(propagators[i], propagators[j], 0);
      double worst = 0;
      for (int t = 0; t < 8; ++t) {
        const Complex64 theirs(expected[name][t][0], expected[name][t][1]);
        worst = std::max(worst, std::abs(factor * ours[t] - theirs) / std::abs(theirs));
      }
      EXPECT_LT(worst, 1e-6);
    }
}

TEST_P(StaggeredData, AsqtadPionsOfTwoMasses) {
  REQUIRE_DATA();
  compare_pions("ks_point_kaon_l4448gf_asqtad.json", "asqtad", {0.05, 0.02}, GetParam());
}

TEST_P(StaggeredData, HisqPion) {
  REQUIRE_DATA();
  compare_pions("ks_point_kaon_l4448gf_hisq_m05.json", "hisq", {0.05}, GetParam());
}

/// Rows 1 and 2 orthonormal, the third the conjugate cross product: what the program did with links that it had read.
void make_special_unitary(HostGauge& gauge) {
  for (auto& site : gauge.site)
    for (Matrix3& u : site) {
      const auto normalise = [&u](int row) {
        double size = 0;
        for (int c = 0; c < 3; ++c) size += std::norm(u[3 * row + c]);
        for (int c = 0; c < 3; ++c) u[3 * row + c] /= std::sqrt(size);
      };
      normalise(0);
      Complex64 overlap = 0;
      for (int c = 0; c < 3; ++c) overlap += std::conj(u[c]) * u[3 + c];
      for (int c = 0; c < 3; ++c) u[3 + c] -= overlap * u[c];
      normalise(1);
      for (int c = 0; c < 3; ++c)
        u[6 + c] = std::conj(u[(c + 1) % 3] * u[3 + (c + 2) % 3] - u[(c + 2) % 3] * u[3 + (c + 1) % 3]);
    }
}

/// The lowest eigenvalues of -D^2 on the even sites.
TEST_P(StaggeredData, LowestEigenvalues) {
  REQUIRE_DATA();
  const auto expect_eigenvalues = [&](const std::string& links, const Coordinates& extent,
                                      const std::vector<double>& expected, double tolerance) {
    HostGauge gauge = read_gauge(data::folder() / links, Lattice(extent)).gauge;
    make_special_unitary(gauge);
    const Action action("asqtad", {{"mass", 0.02}});
    const StaggeredQuark quark(gauge, action, GetParam(), "r18");
    const EigenOperator d2(Spectrum::staggered, action, quark.solver->dirac(), quark.solver->basis(), EvenOddForm::none,
                           4);
    const Eigenpairs pairs = d2.find({.count = static_cast<int>(expected.size())});
    EXPECT_TRUE(pairs.converged);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_NEAR(pairs.values[n], expected[n], tolerance) << n;
    }
  };
  const std::string ten = "milc/reference/ks_eigenvalues_l8888_asqtad.json";
  expect_eigenvalues("milc/lat.sample.l8888", {8, 8, 8, 8}, data::read_json(ten)["eigenvalues"], 1e-11);
  // Every level is twofold, one sixteenfold; the peer's own errors are up to 1e-7.
  const std::string pairs = "measure/eigenvalues_deflation.json";
  expect_eigenvalues("measure/instanton_4444.ildg", {4, 4, 4, 4},
                     data::read_json(pairs)["staggered_asqtad_instanton"]["eigenvalues"], 3e-7);
}

ON_EACH_DEVICE(StaggeredData);

}  // namespace
