// Commands in this process: eigenvectors and what they deflate, multigrid, measurements, links that are left.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/c/support.hpp"

namespace {

using namespace c;

/// Numbers of the list after a key.
std::vector<double> listed(const std::string& json, const std::string& key) {
  std::istringstream rest(json.substr(json.find('[', json.find("\"" + key + "\"")) + 1));
  std::vector<double> all;
  for (double x = 0; rest >> x; rest.get()) all.push_back(x);
  return all;
}

class CCommands : public OnDevice {
 protected:
  void TearDown() override {
    for (const char* name : {"eigen.h5", "null.h5", "mg.toml", "measure.toml", "measure.h5"})
      std::filesystem::remove(std::string("c_test_") + name);
  }
  /// Runs a command on the links; its JSON.
  Result run(const char* command, const std::string& how, std::string* json = nullptr) {
    Result result;
    const char* text = "null";
    EXPECT_DONE(quarksmith_run(context, command, how.c_str(), gauge, result.out())) << command;
    EXPECT_DONE(quarksmith_result_text(result, QUARKSMITH_JSON, &text));
    if (json != nullptr) *json = text;
    return result;
  }
  /// A solve of one random right-hand side.
  int iterations(const std::string& how) {
    const Numbers b = random_numbers(12 * links.site.size(), 5);
    const Solved s = solve(make_solver(gauge, wilson + how), {b});
    EXPECT_LE(reference::residual(spinor_of(b, links.lattice),
                                  reference::wilson(links, spinor_of(s.x[0], links.lattice), 0.05)),
              1.05e-10);
    return s.reports[0].iterations;
  }
  void refuse_solver(const std::string& how, const std::string& text) {
    Solver solver;
    refused(quarksmith_solver_create(gauge, how.c_str(), solver.out()), QUARKSMITH_BAD_ARGUMENT, text);
  }

  HostGauge links = weak_gauge(Lattice({4, 4, 4, 8}), 0.3, 41);
  std::string wilson = "action=wilson mass=0.05";
  Context context = open(GetParam(), links.lattice.extent());
  Gauge gauge = load(context, links);
};

TEST_P(CCommands, EigenvectorsDeflate) {
  constexpr int count = 8;
  std::string json;
  Field v;
  {
    const Result result =
        run("eigen", fmt::format("gauge=links {} count={} even-odd=none out=c_test_eigen.h5 overwrite", wilson, count),
            &json);
    EXPECT_DONE(quarksmith_result_field(result, v.out()));
  }
  const Operator op = make_operator(gauge, wilson);
  const Field mv = field_of(op, QUARKSMITH_FULL, count), av = field_of(op, QUARKSMITH_FULL, count);
  double norm2[count], dots[2 * count];
  EXPECT_DONE(quarksmith_matrix(op, 0, mv, v));
  EXPECT_DONE(quarksmith_matrix(op, 1, av, mv));
  EXPECT_DONE(quarksmith_norm2(v, norm2));
  EXPECT_DONE(quarksmith_dot(v, av, dots));
  for (int n = 0; n < count; ++n) {
    EXPECT_NEAR(norm2[n], 1, 1e-10);
    EXPECT_NEAR(dots[2 * n] / listed(json, "eigenvalues").at(std::size_t(n)), 1, 1e-8);
  }
  const std::string cg = " solver=cg even-odd=none";
  const int plain = iterations(cg);
  EXPECT_LT(iterations(cg + " deflate=c_test_eigen.h5"), plain);
  EXPECT_LT(iterations(cg + " deflate=8"), plain);
  refuse_solver("action=twisted-mass mass=0.05 mu=0.1 even-odd=none deflate=c_test_eigen.h5",
                "eigenvectors of another operator");
}

TEST_P(CCommands, NearNullVectorsAreSavedAndLoaded) {
  const std::string save = " solver=multigrid mg-save=c_test_null.h5",
                    load = " solver=multigrid mg-load=c_test_null.h5";
  const int made = iterations(save);
  refuse_solver(wilson + save, "c_test_null.h5");
  EXPECT_LE(iterations(load), made + 2);
  refuse_solver("mass=0.5" + load, "another operator");
  std::ofstream("c_test_mg.toml") << "levels = 2\nblocs = 3\n";
  refuse_solver("mass=0.5 solver=multigrid mg=c_test_mg.toml", "c_test_mg.toml");
}

TEST_P(CCommands, MeasurementsAreThoseOfThePropagator) {
  std::ofstream("c_test_measure.toml")
      << "[configurations]\nfiles = [\"links\"]\n[[source]]\nname = \"p\"\nat = [[0, 0, 0, 0]]\n"
         "[[quark]]\nname = \"q\"\naction = \"wilson\"\nmass = 0.2\n"
         "[[propagator]]\nname = \"S\"\nquark = \"q\"\nsource = \"p\"\n"
         "[[correlator]]\nname = \"pion\"\nkind = \"meson\"\nquarks = [\"S\", \"S\"]\ngammas = [\"g5\"]\n";
  std::string json;
  Field columns;
  Gauge none;
  double norm2[12], sum = 0, pion = 0;
  const Result propagator = run("propagator", "gauge=links action=wilson mass=0.2", &json);
  EXPECT_DONE(quarksmith_result_field(propagator, columns.out()));
  EXPECT_DONE(quarksmith_norm2(columns, norm2));
  for (const double n : norm2) sum += n;
  for (const double c : listed(json, "pion")) pion += c;
  EXPECT_NEAR(pion / sum, 1, 1e-12);
  const Result measured = run("measure", "run=c_test_measure.toml out=c_test_measure.h5 overwrite");
  const char* text = nullptr;
  EXPECT_DONE(quarksmith_result_text(measured, QUARKSMITH_JSON, &text));
  EXPECT_NE(std::string(text).find("\"pion\""), std::string::npos);
  EXPECT_DONE(quarksmith_result_text(measured, QUARKSMITH_PRINTED, &text));
  refused(quarksmith_result_gauge(measured, none.out()), QUARKSMITH_BAD_ARGUMENT, "left no links");
  refused(quarksmith_result_field(measured, columns.out()), QUARKSMITH_BAD_ARGUMENT, "left no spinors");
  refused(quarksmith_result_text(measured, 3, &text), QUARKSMITH_BAD_ARGUMENT, "text 3");
}

TEST_P(CCommands, LinksAreLeft) {
  double before[3], after[3];
  Gauge smeared, none;
  EXPECT_DONE(quarksmith_result_gauge(run("smear", "kind=stout in=links rho=0.1 steps=2"), smeared.out()));
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, before));
  EXPECT_DONE(quarksmith_gauge_plaquette(smeared, after));
  EXPECT_TRUE(after[0] > before[0] && after[0] < 1) << after[0];
  refused(quarksmith_result_gauge(run("heatbath", "lattice=4,4,4,4 beta=6 sweeps=1"), none.out()),
          QUARKSMITH_WRONG_LATTICE, "4x4x4x4");
}

TEST_P(CCommands, LinksOfTheCallerAreSmearedAlike) {
  Gauge smeared;
  EXPECT_DONE(quarksmith_result_gauge(run("smear", "kind=stout in=links rho=0.1"), smeared.out()));
  const auto format = link_format();
  std::vector<Numbers> all(3, Numbers(36 * std::size_t(links.lattice.sites())));
  const std::vector<void*> at = outputs(all);
  EXPECT_DONE(quarksmith_gauge_get(gauge, &at[0], &format));
  EXPECT_DONE(quarksmith_gauge_get(smeared, &at[1], &format));
  const void* const in = at[0];
  const double rho = 0.1;
  EXPECT_DONE(quarksmith_smear_links(context, "stout", &rho, &at[2], &in, &format));
  EXPECT_LE(distance(all[2], all[1]), 1e-14);
  refused(quarksmith_smear_links(context, "stoud", &rho, &at[2], &in, &format), QUARKSMITH_UNKNOWN_NAME, "stoud");
  refused(quarksmith_smear_links(context, "naik", nullptr, &at[2], &in, &format), QUARKSMITH_BAD_ARGUMENT,
          "parameters");
}

TEST_P(CCommands, MistakesHaveTheirStatus) {
  std::ofstream("c_test_measure.toml") << "[[corelator]]\nname = \"x\"\n";
  for (const auto& [command, how, status, text] :
       {std::tuple{"eigne", "", QUARKSMITH_UNKNOWN_NAME, "eigen?"},
        {"man", "", QUARKSMITH_UNKNOWN_NAME, "'man'"},
        {"eigen", "mass=0.1 count=3", QUARKSMITH_BAD_ARGUMENT, "gauge"},
        {"eigen", "gauge=links count=3", QUARKSMITH_BAD_ARGUMENT, "mass"},
        {"eigen", "gauge=none.ildg mass=0.1", QUARKSMITH_FAILED, "none.ildg"},
        {"measure", "run=none.toml out=x.h5", QUARKSMITH_FAILED, "none.toml"},
        {"measure", "run=c_test_measure.toml dry-run", QUARKSMITH_BAD_ARGUMENT, "c_test_measure.toml:1"},
        {"multigrid", "what=tune gauge=links mass=0.1", QUARKSMITH_BAD_ARGUMENT, "out"},
        {"propagator", "gauge=links mass=0.1 max-iterations=2", QUARKSMITH_FAILED, "not converged"},
        {"heatbath", "lattice=4,4,4,5 sweeps=1", QUARKSMITH_WRONG_LATTICE, "5"}}) {
    Result result;
    refused(quarksmith_run(context, command, how, gauge, result.out()), status, text);
    EXPECT_EQ(static_cast<quarksmith_result*>(result), nullptr) << command;
  }
}

ON_DEVICES_BY_NAME(CCommands);

}  // namespace
