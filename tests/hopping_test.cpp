// Every emitted hopping kernel against the dense reference, on every device.
#include <fmt/format.h>

#include <map>

#include "runtime/action_info.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "tests/reference/operators.hpp"
#include "tests/site_terms.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::Coefficients;
using reference::SpinMatrix;
using reference::operator*;

SpinMatrix spin_matrix(const double* numbers, int spins) {
  SpinMatrix m{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const int n = 2 * (spins * r + s);
      if (r < spins && s < spins) m[r][s] = {numbers[n], numbers[n + 1]};
    }
  return m;
}

/// What backward hops carry besides forward ones, for operators that tell them apart.
constexpr std::array<double, directions> back_weight = {1.3, 0.7, -0.4, 0.6};

/// Drawn once: all kernels have the same.
const HostGauge& hot_links(const Coordinates& extent, std::uint64_t seed) {
  static std::map<std::pair<Coordinates, std::uint64_t>, HostGauge> drawn;
  const std::pair key(extent, seed);
  if (!drawn.contains(key)) drawn.emplace(key, hot_gauge(Lattice(extent), seed));
  return drawn.at(key);
}

/// General matrices, some larger than 1, as sums over paths are.
HostGauge fat_gauge(const HostGauge& gauge) {
  HostGauge fat = hot_links(gauge.lattice.extent(), 19);
  for (std::size_t x = 0; x < fat.site.size(); ++x)
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n) fat.site[x][mu][n] = 1.5 * gauge.site[x][mu][n] - 0.25 * fat.site[x][mu][n];
  return fat;
}

/// A negative number times unitary matrices of many determinants.
HostGauge long_gauge(const HostGauge& gauge) {
  HostGauge l = gauge;
  for (std::size_t x = 0; x < l.site.size(); ++x)
    for (int mu = 0; mu < directions; ++mu)
      for (Complex64& z : l.site[x][mu]) z *= -0.17 * std::polar(1.0, 0.37 * double((5 * x + std::size_t(mu)) % 17));
  return l;
}

/// An operator of the user's own, of which the tests have no statement: as the generator understood that of its action,
/// rotated from the basis of the kernel.
reference::Hops hops_of_user(const Kernel& kernel) {
  for (const OperatorInfo& info : operators()) {
    if (info.name != kernel.operation || info.basis != kernel.basis) continue;
    const SpinMatrix v =
        kernel.basis.empty() ? reference::identity() : spin_matrix(find_basis(kernel.basis).rotation, 4);
    reference::Hops hops;
    for (const HopInfo& hop : info.hops) {
      hops.matrix[hop.mu][hop.sign > 0 ? 0 : 1] = reference::adjoint(v) * spin_matrix(hop.matrix, info.spins) * v;
      hops.masks[hop.mu] = hop.phase;
    }
    for (const ActionInfo& a : actions())
      if (a.hopping == kernel.operation) hops.directed = a.directed;
    return hops;
  }
  throw Error(fmt::format("no definition of operator {}", kernel.operation));
}

/// What a kernel applies, densely in the DeGrand-Rossi basis.
reference::Hops hops_of(const Kernel& kernel) {
  const auto stated = reference::hops_of(kernel.operation);
  reference::Hops hops = stated ? *stated : hops_of_user(kernel);
  if (kernel.dagger) hops = reference::conjugate(hops);
  for (int mu = 0; mu < directions; ++mu)
    if ((hops.directed >> mu & 1) != 0) hops.matrix[mu][1] = Complex64(back_weight[mu]) * hops.matrix[mu][1];
  return hops;
}

class Hopping : public testing::TestWithParam<support::KernelCase> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }

  /// Compares applications to one and to several right-hand sides, for which GPUs have code of their own.
  void check(const Lattice& lattice, const HostGauge& gauge, const Coefficients& c) {
    if (GetParam().device->short_vectors()) check(lattice, gauge, c, kernel().tile);
    check(lattice, gauge, c, 3 * kernel().tile);
  }

  /// Compares one application on both parities; every right-hand side is different.
  void check(const Lattice& lattice, const HostGauge& any_gauge, const Coefficients& c, int rhs) {
    const Kernel& k = kernel();
    const StorageInfo& storage = find_storage(k.links);
    const HostGauge gauge = storage.temporal ? fix_temporal_gauge(any_gauge).gauge : any_gauge;
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device, Communicator::self(), k.reach);
    const PrecisionInfo& precision = find_precision(k.precision);
    const BasisInfo& basis = find_basis(k.basis.empty() ? "degrand_rossi" : k.basis);
    const PrecisionInfo& link_precision = find_precision(precision.links);
    const bool two = k.reach > 1;
    const LinkField links = two ? upload_scaled(fat_gauge(gauge), domain, link_precision, find_storage("r18"))
                                : upload(gauge, domain, link_precision, storage);
    std::optional<LinkField> long_links;
    if (two) long_links = upload_scaled(long_gauge(gauge), domain, link_precision, storage, k.reach);
    const HostGauge stored_links = download(links), stored_long = two ? download(*long_links) : HostGauge(lattice);
    const reference::Hops hops = hops_of(k);
    const support::TestTerm term(k, gauge, domain);
    SpinorField in(domain, precision, Subset::full, rhs, k.spins), x = in.like(), out = in.like();
    for (int r = 0; r < rhs; ++r) {
      upload(reference::random_spinor(lattice, 7 + r), in, basis, r);
      upload(reference::random_spinor(lattice, 77 + r), x, basis, r);
    }
    out.fill(0xff);
    const double a = k.epilogue == "taxpby" ? 1 : 0.75, b = k.epilogue == "none" ? 1 : -0.3;
    const LinkField* three = long_links ? &*long_links : nullptr;
    for (const Parity parity : {Parity::even, Parity::odd}) apply(links, three, term, in, x, out, parity, a, b, c);
    for (int r = 0; r < rhs; r += term.flavours()) {
      std::vector<HostSpinor> d, stored_x, result(term.flavours(), HostSpinor(lattice));
      for (int f = 0; f < term.flavours(); ++f) {
        HostSpinor stored(lattice);
        download(in, stored, basis, r + f);
        d.push_back(reference::hopping(stored_links, stored, hops.matrix, c, hops.masks));
        if (two)
          d.back() = reference::combine(1, d.back(), 1,
                                        reference::hopping(stored_long, stored, hops.matrix, c, hops.masks, k.reach));
        stored_x.emplace_back(lattice);
        download(x, stored_x[f], basis, r + f);
        download(out, result[f], basis, r + f);
      }
      if (term.applies()) (term.inverse() ? d : stored_x) = term.multiply(term.inverse() ? d : stored_x);
      for (int f = 0; f < term.flavours(); ++f) judge(result[f], a, stored_x[f], b, d[f], r + f);
    }
  }

 private:
  /// Against a x + b d, or b d alone.
  void judge(const HostSpinor& result, double a, const HostSpinor& x, double b, const HostSpinor& d, int rhs) const {
    const bool reads_x = kernel().epilogue != "none" && kernel().epilogue != "tinv";
    const support::Deviation deviation = support::compare(result, reference::combine(reads_x ? a : 0, x, b, d)),
                             limit = support::tolerance(kernel().precision, kernel().links);
    EXPECT_LE(deviation.norm, limit.norm) << result.lattice.text() << " right-hand side " << rhs;
    EXPECT_LE(deviation.largest, limit.largest) << result.lattice.text() << " right-hand side " << rhs;
  }

  void apply(const LinkField& links, const LinkField* long_links, const support::TestTerm& term, const SpinorField& in,
             const SpinorField& x, SpinorField& out, Parity parity, double alpha, double beta, const Coefficients& c) {
    Arguments a = arguments_for(out.domain(), out.lanes(), out.rhs());
    a.parity = int(parity);
    a.out = out.operand(parity);
    a.in = in.operand(opposite(parity));
    a.x = x.operand(parity);
    a.links = links.operand();
    a.a.re = alpha;
    a.b.re = beta;
    term.set(a);
    const auto hops_for = [&](const LinkField& field) {
      std::array<double, directions> bulk = c.bulk;
      for (double& b : bulk) b *= field.scale();
      return hops_of(out.domain().lattice(), bulk, c.phase);
    };
    a.hops = hops_for(links);
    for (int mu = 0; mu < directions; ++mu) a.long_hops.bulk[mu] = back_weight[mu];
    if (long_links != nullptr) {
      a.long_links = long_links->operand();
      a.long_hops = hops_for(*long_links);
    }
    out.device().run(kernel(), a);
  }
};

/// Lattices with all lanes, with lanes along one direction only, and with one lane.
const Coordinates test_lattices[] = {{4, 4, 4, 8}, {2, 6, 2, 64}, {6, 4, 2, 10}};
/// The same for hops over three sites.
const Coordinates longer_lattices[] = {{8, 8, 8, 8}, {4, 6, 4, 64}, {6, 4, 4, 10}};

TEST_P(Hopping, AgreesWithDenseReference) {
  Coefficients c;
  c.phase = {1, 1, 1, -1};
  for (const Coordinates& extent : kernel().reach > 1 ? longer_lattices : test_lattices) {
    const Lattice lattice(extent);
    check(lattice, hot_links(extent, 11), c);
  }
}

TEST_P(Hopping, TakesAnisotropyAndPhases) {
  const Lattice lattice({8, 4, 4, 4});
  Coefficients c;
  c.bulk = {0.4, 0.4, 0.4, 1.25};
  c.phase = {-1, 1, -1, -1};
  if (kernel().complex_coefficients) c.phase = {std::polar(1.0, 0.6), 1, std::polar(1.0, -2.0), -1};
  check(lattice, hot_links(lattice.extent(), 12), c);
}

TEST_P(Hopping, TakesRegularAndSingularLinks) {
  const Lattice lattice({4, 4, 4, 4});
  HostGauge gauge = unit_gauge(lattice);
  // Permutation matrices with determinant 1: points where 8 reals lose a coordinate.
  const Matrix3 cyclic = {0, 0, 1, 1, 0, 0, 0, 1, 0}, swap = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  for (long long x = 0; x < lattice.sites(); x += 3) gauge.site[x][x % 4] = x % 2 == 0 ? cyclic : swap;
  check(lattice, gauge, {});
}

FOR_KERNELS(Hopping, k.family == "hopping");

}  // namespace
