// Lattice expressions against an interpreter of their formulas.
#include "runtime/fields/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

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

/// Fields and numbers of a call, and the same for the interpreter.
struct Operands {
  const Kernel& kernel;
  DomainPointer domain;
  int rhs;
  std::map<std::string, char> along;  ///< directions by name
  const PrecisionInfo &precision = find_precision(kernel.precision), &links = find_precision(precision.links);
  const BasisInfo& basis = find_basis(kernel.basis.empty() ? "degrand_rossi" : kernel.basis);
  std::vector<ExpressionValues> expected = {};
  std::vector<std::unique_ptr<LinkField>> matrices = {};
  std::vector<std::unique_ptr<SpinorField>> spinors = {};
  std::vector<ExpressionArgument> arguments = {};
  std::vector<ExpressionOutput> outputs = {};

  Operands(const Kernel& k, DomainPointer d, int right_hand_sides, std::map<std::string, char> directions)
      : kernel(k), domain(std::move(d)), rhs(right_hand_sides), along(std::move(directions)) {
    expected.assign(rhs, ExpressionValues(lattice()));
    for (ExpressionValues& e : expected) e.direction = along;
  }
  const Lattice& lattice() const { return domain->lattice(); }

  void add(const ExpressionParameter& p, std::size_t n) {
    const std::string name(p.name);
    if (p.is_number()) {
      const Complex64 number(0.3 + 0.17 * double(n), p.kind == "complex" ? 0.1 : 0);
      for (ExpressionValues& e : expected) e.set(name, number);
      arguments.emplace_back(number);
    } else if (p.is_direction()) {
      arguments.emplace_back(LatticeDirection{int(std::string_view("xyzt").find(along.at(name)))});
    } else if (p.is_gamma()) {
      const GammaProduct gamma{int(5 * n + 3) % 16};
      for (ExpressionValues& e : expected) e.set_gammas(name, gamma.number);
      arguments.emplace_back(gamma);
    } else if (p.is_spinor()) {
      add_spinors(p, n);
    } else {
      add_matrices(p, n);
    }
  }

  void add_spinors(const ExpressionParameter& p, std::size_t n) {
    const std::string name(p.name);
    const int columns = p.is_propagator() ? 3 * kernel.spins : rhs;
    auto& f =
        spinors.emplace_back(std::make_unique<SpinorField>(domain, precision, Subset::full, columns, kernel.spins));
    if (p.is_output()) {
      f->fill(0xff);
      outputs.emplace_back(*f);
      return;
    }
    std::vector<HostSpinor> stored;
    for (int r = 0; r < columns; ++r) upload(reference::random_spinor(lattice(), unsigned(100 * n) + r), *f, basis, r);
    for (int r = 0; r < columns; ++r) download(*f, stored.emplace_back(lattice()), basis, r);
    for (int r = 0; r < rhs; ++r) {
      if (p.is_propagator())
        expected[r].set_propagator(name, stored);
      else
        expected[r].set(name, stored[r], kernel.spins, p.kind == "fermion");
    }
    arguments.emplace_back(*f);
  }

  void add_matrices(const ExpressionParameter& p, std::size_t n) {
    const std::string name(p.name);
    if (p.kind == "scalars") {
      HostGauge numbers(lattice(), 1);
      const HostSpinor drawn = reference::random_spinor(lattice(), unsigned(n));
      for (long long i = 0; i < lattice().sites(); ++i) numbers.link(i, 0)[0] = drawn.site[i][0];
      matrices.push_back(std::make_unique<LinkField>(upload(numbers, domain, links, full_storage(1))));
      for (ExpressionValues& e : expected) e.set_numbers(name, drawn);
    } else {
      const HostGauge u = random_matrices(lattice(), p.kind, int(n) + 3);
      // Outputs are filled with other links, which stay where nothing is written.
      matrices.push_back(std::make_unique<LinkField>(upload(u, domain, links, p.storage(kernel))));
      for (ExpressionValues& e : expected) e.set(name, download(*matrices.back()));
    }
    if (p.is_output())
      outputs.emplace_back(*matrices.back());
    else
      arguments.emplace_back(*matrices.back());
  }
};

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
    Operands o(k, std::make_shared<Domain>(lattice, GetParam().device), rhs, along);
    const auto parameters = parameters_of(k);
    for (std::size_t n = 0; n < parameters.size(); ++n) o.add(parameters[n], n);
    const ExpressionSettings settings{.boundary = {1, std::polar(1.0, 0.7), -1, Complex64(0, 1)}, .basis = k.basis};
    std::vector<ExpressionValues>& expected = o.expected;
    for (ExpressionValues& e : expected) e.boundary = settings.boundary;
    const std::vector<double> sums = evaluate(k.operation, o.arguments, o.outputs, settings);
    reference::run_expression(std::string(k.formula), expected);
    for (int r = 0; r < rhs; ++r) compare(expected[r], parameters, o.outputs, r);
    EXPECT_EQ(sums.size(), expected[0].sums.size());
    const double limit = support::tolerance(find_precision(k.precision).links, "").norm;
    for (std::size_t n = 0; n < std::min(sums.size(), expected[0].sums.size()); ++n)
      EXPECT_NEAR(sums[n], expected[0].sums[n], limit * (double(lattice.sites()) + std::abs(expected[0].sums[n]))) << n;
  }

  void compare(const ExpressionValues& expected, const std::vector<ExpressionParameter>& parameters,
               const std::vector<ExpressionOutput>& outputs, int r) {
    // Chains of products, exponentials and projections round a few times as often as a hop.
    support::Deviation limit = support::tolerance(kernel().precision, kernel().links);
    limit.norm *= 4, limit.largest *= 4;
    std::size_t n = 0;
    for (const ExpressionParameter& p : parameters) {
      if (!p.is_output()) continue;
      const ExpressionOutput& out = outputs.at(n++);
      const std::string name(p.name);
      HostSpinor result(expected.lattice), wanted(expected.lattice);
      if (const SpinorField* f = out.spinors(); f != nullptr && p.is_propagator()) {
        const auto& v = expected.value.at(name);
        for (int column = 0; column < f->rhs(); ++column) {
          download(*f, result, find_basis("degrand_rossi"), column);
          for (long long i = 0; i < expected.lattice.sites(); ++i)
            for (int row = 0; row < f->rhs(); ++row) wanted.site[i][row] = v.at(i, row, column);
          const std::string what = fmt::format("{} column {}", name, column);
          if (wanted.site == HostSpinor(expected.lattice).site)  // there is no relative deviation from nothing
            EXPECT_EQ(result.site, wanted.site) << what;
          else
            support::expect_near(result, wanted, limit, what);
        }
        continue;
      }
      if (const SpinorField* f = out.spinors()) {
        download(*f, result, find_basis(kernel().basis.empty() ? "degrand_rossi" : kernel().basis), r);
        const auto& v = expected.value.at(name);
        for (long long i = 0; i < expected.lattice.sites(); ++i)
          for (int s = 0; s < kernel().spins; ++s)
            for (int c = 0; c < 3; ++c) wanted.site[i][3 * s + c] = v.at(i, c, s);
        support::expect_near(result, wanted, limit, name + " on " + wanted.lattice.text());
        continue;
      }
      const HostGauge u = download(*out.links());
      for (int mu = 0; mu < directions; ++mu) {
        const std::string one = name + "[" + "xyzt"[mu] + "]";
        const auto& v = expected.value.at(one);
        for (long long i = 0; i < expected.lattice.sites(); ++i)
          for (int e = 0; e < 9; ++e) result.site[i][e] = u.site[i][mu][e], wanted.site[i][e] = v.element[9 * i + e];
        support::expect_near(result, wanted, limit, one + " on " + wanted.lattice.text());
      }
    }
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
  const std::string formula(kernel().formula);
  double once = 0, twice = 0;  // each field read once, or at sites of both parities
  for (const ExpressionParameter& p : parameters_of(kernel())) {
    if (!std::regex_search(formula, std::regex("\\b" + std::string(p.name) + "\\b"))) continue;  // derivatives of sums
    const PrecisionInfo &f = find_precision(kernel().precision), &links = find_precision(f.links);
    double bytes = kernel().spins * f.spin_words * f.word_bytes + (f.norm ? 4 : 0);
    if (p.is_propagator()) bytes *= 3 * kernel().spins;
    if (!p.is_field()) bytes = 0;
    if (p.kind == "scalars")
      bytes = 2.0 * links.word_bytes;
    else if (p.is_field() && !p.is_spinor())
      bytes = 4.0 * p.storage(kernel()).reals * links.word_bytes;
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

FOR_KERNELS(Expressions, k.family == "expression");
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Expressions);

class ExpressionCalls : public testing::Test {
 protected:
  static void expect_refusal(std::string_view name, std::initializer_list<ExpressionArgument> inputs,
                             std::initializer_list<ExpressionOutput> outputs, const std::string& text) {
    const std::string message = support::message_of<UsageError>([&] { evaluate(name, inputs, outputs); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
  DomainPointer domain_ = std::make_shared<Domain>(Lattice({4, 4, 4, 4}), Device::cpu());
  const PrecisionInfo& precision_ = find_precision("double");
  HostGauge unit_ = unit_gauge(domain_->lattice());
  LinkField u_ = upload(unit_, domain_, precision_, find_storage("r18"));
  LinkField links_ = upload(unit_, domain_, precision_, find_storage("r18"));
  SpinorField psi_{domain_, precision_, Subset::full}, out_ = psi_.like();
};

TEST_F(ExpressionCalls, AreThoseOfTheStorageOfTheirLinks) {
  const LinkField rows = upload(unit_, domain_, precision_, find_storage("r12"));
  const LinkField numbers = upload(HostGauge(domain_->lattice(), 1), domain_, precision_, full_storage(1));
  const auto row_of = [&](std::string_view name, std::initializer_list<ExpressionArgument> inputs) {
    return support::message_of<MissingKernel>([&] { evaluate(name, inputs, {links_}); });
  };
  setenv("QUARKSMITH_ON_DEMAND", "off", 1);  // as tools/test.sh has it
  // The library has one for r18, as the matrices beside them are stored.
  EXPECT_NE(row_of("force_link", {rows, links_, u_}).find("links = [\"12\"]"), std::string::npos);
  const std::string of_numbers = row_of("force_of_nothing", {numbers, u_});
  EXPECT_NE(of_numbers.find("links = [\"18\"]"), std::string::npos) << of_numbers;
  EXPECT_EQ(of_numbers.find("colours"), std::string::npos) << of_numbers;
}

TEST_F(ExpressionCalls, RefuseFieldsThatDoNotFit) {
  SpinorField half(domain_, precision_, Subset::even);
  expect_refusal("jacobi_step", {u_, half, psi_, 0.1}, {out_}, "psi is a spinor field of 4x4x4x4 in double");
  expect_refusal("jacobi_step", {u_, half, psi_, 0.1}, {out_}, "must hold all sites");
  expect_refusal("jacobi_step", {u_, out_, psi_, 0.1}, {out_}, "out cannot be written into psi");
  expect_refusal("jacobi_step", {u_, psi_, psi_, Complex64(0, 1)}, {out_}, "must be real");
  expect_refusal("axpby", {psi_, psi_, 0.1, psi_}, {out_}, "");
  const std::string row = support::message_of<MissingKernel>(
      [&] { evaluate("force_of_nothing", {u_, psi_, psi_, 0.1}, {out_}, {.basis = "non_relativistic"}); });
  EXPECT_NE(row.find("operator = \"force_of_nothing\"\nprecision = [\"double\"]\nlinks = [\"18\"]\n"
                     "basis = [\"non_relativistic\"]\n"),
            std::string::npos)
      << row;
}

TEST_F(ExpressionCalls, RefuseWrongNumbersAndKindsOfInputsAndOutputs) {
  expect_refusal("jacobi_step", {u_, psi_, psi_}, {out_}, "takes 5 arguments, 4 were given");
  expect_refusal("jacobi_step", {u_, psi_, psi_, 0.1, 0.2}, {out_}, "takes 5 arguments, 6 were given");
  expect_refusal("jacobi_step", {u_, psi_, psi_, 0.1}, {}, "takes 5 arguments, 4 were given");
  expect_refusal("jacobi_step", {u_, psi_, psi_, 0.1}, {out_, out_}, "takes 5 arguments, 6 were given");
  expect_refusal("jacobi_step", {u_, psi_, psi_, 0.1, out_}, {}, "writes 1 fields, 0 were given as outputs");
  expect_refusal("jacobi_step", {u_, psi_, psi_, 0.1}, {links_}, "out is a link field");
  expect_refusal("jacobi_step", {u_, 0.5, psi_, 0.1}, {out_}, "psi is a real number; it must be a field");
  expect_refusal("set_staple", {u_, u_, 0.1, LatticeDirection{0}, LatticeDirection{1}}, {out_},
                 "out is a spinor field");
  expect_refusal("plaquette", {u_}, {links_}, "takes 1 arguments, 2 were given");
}

TEST_F(ExpressionCalls, FindKernelsOfMatricesWhateverTheirStorageIsCalled) {
  const auto kernels = u_.domain().device().kernels();
  const auto kernel = std::ranges::find(kernels, "set_clover", &Kernel::operation);
  ASSERT_NE(kernel, kernels.end());
  KernelQuery query{.operation = "set_clover", .precision = kernel->precision, .links = "r18", .expression = true};
  EXPECT_TRUE(fits(*kernel, query));  // as a build that lacks the kernel asks for it
  query.colours = 2;
  EXPECT_FALSE(fits(*kernel, query));
  query = {.operation = "plaquette", .precision = "double", .links = "r8", .expression = true};
  EXPECT_FALSE(fits(*std::ranges::find(kernels, "plaquette", &Kernel::operation), query));
}

TEST_F(ExpressionCalls, RefuseDirectionsThatDoNotFit) {
  const auto along = [&](ExpressionArgument mu, ExpressionArgument nu) {
    return support::message_of<UsageError>([&] { evaluate("set_staple", {u_, u_, 0.1, mu, nu}, {links_}); });
  };
  EXPECT_NE(along(LatticeDirection{1}, LatticeDirection{1}).find("mu and nu are both direction 1"), std::string::npos);
  EXPECT_NE(along(LatticeDirection{0}, LatticeDirection{4}).find("nu is direction 4; directions are 0 to 3"),
            std::string::npos);
  EXPECT_NE(along(LatticeDirection{-1}, LatticeDirection{2}).find("directions are 0 to 3"), std::string::npos);
  EXPECT_NE(along(0.5, LatticeDirection{2}).find("mu is a real number; it must be a direction"), std::string::npos);
  EXPECT_EQ(along(LatticeDirection{0}, LatticeDirection{2}), "");
  expect_refusal("set_link", {u_, LatticeDirection{0}, LatticeDirection{0}}, {links_}, "it must be a number");
}

}  // namespace
