// Every emitted vector update and conversion. Updates are compared with an interpreter of the formula in the registry,
// in plain complex double.
#include <fmt/format.h>

#include <map>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/scalars.hpp"
#include "tests/formula.hpp"
#include "tests/site_terms.hpp"

namespace {

using namespace quarksmith;

const std::string letters[] = {"x", "y", "z", "w", "u", "v"};

/// A kernel with everything it works on, for several right-hand sides.
class Bench {
 public:
  static constexpr int places = most_slots + 2, stride = 2 * places;  // of the scalars

  Bench(const support::KernelCase& c, const DomainPointer& domain, Subset subset, int rhs)
      : device(c.device), kernel(*c.kernel), subset(subset), environment(rhs) {
    const BasisInfo& basis = find_basis("degrand_rossi");
    const Lattice& lattice = domain->lattice();
    for (std::size_t n = 0; n < std::size(letters); ++n) {
      const PrecisionInfo& precision = find_precision(kernel.precision);
      field.emplace_back(domain, letters[n] == "v" ? computed_in(precision) : precision, subset, rhs, kernel.spins);
      for (int r = 0; r < rhs; ++r) {
        upload(reference::random_spinor(lattice, 100 + unsigned(n) + 10 * unsigned(r)), field.back(), basis, r);
        HostSpinor stored(lattice);
        download(field.back(), stored, basis, r);  // what the storage kept
        environment[r].field.emplace(letters[n], stored);
      }
    }
    const double im = kernel.complex_scalars ? 1 : 0;
    const std::map<std::string, Complex64> given = {
        {"a", {0.7, 0.4 * im}}, {"b", {-1.2, 0.3 * im}}, {"c", {0.1, -0.9 * im}}};
    arguments = arguments_for(*domain, field[0].lanes(), rhs);
    arguments.count = field[0].count();
    Operand* operands[] = {&arguments.x, &arguments.y, &arguments.z, &arguments.w, &arguments.in, &arguments.out};
    for (std::size_t n = 0; n < std::size(letters); ++n) *operands[n] = field[n].operand();
    arguments.a = {given.at("a").real(), given.at("a").imag()};
    arguments.b = {given.at("b").real(), given.at("b").imag()};
    for (formula::Environment& e : environment) e.scalar = given;
    set_slots(im);
  }

  /// Every right-hand side has its own numbers, in an order of places that is not that of the kernel.
  void set_slots(double im) {
    if (kernel.slots.empty()) return;
    std::istringstream words{std::string(kernel.slots)};
    scalars.assign(environment.size() * stride, 0.0);
    int n = 0;
    for (std::string name; words >> name; ++n) {
      const int place = name == "active" ? active_slot : places - 1 - n;
      arguments.slot[n] = static_cast<unsigned char>(place);
      place_of[name] = place;
      for (std::size_t r = 0; r < environment.size(); ++r)
        set(r, name, {0.5 + 0.05 * n + 0.2 * double(r), im * (0.3 - 0.04 * n)});
    }
    place_of["active"] = active_slot;
    for (std::size_t r = 0; r < environment.size(); ++r) set(r, "active", r == 1 ? 0 : 1);
    memory = Memory(device, scalars.size() * sizeof(double));
    arguments.scalars = static_cast<double*>(memory.data());
    arguments.scalar_stride = stride;
    arguments.mask = active_slot;
  }
  void set(std::size_t r, const std::string& name, Complex64 value) {
    environment[r].scalar[name] = value;
    scalars[r * stride + 2 * place_of[name]] = value.real();
    scalars[r * stride + 2 * place_of[name] + 1] = value.imag();
  }
  /// Runs the kernel; scalars and sums are what it has left.
  void run() {
    if (!scalars.empty()) device->upload(memory.data(), scalars.data(), memory.bytes());
    if (kernel.sums > 0 && kernel.scalar_program.empty()) {
      sums = device->reduce(kernel, arguments);
    } else {
      device->run(kernel, arguments);
    }
    if (!scalars.empty()) device->download(scalars.data(), memory.data(), memory.bytes());
  }
  Complex64 slot(std::size_t r, int place) const {
    return {scalars[r * stride + 2 * place], scalars[r * stride + 2 * place + 1]};
  }

  std::shared_ptr<Device> device;
  const Kernel& kernel;
  Subset subset;
  std::vector<SpinorField> field;
  std::vector<formula::Environment> environment;  // by right-hand side
  std::map<std::string, int> place_of;
  std::vector<double> scalars, sums;
  Memory memory;
  Arguments arguments;
};

class VectorUpdate : public testing::TestWithParam<support::KernelCase> {};

/// Largest difference between a field and its reference; the parts of the format of a kernel.
void expect_fields(const Bench& bench, const Lattice& lattice, std::size_t r) {
  const support::Deviation limit = support::tolerance(bench.kernel.precision, "");
  for (std::size_t n = 0; n < std::size(letters); ++n) {
    HostSpinor result(lattice);
    download(bench.field[n], result, find_basis("degrand_rossi"), int(r));
    const support::Deviation d = support::compare(result, bench.environment[r].field.at(letters[n]), bench.subset);
    EXPECT_LE(d.norm, limit.norm) << letters[n] << " " << lattice.text() << " right-hand side " << r;
    EXPECT_LE(d.largest, limit.largest) << letters[n] << " " << lattice.text() << " right-hand side " << r;
  }
}

TEST_P(VectorUpdate, AgreesWithItsFormula) {
  const Kernel& kernel = *GetParam().kernel;
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{6, 2, 2, 10}})
    for (const Subset subset : {Subset::odd, Subset::full}) {
      const Lattice lattice(extent);
      Bench bench(GetParam(), std::make_shared<Domain>(lattice, GetParam().device), subset,
                  kernel.slots.empty() ? 1 : 3);
      bench.run();
      for (std::size_t r = 0; r < bench.environment.size(); ++r) {
        formula::Environment& e = bench.environment[r];
        if (kernel.slots.empty() || r != 1) {  // that one is inactive: nothing of it changes
          formula::run(std::string(kernel.formula), e);
          formula::run(std::string(kernel.scalar_program), e);
        }
        expect_fields(bench, lattice, r);
        const double accuracy = kernel.precision == "double" ? 1e-11 : 1e-3;
        for (const auto& [name, place] : bench.place_of) {
          const Complex64 expected = e.scalar.at(name);
          EXPECT_LE(std::abs(bench.slot(r, place) - expected), accuracy * std::max(1e-2, std::abs(expected)))
              << name << " " << bench.slot(r, place) << " " << expected << " right-hand side " << r;
        }
        if (!kernel.slots.empty()) {
          EXPECT_EQ(bench.slot(r, status_slot), 0.0);
        }
      }
      if (kernel.sums == 0 || !kernel.scalar_program.empty()) continue;
      const formula::Environment& e = bench.environment[0];
      ASSERT_EQ(bench.sums.size(), e.sums.size());
      const double size = 24.0 * lattice.sites();
      for (std::size_t n = 0; n < e.sums.size(); ++n)
        EXPECT_NEAR(bench.sums[n], e.sums[n], 2 * support::tolerance(kernel.precision, "").norm * size) << n;
    }
}

class Reduction : public testing::TestWithParam<support::KernelCase> {};

TEST_P(Reduction, GivesTheSameBitsAgain) {
  const Lattice lattice({8, 8, 8, 8});
  const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
  std::vector<double> first;
  Bench bench(GetParam(), domain, Subset::full, 1);
  const std::vector<double> scalars = bench.scalars;
  std::vector<SpinorField> kept;
  for (const SpinorField& f : bench.field) {
    kept.push_back(f.like());
    kept.back().copy_from(f);
  }
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (std::size_t n = 0; n < kept.size(); ++n) bench.field[n].copy_from(kept[n]);
    bench.scalars = scalars;
    bench.run();
    const std::vector<double>& result = bench.sums.empty() ? bench.scalars : bench.sums;
    if (repeat == 0) first = result;
    EXPECT_EQ(result, first);
  }
}

class ScalarProgram : public testing::TestWithParam<support::KernelCase> {};

/// A sum that vanishes, or that is not a number, deactivates a right-hand side and is recorded; the others go on.
TEST_P(ScalarProgram, RecordsWhatWentWrong) {
  const auto& kernel = *GetParam().kernel;
  const bool divides = kernel.scalar_program.find('/') != std::string_view::npos;
  const Lattice lattice({4, 4, 4, 4});
  const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
  for (const bool vanish : {true, false}) {
    Bench bench(GetParam(), domain, Subset::full, 3);
    for (std::size_t r = 0; r < 3; ++r) bench.set(r, "active", 1);
    const PrecisionInfo& format = find_precision(kernel.precision);
    if (!vanish && (format.norm || format.bits != 8 * format.word_bytes)) continue;  // integers hold no NaN
    for (SpinorField& f : bench.field) f.columns(1, 1).fill(vanish ? 0 : 255);
    if (vanish)
      for (const auto& [name, place] : bench.place_of)
        if (name != "active") bench.set(1, name, 0);
    bench.run();
    const double expected = double(!vanish ? Status::not_finite : divides ? Status::breakdown : Status::fine);
    EXPECT_EQ(bench.slot(1, status_slot), expected);
    if (expected != 0) {
      EXPECT_EQ(bench.slot(1, active_slot), 0.0);
    }
    for (const std::size_t r : {0, 2}) EXPECT_EQ(bench.slot(r, status_slot), 0.0) << r;
    for (const auto& [name, place] : bench.place_of)
      EXPECT_TRUE(!vanish || std::isfinite(std::abs(bench.slot(1, place)))) << name;
  }
}

FOR_KERNELS(ScalarProgram, k.family == "update" && !k.scalar_program.empty());
FOR_KERNELS(VectorUpdate, k.family == "update");
FOR_KERNELS(Reduction, k.family == "update" && k.sums > 0);

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

/// (m - m^+)/2 without its trace.
void to_algebra(std::span<Complex64> m, int n) {
  const std::vector<Complex64> given(m.begin(), m.end());
  Complex64 mean = 0;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) {
      m[n * r + c] = (given[n * r + c] - std::conj(given[n * c + r])) / 2.0;
      if (r == c) mean += m[n * r + c] / double(n);
    }
  for (int r = 0; r < n; ++r) m[n * r + r] -= mean;
}

void check_links(const DomainPointer& domain, const PrecisionInfo& precision, const StorageInfo& storage) {
  const Lattice& lattice = domain->lattice();
  const int colours = storage.colours;
  HostGauge original = colours == 3 ? hot_gauge(lattice, 3) : weak_gauge(lattice, 1, 3, colours);
  const Matrix3 cyclic = {0, 0, 1, 1, 0, 0, 0, 1, 0}, swap = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  if (colours == 3) original.site[0] = {unit_gauge(lattice).site[0][0], cyclic, swap, cyclic};
  if (storage.temporal) original = fix_temporal_gauge(original).gauge;
  if (storage.group.starts_with("su("))
    for (long long x = 0; x < lattice.sites(); ++x)
      for (int mu = 0; mu < directions; ++mu) to_algebra(original.link(x, mu), colours);
  const HostGauge result = download(upload(original, domain, precision, storage));
  const double rounding = precision.bits == 64   ? 5e-15
                          : precision.bits == 32 ? 5e-7
                          : precision.bits == 16 ? 2e-4
                                                 : 0.05;
  // 8 reals hold a phase and two moduli as square roots: near the ends of their range rounding becomes its root.
  const double limit = storage.exact ? rounding : 10 * std::sqrt(rounding);
  double largest = 0, mean = 0;
  const std::size_t each = original.site.each();
  for (std::size_t x = 0; x < original.site.size(); ++x)
    for (std::size_t n = 0; n < each; ++n) {
      const double d = std::abs(result.site.at(x)[n] - original.site.at(x)[n]);
      if (!(d <= largest)) largest = d;
      mean += d / double(each * original.site.size());
    }
  EXPECT_LE(largest, limit) << lattice.text();
  EXPECT_LE(mean, storage.exact ? rounding : 20 * rounding) << lattice.text();
}

void check_term(const DomainPointer& domain, const PrecisionInfo& precision) {
  const StoredTerm clover = support::clover_term(hot_gauge(domain->lattice(), 3), domain, 1.1, 0.7, 4.2);
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

FOR_KERNELS(Conversion, k.family == "convert");

}  // namespace
