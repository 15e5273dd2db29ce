// Lattice expressions against an interpreter of their formulas.
#include "runtime/fields/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "tests/reference/lattice_expression.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::ExpressionValues;

/// Links of which some are near 1; or anti-Hermitian traceless matrices; or neither.
HostGauge random_matrices(const Lattice& lattice, std::string_view kind, int seed) {
  HostGauge u = weak_gauge(lattice, 0.3, seed);
  const HostGauge other = hot_gauge(lattice, seed + 1);
  for (std::size_t x = 0; x < u.site.size(); ++x)
    for (int mu = 0; mu < directions; ++mu) {
      Matrix3& m = u.site[x][mu];
      if (kind == "links") continue;
      const Matrix3 &v = other.site[x][mu], w = adjoint(v);
      for (int n = 0; n < 9; ++n) m[n] = kind == "algebra" ? 0.2 * (v[n] - w[n]) : m[n] + 0.5 * v[n];
      if (kind != "algebra") continue;
      const Complex64 mean = (m[0] + m[4] + m[8]) / 3.0;
      for (int n = 0; n < 9; n += 4) m[n] -= mean;
    }
  return u;
}

class Expressions : public testing::TestWithParam<support::KernelCase> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }

  void check(const Lattice& lattice, int rhs) {
    int choices = 0;
    for (int number = 0; number < directions * directions * directions * directions; ++number)
      if (const auto along = directions_of(number)) {
        check_along(*along, lattice, rhs);
        ++choices;
      }
    EXPECT_GT(choices, 0);
  }

  /// The directions of a call, taken from the digits of a number; none if they are not different, or the number has
  /// more digits than there are directions.
  std::optional<std::map<std::string, char>> directions_of(int number) const {
    std::map<std::string, char> along;
    for (const ExpressionParameter& p : parameters_of(kernel())) {
      if (!p.is_direction()) continue;
      const char mu = "xyzt"[number % directions];
      number /= directions;
      for (const auto& [name, other] : along)
        if (other == mu) return {};
      along[std::string(p.name)] = mu;
    }
    if (number > 0) return {};
    return along;
  }

  void check_along(const std::map<std::string, char>& along, const Lattice& lattice, int rhs) {
    const Kernel& k = kernel();
    std::string text = "directions";
    for (const auto& [name, mu] : along) text += fmt::format(" {}={}", name, mu);
    SCOPED_TRACE(text);
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const PrecisionInfo &precision = find_precision(k.precision), &links = find_precision(precision.links);
    const BasisInfo& basis = find_basis(k.basis.empty() ? "degrand_rossi" : k.basis);
    std::vector<ExpressionValues> expected(rhs, ExpressionValues(lattice));
    for (ExpressionValues& e : expected) e.direction = along;
    std::vector<std::unique_ptr<LinkField>> matrices;
    std::vector<std::unique_ptr<SpinorField>> spinors;
    std::vector<ExpressionArgument> arguments;
    const auto parameters = parameters_of(k);
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      const ExpressionParameter& p = parameters[n];
      const std::string name(p.name);
      if (p.is_number()) {
        const Complex64 number(0.3 + 0.17 * double(n), p.kind == "complex" ? 0.1 : 0);
        for (ExpressionValues& e : expected) e.set(name, number);
        arguments.emplace_back(number);
      } else if (p.is_direction()) {
        arguments.emplace_back(LatticeDirection{int(std::string_view("xyzt").find(along.at(name)))});
      } else if (p.is_spinor()) {
        spinors.push_back(std::make_unique<SpinorField>(domain, precision, Subset::full, rhs, k.spins));
        if (p.is_output()) spinors.back()->fill(0xff);
        for (int r = 0; r < rhs && !p.is_output(); ++r) {
          upload(reference::random_spinor(lattice, unsigned(100 * n) + r), *spinors.back(), basis, r);
        }
        for (int r = 0; r < rhs && !p.is_output(); ++r) {
          HostSpinor stored(lattice);
          download(*spinors.back(), stored, basis, r);
          expected[r].set(name, stored, k.spins, p.kind == "fermion");
        }
        arguments.emplace_back(*spinors.back());
      } else {
        const StorageInfo& storage = find_storage(p.kind == "links" ? k.links : "r18");
        HostGauge u = random_matrices(lattice, p.kind, int(n) + 3);
        // Outputs are filled with other links, which stay where nothing is written.
        matrices.push_back(std::make_unique<LinkField>(upload(u, domain, links, storage)));
        for (ExpressionValues& e : expected) e.set(name, download(*matrices.back()));
        arguments.emplace_back(*matrices.back());
      }
    }
    const ExpressionSettings settings{.boundary = {1, std::polar(1.0, 0.7), -1, Complex64(0, 1)}, .basis = k.basis};
    for (ExpressionValues& e : expected) e.boundary = settings.boundary;
    const std::vector<double> sums = evaluate(k.operation, arguments, settings);
    reference::run_expression(std::string(k.formula), expected);
    for (int r = 0; r < rhs; ++r) compare(expected[r], parameters, arguments, r);
    EXPECT_EQ(sums.size(), expected[0].sums.size());
    const double limit = support::tolerance(links.name, "").norm;
    for (std::size_t n = 0; n < std::min(sums.size(), expected[0].sums.size()); ++n)
      EXPECT_NEAR(sums[n], expected[0].sums[n], limit * (double(lattice.sites()) + std::abs(expected[0].sums[n]))) << n;
  }

  void compare(const ExpressionValues& expected, const std::vector<ExpressionParameter>& parameters,
               const std::vector<ExpressionArgument>& arguments, int r) {
    // Chains of products, exponentials and projections round a few times as often as a hop.
    support::Deviation limit = support::tolerance(kernel().precision, kernel().links);
    limit.norm *= 4, limit.largest *= 4;
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      if (!parameters[n].is_output()) continue;
      const std::string name(parameters[n].name);
      HostSpinor result(expected.lattice), wanted(expected.lattice);
      if (const SpinorField* f = arguments[n].spinors()) {
        download(*f, result, find_basis(kernel().basis.empty() ? "degrand_rossi" : kernel().basis), r);
        const auto& v = expected.value.at(name);
        for (long long i = 0; i < expected.lattice.sites(); ++i)
          for (int s = 0; s < kernel().spins; ++s)
            for (int c = 0; c < 3; ++c) wanted.site[i][3 * s + c] = v.at(i, c, s);
        expect_near(result, wanted, limit, name);
        continue;
      }
      const HostGauge u = download(*arguments[n].links());
      for (int mu = 0; mu < directions; ++mu) {
        const std::string one = name + "[" + "xyzt"[mu] + "]";
        const auto& v = expected.value.at(one);
        for (long long i = 0; i < expected.lattice.sites(); ++i)
          for (int e = 0; e < 9; ++e) result.site[i][e] = u.site[i][mu][e], wanted.site[i][e] = v.element[9 * i + e];
        expect_near(result, wanted, limit, one);
      }
    }
  }

  void expect_near(const HostSpinor& result, const HostSpinor& wanted, support::Deviation limit,
                   const std::string& what) {
    const support::Deviation d = support::compare(result, wanted);
    EXPECT_LE(d.norm, limit.norm) << what << " on " << wanted.lattice.text();
    EXPECT_LE(d.largest, limit.largest) << what << " on " << wanted.lattice.text();
  }
};

TEST_P(Expressions, AgreeWithTheInterpreter) {
  const auto parameters = parameters_of(kernel());
  const bool links = std::any_of(parameters.begin(), parameters.end(),
                                 [](const ExpressionParameter& p) { return p.is_output() && !p.is_spinor(); });
  const bool summed = kernel().formula.find("summed(") != std::string_view::npos;
  check(Lattice({4, 4, 4, 8}), (kernel().sums > 0 || links) && !summed ? 1 : 2);
  check(Lattice({2, 6, 4, 10}), 1);
}

TEST_P(Expressions, CountTheirBytes) {
  double once = 0, twice = 0;  // each field read once, or at sites of both parities
  for (const ExpressionParameter& p : parameters_of(kernel())) {
    const PrecisionInfo &f = find_precision(kernel().precision), &links = find_precision(f.links);
    double bytes = kernel().spins * f.spin_words * f.word_bytes + (f.norm ? 4 : 0);
    if (!p.is_field()) bytes = 0;
    if (p.is_field() && !p.is_spinor())
      bytes = 4.0 * find_storage(p.kind == "links" ? kernel().links : "r18").reals * links.word_bytes;
    once += bytes;
    twice += p.is_output() ? bytes : 2 * bytes;
  }
  EXPECT_LE(kernel().bytes, twice);
  const auto names = [&](std::string_view direction) {
    return kernel().formula.find(direction) != std::string_view::npos;
  };
  const bool one_direction = names("[mu]") || (names("[x]") && !names("[y]"));
  EXPECT_GE(kernel().bytes, (one_direction ? 0.25 : 0.4) * once);  // directions that are not read are not counted
}

INSTANTIATE_TEST_SUITE_P(Kernels, Expressions, testing::ValuesIn(support::kernel_cases([](const Kernel& k) {
                           return k.family == "expression";
                         })),
                         support::kernel_case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Expressions);

/// The message of the UsageError that something throws.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ExpressionCalls, RefuseFieldsThatDoNotFit) {
  const Lattice lattice({4, 4, 4, 4});
  const auto domain = std::make_shared<Domain>(lattice, Device::cpu());
  const PrecisionInfo& precision = find_precision("double");
  const LinkField u = upload(unit_gauge(lattice), domain, precision, find_storage("r18"));
  SpinorField psi(domain, precision, Subset::full), out = psi.like(), half(domain, precision, Subset::even);
  const auto step = [&](const SpinorField& in, const SpinorField& to) {
    return refusal([&] { evaluate("jacobi_step", {u, in, psi, 0.1, to}); });
  };
  EXPECT_NE(step(half, out).find("psi is a spinor field of 4x4x4x4 in double"), std::string::npos) << step(half, out);
  EXPECT_NE(step(half, out).find("must hold all sites"), std::string::npos);
  EXPECT_NE(step(out, out).find("out cannot be written into psi"), std::string::npos) << step(out, out);
  EXPECT_NE(refusal([&] { evaluate("jacobi_step", {u, psi, psi, out}); }).find("takes 5 arguments"), std::string::npos);
  EXPECT_NE(refusal([&] { evaluate("jacobi_step", {u, psi, psi, Complex64(0, 1), out}); }).find("must be real"),
            std::string::npos);
  EXPECT_NE(refusal([&] { evaluate("axpby", {psi, psi, 0.1, psi, out}); }), "");
  try {
    evaluate("force_of_nothing", {u, psi, psi, 0.1, out}, {.basis = "non_relativistic"});
    FAIL();
  } catch (const MissingKernel& e) {  // with a row that names what an expression has
    EXPECT_NE(std::string(e.what()).find("operator = \"force_of_nothing\"\nprecision = [\"double\"]\nlinks = [\"18\"]\n"
                                         "basis = [\"non_relativistic\"]\n"),
              std::string::npos)
        << e.what();
  }
}

TEST(ExpressionCalls, RefuseDirectionsThatDoNotFit) {
  const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 4}), Device::cpu());
  const HostGauge unit = unit_gauge(domain->lattice());
  const LinkField u = upload(unit, domain, find_precision("double"), find_storage("r18"));
  const LinkField out = upload(unit, domain, find_precision("double"), find_storage("r18"));
  const auto along = [&](ExpressionArgument mu, ExpressionArgument nu) {
    return refusal([&] { evaluate("lepage", {u, u, 0.1, mu, nu, out}); });
  };
  EXPECT_NE(along(LatticeDirection{1}, LatticeDirection{1}).find("mu and nu are both direction 1"), std::string::npos);
  EXPECT_NE(along(LatticeDirection{0}, LatticeDirection{4}).find("nu is direction 4; directions are 0 to 3"),
            std::string::npos);
  EXPECT_NE(along(LatticeDirection{-1}, LatticeDirection{2}).find("directions are 0 to 3"), std::string::npos);
  EXPECT_NE(along(0.5, LatticeDirection{2}).find("mu is a real number; it must be a direction"), std::string::npos);
  EXPECT_EQ(along(LatticeDirection{0}, LatticeDirection{2}), "nothing was refused");
  EXPECT_NE(refusal([&] { evaluate("one_link", {u, LatticeDirection{0}, out}); }).find("it must be a number"),
            std::string::npos);
}

}  // namespace
