// The generated table of actions: its functions against the numbers of the literature, for random parameters.
#include <cmath>
#include <map>
#include <random>

#include "runtime/error.hpp"
#include "solvers/actions/stated.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Values of all parameters of an action, different in each test.
class RandomValues {
 public:
  explicit RandomValues(std::string_view action) {
    for (const ActionParameter& p : find_action(action).parameters)
      given_[std::string(p.name)] = std::uniform_real_distribution<double>(0.2, 2)(random());
    values_.emplace(find_action(action), given_);
  }
  double operator[](const std::string& name) const { return given_.at(name); }
  const ActionInfo& info() const { return values_->info(); }
  double operator()(ActionNumber n) const { return (*values_)(n); }

 private:
  static std::mt19937_64& random() {
    static std::mt19937_64 generator(15);
    return generator;
  }
  std::map<std::string, double> given_;
  std::optional<ActionValues> values_;
};

void expect(double given, double expected) { EXPECT_NEAR(given, expected, 4e-16 * (1 + std::abs(expected))); }

TEST(Actions, WilsonTypesHaveTheirNumbers) {
  const std::map<std::string, std::string> inverse = {{"wilson", "apply_term"},
                                                      {"clover", "apply_term"},
                                                      {"twisted_mass", "apply_twist"},
                                                      {"twisted_doublet", "apply_doublet_twist"},
                                                      {"twisted_clover", "apply_twisted_term"},
                                                      {"twisted_clover_doublet", "apply_doublet_twisted_term"}};
  for (const auto& [name, apply_inverse] : inverse)
    for (int n = 0; n < 20; ++n) {
      SCOPED_TRACE(name);
      const RandomValues p(name);
      const ActionInfo& a = p.info();
      const bool twisted = name.starts_with("twisted"), doublet = name.ends_with("doublet"),
                 clover = name.find("clover") != std::string::npos;
      EXPECT_EQ(a.spins, 4);
      EXPECT_EQ(a.flavours, doublet ? 2 : 1);
      EXPECT_EQ(a.reach, 1);
      EXPECT_EQ(a.hopping, "wilson");
      EXPECT_EQ(a.with_term, twisted ? name : "wilson");
      EXPECT_EQ(a.apply_inverse, apply_inverse);
      EXPECT_EQ(a.directed, 0u);
      EXPECT_FALSE(a.anti_hermitian);
      EXPECT_EQ(a.h, -0.5);
      expect(p(a.diagonal), p["mass"] + 1 + 3 * p["nu"] / p["xi0"]);
      for (int mu = 0; mu < directions; ++mu)
        for (const int back : {0, 1}) expect(p(a.weight[mu][back]), mu == 3 ? 1 : p["nu"] / p["xi0"]);
      expect(p(a.twist), twisted ? p["mu"] : 0);
      expect(p(a.splitting), doublet ? p["epsilon"] : 0);
      expect(p(a.clover_space), clover ? p["csw_r"] / p["xi0"] : 0);
      expect(p(a.clover_time), clover ? p["csw_t"] : 0);
    }
}

TEST(Actions, WallsHaveTheNumbersOfTheFifthDimension) {
  for (const std::string name : {"moebius", "domain_wall"})
    for (int n = 0; n < 20; ++n) {
      SCOPED_TRACE(name);
      const RandomValues p(name);
      const ActionInfo& a = p.info();
      const double b = name == "moebius" ? p["b"] : 1, c = name == "moebius" ? p["c"] : 0, d = 4 - p["m5"];
      EXPECT_EQ(a.chain, "domain_wall");
      EXPECT_EQ(a.h, -0.5);
      expect(p(a.alpha), d * b + 1);
      expect(p(a.beta), d * c - 1);
      expect(p(a.b), b);
      expect(p(a.c), c);
      expect(p(a.wall), -p["mass"]);
    }
}

TEST(Actions, StaggeredQuarksHaveTwiceTheMass) {
  for (const std::string name : {"staggered", "improved_staggered"}) {
    const RandomValues p(name);
    const ActionInfo& a = p.info();
    EXPECT_EQ(a.spins, 1);
    EXPECT_EQ(a.hopping, name);
    EXPECT_EQ(a.reach, name == "staggered" ? 1 : 3);
    EXPECT_TRUE(a.anti_hermitian);
    EXPECT_FALSE(a.has_basis);
    EXPECT_EQ(a.h, 1);
    expect(p(a.diagonal), 2 * p["mass"]);
    for (int mu = 0; mu < directions; ++mu) expect(p(a.weight[mu][0]) * p(a.weight[mu][1]), 1);
  }
}

TEST(Actions, AChemicalPotentialTellsHopsInTimeApart) {
  const RandomValues p("naive");
  const ActionInfo& a = p.info();
  EXPECT_EQ(a.directed, 8u);
  EXPECT_EQ(a.h, 0.5);
  expect(p(a.diagonal), p["mass"]);
  for (int mu = 0; mu < directions; ++mu) {
    expect(p(a.weight[mu][0]), mu == 3 ? std::exp(p["mu"]) : 1);
    expect(p(a.weight[mu][1]), mu == 3 ? std::exp(-p["mu"]) : 1);
  }
}

TEST(Actions, ParametersAreASchema) {
  const ActionInfo& a = find_action("naive");
  ASSERT_EQ(a.parameters.size(), 2u);
  EXPECT_EQ(a.parameters[0].name, "mass");
  EXPECT_TRUE(a.parameters[0].required);
  EXPECT_EQ(a.parameters[1].name, "mu");
  EXPECT_FALSE(a.parameters[1].required);
  EXPECT_EQ(ActionValues(a, {{"mass", 0.1}}).all(), (std::vector<double>{0.1, 0}));
  EXPECT_EQ(ActionValues(a, {{"mass", 0.1}}).text(), "mass 0.1, mu 0");
  const auto message = [&](const ActionInfo& info, const std::map<std::string, double>& given) -> std::string {
    try {
      ActionValues(info, given);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(a, {}), "action naive needs mass: mass");
  EXPECT_EQ(message(a, {{"mass", 1}, {"csw", 1}}), "csw is no parameter of action naive; it has mass, mu");
  EXPECT_EQ(message(a, {{"mass", 1}, {"mu", 11}}), "mu 11 of action naive: use a number from -10 to 10");
  EXPECT_NE(message(a, {{"mass", std::nan("")}}), "");
  EXPECT_THROW(find_action("nonsense"), UnknownName);
}

TEST(Actions, OtherShapesHaveOperatorsOfTheirOwn) {
  const BoundaryPhases antiperiodic{1, 1, 1, -1};
  for (const std::string name : {"moebius", "improved_staggered"})
    EXPECT_THROW(StatedAction({find_action(name), {{"mass", 0.1}}}, antiperiodic), UsageError) << name;
  EXPECT_EQ(StatedAction({find_action("twisted_mass"), {{"mass", 1}, {"mu", 1}}}, antiperiodic).name(), "twisted-mass");
}

}  // namespace
