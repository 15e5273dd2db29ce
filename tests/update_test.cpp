// Every emitted vector update and conversion. Updates are compared with an interpreter of the formula in the registry,
// in plain complex double.
#include <fmt/format.h>

#include <cctype>
#include <map>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "solvers/clover.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Fields and scalars of a formula by name.
struct Environment {
  std::map<char, HostSpinor> field;
  std::map<char, Complex64> scalar;
  std::vector<double> sums;
};

/// expression = term {(+|-) term}; term = factor {* factor}; factor = name | (expression). Evaluated for one component.
class Interpreter {
 public:
  explicit Interpreter(Environment& e) : e_(e) {}

  /// Runs the statements of a formula one after another.
  void run(const std::string& formula) {
    std::string statement;
    for (const char c : formula + ";") {
      if (c == ';')
        execute(std::exchange(statement, ""));
      else if (c != ' ')
        statement += c;
    }
  }

 private:
  void execute(const std::string& s) {
    if (s.starts_with("norm(")) {
      e_.sums.push_back(reference::dot(e_.field.at(s[5]), e_.field.at(s[5])).real());
    } else if (s.starts_with("dot(")) {
      const Complex64 d = reference::dot(e_.field.at(s[4]), e_.field.at(s[6]));
      e_.sums.insert(e_.sums.end(), {d.real(), d.imag()});
    } else {
      ASSERT_EQ(s[1], '=') << s;
      HostSpinor result = e_.field.at(s[0]);
      for (site_ = 0; site_ < result.site.size(); ++site_)
        for (component_ = 0; component_ < 12; ++component_) {
          text_ = s.substr(2);
          at_ = 0;
          result.site[site_][component_] = expression();
          ASSERT_EQ(at_, text_.size()) << s;
        }
      e_.field.at(s[0]) = result;
    }
  }
  Complex64 expression() {
    Complex64 value = term();
    while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      const char sign = text_[at_++];
      const Complex64 next = term();
      value = sign == '+' ? value + next : value - next;
    }
    return value;
  }
  Complex64 term() {
    Complex64 value = factor();
    while (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      value *= factor();
    }
    return value;
  }
  Complex64 factor() {
    const char c = text_[at_++];
    if (c == '(') {
      const Complex64 value = expression();
      ++at_;
      return value;
    }
    if (e_.scalar.contains(c)) return e_.scalar[c];
    return e_.field.at(c).site[site_][component_];
  }

  Environment& e_;
  std::string text_;
  std::size_t at_ = 0, site_ = 0;
  int component_ = 0;
};

class VectorUpdate : public testing::TestWithParam<support::KernelCase> {};

TEST_P(VectorUpdate, AgreesWithItsFormula) {
  const Kernel& kernel = *GetParam().kernel;
  const BasisInfo& basis = find_basis("degrand_rossi");
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{6, 2, 2, 10}})
    for (const Subset subset : {Subset::odd, Subset::full}) {
      const Lattice lattice(extent);
      const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
      Environment e;
      std::map<char, SpinorField> field;
      for (const char name : {'x', 'y', 'z', 'w'}) {
        SpinorField f(domain, find_precision(kernel.precision), subset);
        upload(reference::random_spinor(lattice, 100 + name), f, basis);
        HostSpinor stored(lattice);
        download(f, stored, basis);  // what the storage kept
        e.field.emplace(name, stored);
        field.emplace(name, std::move(f));
      }
      const double im = kernel.complex_scalars ? 1 : 0;
      e.scalar = {{'a', {0.7, 0.4 * im}}, {'b', {-1.2, 0.3 * im}}, {'c', {0.1, -0.9 * im}}};
      Arguments a = arguments_for(*domain, field.at('x').lanes());
      a.count = field.at('x').count();
      a.x = field.at('x').operand(), a.y = field.at('y').operand(), a.z = field.at('z').operand(),
      a.w = field.at('w').operand();
      a.a = {e.scalar['a'].real(), e.scalar['a'].imag()};
      a.b = {e.scalar['b'].real(), e.scalar['b'].imag()};
      std::vector<double> sums;
      if (kernel.sums > 0)
        sums = GetParam().device->reduce(kernel, a);
      else
        GetParam().device->run(kernel, a);
      Interpreter(e).run(std::string(kernel.formula));

      const support::Deviation limit = support::tolerance(kernel.precision, "");
      for (const char name : {'x', 'y', 'z', 'w'}) {
        HostSpinor result(lattice);
        download(field.at(name), result, basis);
        const support::Deviation d = support::compare(result, e.field.at(name), subset);
        EXPECT_LE(d.norm, limit.norm) << name << " " << lattice.text();
        EXPECT_LE(d.largest, limit.largest) << name << " " << lattice.text();
      }
      ASSERT_EQ(sums.size(), e.sums.size());
      const double size = 24.0 * lattice.sites();
      for (std::size_t n = 0; n < sums.size(); ++n)
        EXPECT_NEAR(sums[n], e.sums[n], 2 * limit.norm * size) << n << " " << lattice.text();
    }
}

class Reduction : public testing::TestWithParam<support::KernelCase> {};

TEST_P(Reduction, GivesTheSameBitsAgain) {
  const Kernel& kernel = *GetParam().kernel;
  const Lattice lattice({8, 8, 8, 8});
  const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
  SpinorField f(domain, find_precision(kernel.precision), Subset::full), g = f.like(), h = f.like();
  upload(reference::random_spinor(lattice, 1), f, find_basis("degrand_rossi"));
  std::vector<double> first;
  for (int repeat = 0; repeat < 20; ++repeat) {
    g.copy_from(f), h.copy_from(f);
    Arguments a = arguments_for(*domain, f.lanes());
    a.count = f.count();
    a.x = f.operand(), a.y = g.operand(), a.z = f.operand(), a.w = h.operand();
    a.a = {0.5, 0.0};
    const std::vector<double> sums = GetParam().device->reduce(kernel, a);
    if (repeat == 0) first = sums;
    EXPECT_EQ(sums, first);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, VectorUpdate,
                         testing::ValuesIn(support::kernel_cases([](const Kernel& k) { return k.family == "update"; })),
                         support::kernel_case_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Reduction, testing::ValuesIn(support::kernel_cases([](const Kernel& k) {
                           return k.family == "update" && k.sums > 0;
                         })),
                         support::kernel_case_name);

class Conversion : public testing::TestWithParam<support::KernelCase> {};

/// Largest rounding of one real relative to the largest of those that share a scale.
double spinor_rounding(const PrecisionInfo& p) {
  if (p.word_bytes == 8) return 0;
  if (p.norm) return 0.51 / ((1 << (p.bits - 1)) - 1);
  if (p.bits == 32) return 0x1p-24;
  // The shared exponent is that of the largest number: its quantum is at most 2^(2 - bits) of it; float adds its own.
  return 2.1 * std::ldexp(1.0, -p.bits) + (p.element_bytes == 4 ? 0x1p-24 : 0);
}

/// Importing and exporting are each other's inverse up to the rounding of the format; zeros stay zero.
void check_spinors(const DomainPointer& domain, const PrecisionInfo& precision, int spins) {
  const Lattice& lattice = domain->lattice();
  HostSpinor original = reference::random_spinor(lattice, 9), result(lattice);
  original.site[3].fill(0);
  for (Complex64& z : original.site[4]) z *= 1e-20;
  SpinorField f(domain, precision, Subset::full, 1, spins);
  upload(original, f, find_basis("degrand_rossi"));
  download(f, result, find_basis("degrand_rossi"));
  // Numbers that share a scale: a site, or for packed formats a colour vector.
  const int group = precision.norm ? 3 * spins : 3;
  double worst = 0;
  for (std::size_t x = 0; x < original.site.size(); ++x)
    for (int first = 0; first < 3 * spins; first += group) {
      double size = 0;
      for (int k = first; k < first + group; ++k)
        size = std::max({size, std::abs(original.site[x][k].real()), std::abs(original.site[x][k].imag())});
      for (int k = first; k < first + group; ++k) {
        const Complex64 d = result.site[x][k] - original.site[x][k];
        const double relative = std::max(std::abs(d.real()), std::abs(d.imag())) / (size + 1e-300);
        if (!(relative <= worst)) worst = relative;
      }
    }
  EXPECT_LE(worst, spinor_rounding(precision)) << lattice.text();
}

void check_links(const DomainPointer& domain, const PrecisionInfo& precision, const StorageInfo& storage) {
  const Lattice& lattice = domain->lattice();
  HostGauge original = hot_gauge(lattice, 3);
  const Matrix3 cyclic = {0, 0, 1, 1, 0, 0, 0, 1, 0}, swap = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  original.site[0] = {unit_gauge(lattice).site[0][0], cyclic, swap, cyclic};
  if (storage.temporal) original = fix_temporal_gauge(original).gauge;
  const HostGauge result = download(upload(original, domain, precision, storage));
  const double rounding = precision.bits == 64   ? 5e-15
                          : precision.bits == 32 ? 5e-7
                          : precision.bits == 16 ? 2e-4
                                                 : 0.05;
  // 8 reals hold a phase and two moduli as square roots: near the ends of their range rounding becomes its root.
  const double limit = storage.exact ? rounding : 10 * std::sqrt(rounding);
  double largest = 0, mean = 0;
  for (std::size_t x = 0; x < original.site.size(); ++x)
    for (int mu = 0; mu < 4; ++mu)
      for (int n = 0; n < 9; ++n) {
        const double d = std::abs(result.site[x][mu][n] - original.site[x][mu][n]);
        if (!(d <= largest)) largest = d;
        mean += d / (36.0 * original.site.size());
      }
  EXPECT_LE(largest, limit) << lattice.text();
  EXPECT_LE(mean, storage.exact ? rounding : 20 * rounding) << lattice.text();
}

void check_term(const DomainPointer& domain, const PrecisionInfo& precision) {
  const LinkField links =
      upload(hot_gauge(domain->lattice(), 3), domain, find_precision("double"), find_storage("r18"));
  const CloverTerm clover(links, 1.1, 0.7, 4.2, find_precision("double"));
  const std::vector<HostTerm> original = download(clover.term());
  const std::vector<HostTerm> result = download(decode_term(encode_term(clover.term(), precision)));
  double largest = 0, worst = 0;
  for (std::size_t x = 0; x < original.size(); ++x)
    for (int block = 0; block < 2; ++block)
      for (int n = 0; n < 36; ++n) {
        largest = std::max(largest, std::abs(original[x][block][n]));
        const double d = std::abs(result[x][block][n] - original[x][block][n]);
        if (!(d <= worst)) worst = d;
      }
  // One scale for the whole field: half a step in either part of an element.
  const double step = precision.word_bytes == 8 ? 0
                      : precision.norm          ? 1.0 / ((1 << (precision.bits - 1)) - 1)
                                                : 0x1p-23;
  EXPECT_LE(worst, 0.75 * step * largest) << domain->lattice().text();
}

TEST_P(Conversion, KeepsWhatTheFormatCanHold) {
  const Kernel& kernel = *GetParam().kernel;
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{6, 2, 2, 10}}) {
    const auto domain = std::make_shared<Domain>(Lattice(extent), GetParam().device);
    const PrecisionInfo& precision = find_precision(kernel.precision);
    if (kernel.operation == "import" || kernel.operation == "export") check_spinors(domain, precision, kernel.spins);
    if (!kernel.links.empty()) check_links(domain, precision, find_storage(kernel.links));
    if (kernel.operation == "encode_term" || kernel.operation == "decode_term") check_term(domain, precision);
  }
}

TEST_P(Conversion, ColourRotationIsUndoneByItsConjugate) {
  const Kernel& kernel = *GetParam().kernel;
  if (kernel.operation != "rotate_colour") return;
  const Lattice lattice({4, 4, 4, 8});
  const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
  const std::vector<Matrix3> g = reference::random_gauge_transformation(lattice, 5);
  HostGauge links(lattice);
  for (std::size_t x = 0; x < g.size(); ++x) links.site[x].fill(g[x]);
  const LinkField stored = upload(links, domain, find_precision("double"), find_storage("r18"));
  const HostSpinor psi = reference::random_spinor(lattice, 6);
  SpinorField a(domain, find_precision("double"), Subset::full), b = a.like(), c = a.like();
  upload(psi, a, find_basis("degrand_rossi"));
  const auto rotate = [&](SpinorField& out, const SpinorField& in, bool adjoint) {
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments arguments = arguments_for(*domain, in.lanes());
      arguments.parity = int(parity);
      arguments.direction = adjoint;
      arguments.links = stored.operand();
      arguments.in = in.operand(parity);
      arguments.out = out.operand(parity);
      GetParam().device->run(kernel, arguments);
    }
  };
  HostSpinor result(lattice);
  rotate(b, a, false);
  download(b, result, find_basis("degrand_rossi"));
  EXPECT_LT(support::compare(result, reference::transform(psi, g)).norm, 1e-15);
  rotate(c, b, true);
  download(c, result, find_basis("degrand_rossi"));
  EXPECT_LT(support::compare(result, psi).norm, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Conversion, testing::ValuesIn(support::kernel_cases([](const Kernel& k) {
                           return k.family == "convert";
                         })),
                         support::kernel_case_name);

}  // namespace
