// The generated table of actions: its functions against the numbers of the literature, for random parameters; values of
// parameters and fields that callers give.
#include <cmath>
#include <map>
#include <random>

#include "runtime/error.hpp"
#include "runtime/io/field_file.hpp"
#include "runtime/io/hdf5.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using Value = ActionValues::Value;

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

void expect(double given, double expected) { EXPECT_NEAR(given, expected, 1e-15 * (1 + std::abs(expected))); }

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
      EXPECT_EQ(a.blocks_of, clover ? "clover" : "");
      // Six planes; F = (Q - Q^+)/8 and sigma_munu twice make 1/16 of each.
      EXPECT_EQ(a.blocks.size(), clover ? 6u : 0u);
      for (std::size_t k = 0; k < a.blocks.size(); ++k)
        expect(std::abs(p(a.blocks[k].number)), (k < 3 ? p["csw_r"] / p["xi0"] : p["csw_t"]) / 16);
    }
}

TEST(Actions, WallsHaveTheNumbersOfTheFifthDimension) {
  for (const std::string name : {"moebius", "domain_wall"})
    for (int n = 0; n < 20; ++n) {
      SCOPED_TRACE(name);
      const RandomValues p(name);
      const ActionInfo& a = p.info();
      const double b = name == "moebius" ? p["b5"] : 1, c = name == "moebius" ? p["c5"] : 0,
                   d = 1 + 3 * p["nu"] / p["xi0"] - p["m5"];
      EXPECT_EQ(a.chain, "domain_wall");
      EXPECT_EQ(a.h, -0.5);
      expect(p(a.alpha), d * b + 1);
      expect(p(a.beta), d * c - 1);
      expect(p(a.b), b);
      expect(p(a.c), c);
      expect(p(a.wall), -p["mass"]);
    }
}

/// What is thrown when an action gets these values.
std::string refused(const std::string& name, const ActionValues::Given& given, int slices = 1) {
  return support::message_of<UsageError>([&] { ActionValues(find_action(name), given, slices); });
}

TEST(Actions, SlicesHaveComplexNumbersOfTheirOwn) {
  const ActionInfo& a = find_action("moebius");
  const std::vector<Value> b = {{1.2, 0.3}, {0.7, -0.4}, 1.0}, c = {{0.2, 0.1}, 0.0, {0.5, -1}};
  const ActionValues p(a, ActionValues::Given{{"mass", {0.1}}, {"m5", {1.7}}, {"b5", b}, {"c5", c}}, 3);
  EXPECT_EQ(p.all("b5"), b);
  for (int s = 0; s < 3; ++s) {
    EXPECT_LT(std::abs(p.of_slices(a.alpha)[s] - ((4 - 1.7) * b[s] + 1.0)), 1e-15);
    EXPECT_LT(std::abs(p.complex(a.beta, s) - ((4 - 1.7) * c[s] - 1.0)), 1e-15);
    EXPECT_EQ(p.complex(a.b, s), b[s]);
    EXPECT_EQ(p.complex(a.c, s), c[s]);
    EXPECT_EQ(p.complex(a.wall, s), -0.1);
  }
  EXPECT_EQ(refused("moebius", {{"mass", {0.1}}, {"m5", {1.8}}, {"b5", {1.0, 2.0}}}, 3),
            "b5 of action moebius has 2 values for 3 slices; give one, or one for each slice");
  EXPECT_EQ(refused("moebius", {{"mass", {0.1}}}, 0), "moebius on 0 slices; use at least one");
  EXPECT_EQ(refused("wilson", {{"mass", {0.1}}}, 4), "4 slices of action wilson, which has no fifth dimension; use 1");
  EXPECT_EQ(refused("domain_wall", {{"mass", {0.1}}, {"b5", {1.0}}}, 4),
            "b5 is no parameter of action domain_wall; it has mass, m5, xi0, nu");
  EXPECT_EQ(refused("wilson", {{"mass", {Value(0.1, 0.2)}}}),
            "mass 0.1:0.2 of action wilson: it is real; use one number");
}

TEST(Actions, NumbersAreRealOrComplexFunctionsOfParameters) {
  const double reals[] = {0.5, 2};
  const Value values[] = {{0.5, 1}, {2, -1}};
  const ActionNumber real = +[](const double* p) -> double { return p[0] * p[1]; };
  const ActionNumber complex = +[](const Value* p) -> Value { return p[0] * p[1]; };
  EXPECT_EQ(real(reals, values), 1.0);
  EXPECT_EQ(complex(reals, values), Value(2, 1.5));
  EXPECT_EQ(ActionNumber()(reals, values), 0.0);
  EXPECT_TRUE(real && complex);
  EXPECT_FALSE(ActionNumber());
}

TEST(Actions, StaggeredQuarksHaveTwiceTheMass) {
  for (const std::string name : {"staggered", "improved_staggered", "asqtad", "hisq"}) {
    const RandomValues p(name);
    const ActionInfo& a = p.info();
    EXPECT_EQ(a.spins, 1);
    EXPECT_EQ(a.hopping, name == "staggered" ? name : "improved_staggered");
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
  EXPECT_EQ(Action("naive", {{"mass", 0.1}}).values().text(), "mass 0.1, mu 0");
  EXPECT_EQ(Action("twisted_mass", {{"mass", 1}, {"mu", 1}}).name(), "twisted-mass");
  EXPECT_EQ(refused("naive", {}), "action naive needs mass: mass in 1/a");
  EXPECT_EQ(refused("naive", {{"mass", {1}}, {"csw", {1}}}), "csw is no parameter of action naive; it has mass, mu");
  EXPECT_EQ(refused("naive", {{"mass", {1}}, {"mu", {11}}}), "mu 11 of action naive: use a number from -10 to 10");
  EXPECT_EQ(refused("naive", {{"mass", {std::nan("")}}}), "mass nan of action naive: use a number");
  EXPECT_THROW(find_action("nonsense"), UnknownName);
}

/// The message of what an action's operators are refused with, if it gets these fields.
class Given : public testing::Test {
 protected:
  std::string message(std::string_view name, const GivenFields& fields, const std::string& storage = "r18") const {
    const Action action({find_action(name), {{"mass", 0.1}}}, {.fields = fields});
    return support::message_of([&] { dense::dirac(action, gauge_, domain_, storage); });
  }
  static std::shared_ptr<const GivenField> field(std::string kind, const HostGauge& links) {
    return std::make_shared<const GivenField>(GivenField{std::move(kind), links});
  }
  HostGauge gauge_ = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 2);
  DomainPointer domain_ = std::make_shared<Domain>(gauge_.lattice, Device::cpu(), Communicator::self(), 3);
};

TEST_F(Given, FieldsAreThoseOfTheStatement) {
  const auto fat = field("matrices", gauge_), other = field("matrices", unit_gauge(Lattice({4, 4, 4, 8})));
  EXPECT_EQ(message("improved_staggered", {{"fat", fat}, {"long", fat}}), "");
  EXPECT_EQ(message("improved_staggered", {{"fat", fat}}),
            "action improved-staggered needs a field long (matrices), which was not given; give --field long=FILE");
  EXPECT_EQ(message("improved_staggered", {{"fat", fat}, {"long", field("scalars", gauge_)}}),
            "field long of action improved-staggered is matrices; it was given scalars");
  EXPECT_EQ(message("improved_staggered", {{"fat", fat}, {"long", other}}),
            "field long is 4x4x4x8, the links are 4x4x4x4; they must be equal");
  EXPECT_EQ(message("improved_staggered", {{"fat", fat}, {"long", fat}, {"thin", fat}}),
            "action improved-staggered has no field thin; it takes fat (matrices), long (matrices)");
  EXPECT_EQ(message("wilson", {{"fat", fat}}), "action wilson has no field fat; it takes none besides the links");
  EXPECT_NE(message("improved_staggered", {{"fat", fat}, {"long", fat}}, "r12t").find("temporal gauge"),
            std::string::npos);
}

TEST_F(Given, FieldsStandSiteBySite) {
  const Lattice& lattice = gauge_.lattice;
  const std::map<std::string, std::vector<int>> kinds = {
      {"scalars", {}}, {"phases", {4}}, {"links", {4, 3, 3}}, {"matrices", {4, 3, 3}}, {"spinor", {4, 3}}};
  for (const auto& [kind, extents] : kinds) {
    EXPECT_EQ(extents_of(kind), extents);
    std::size_t count = 1;
    for (const int n : extents) count *= std::size_t(n);
    std::vector<Complex64> numbers;
    for (std::size_t n = 0; n < count * std::size_t(lattice.sites()); ++n)
      numbers.push_back(kind == "phases" ? std::polar(1.0, 0.1 * double(n)) : Complex64(double(n), -0.5));
    const GivenField f = given_field(kind, lattice, numbers);
    EXPECT_EQ(f.kind, kind);
    EXPECT_EQ(f.spinor.has_value(), kind == "spinor");
    for (std::size_t x = 0; x < std::size_t(lattice.sites()); ++x)
      for (std::size_t n = 0; n < count; ++n) {
        const Complex64 found = kind == "spinor"    ? f.spinor->site[x][n]
                                : kind == "scalars" ? f.links.host().link((long long)x, 0)[0]
                                : kind == "phases"  ? f.links.host().link((long long)x, int(n))[0]
                                                    : f.links.host().link((long long)x, int(n / 9))[n % 9];
        ASSERT_LT(std::abs(found - numbers[x * count + n]), 1e-15) << kind << x;
      }
  }
  EXPECT_THROW(given_field("tensors", lattice, {}), UsageError);
  EXPECT_THROW(given_field("phases", lattice, std::vector<Complex64>(4 * 256, 1.1)), UsageError);
}

TEST_F(Given, FilesHoldTheirFields) {
  const Lattice lattice({2, 4, 2, 6}), other({4, 2, 2, 6});
  const std::string path = (std::filesystem::temp_directory_path() / "quarksmith_fields.h5").string();
  const HostGauge gauge = hot_gauge(lattice, 3);
  std::vector<Complex64> matrices;
  std::vector<double> scalars;
  for (const auto& site : gauge.site) {
    for (const Matrix3& u : site) matrices.insert(matrices.end(), u.begin(), u.end());
    scalars.push_back(site[0][0].real());
  }
  {
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, path),
        complex = hdf5::complex_type();
    const auto write = [&](const char* name, hid_t type, const hdf5::Extent& extent, const void* numbers) {
      hdf5::create_dataset(file, name, type, extent, {}, false);
      const hdf5::Handle set(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, name);
      hdf5::check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers), name);
    };
    write("u", complex, {6, 2, 4, 2, 4, 3, 3}, matrices.data());
    write("b", H5T_NATIVE_DOUBLE, {6, 2, 4, 2}, scalars.data());
  }
  EXPECT_EQ(read_field(path, "u", "matrices", lattice).links.host().site, gauge.site);
  const GivenField b = read_field(path, "b", "scalars", lattice);
  for (std::size_t x = 0; x < scalars.size(); ++x) EXPECT_EQ(b.links.host().link((long long)x, 0)[0], scalars[x]);
  EXPECT_THROW(read_field(path, "u", "matrices", other), Error);
  EXPECT_THROW(read_field(path, "u", "spinor", lattice), Error);
  EXPECT_THROW(read_field(path, "v", "matrices", lattice), Error);
  EXPECT_THROW(read_field(path + ".none", "u", "matrices", lattice), Error);
  EXPECT_THROW(read_field(path, "u", "tensors", lattice), UsageError);
  std::filesystem::remove(path);
}

}  // namespace
