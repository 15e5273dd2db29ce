// Every emitted nearest-neighbour kernel against the dense reference, on every device.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::Coefficients;
using reference::HopMatrices;
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

/// Dense matrices in the DeGrand-Rossi basis: for Wilson from the reference's own gammas, for other operators from the
/// definition that the generator states, rotated from the basis of the kernel.
HopMatrices dense_hops(const Kernel& kernel) {
  if (kernel.operation == "wilson") return reference::wilson_hops(kernel.dagger);
  HopMatrices hops{};
  for (const OperatorInfo& info : operators()) {
    if (info.name != kernel.operation || info.basis != kernel.basis) continue;
    const SpinMatrix v =
        kernel.basis.empty() ? reference::identity() : spin_matrix(find_basis(kernel.basis).rotation, 4);
    for (const HopInfo& hop : info.hops) {
      const SpinMatrix m = reference::adjoint(v) * spin_matrix(hop.matrix, info.spins) * v;
      const bool forward = hop.sign > 0;
      hops[hop.mu][forward != kernel.dagger ? 0 : 1] = kernel.dagger ? reference::adjoint(m) : m;
    }
    return hops;
  }
  throw Error(fmt::format("no definition of operator {}", kernel.operation));
}

struct Case {
  std::shared_ptr<Device> device;
  const Kernel* kernel;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.device->name() << " " << c.kernel->name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& device : support::devices())
    for (const Kernel& kernel : device->kernels())
      if (kernel.family == "hopping") all.push_back({device, &kernel});
  return all;
}

class Hopping : public testing::TestWithParam<Case> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }

  /// Compares one application on both parities; every right-hand side is different.
  void check(const Lattice& lattice, const HostGauge& gauge, const Coefficients& c) {
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const PrecisionInfo& precision = find_precision(kernel().precision);
    const BasisInfo& basis = find_basis(kernel().basis.empty() ? "degrand_rossi" : kernel().basis);
    const LinkField links = upload(gauge, domain, precision, find_storage(kernel().links));
    const HostGauge stored_links = download(links);
    const HopMatrices hops = dense_hops(kernel());
    const int rhs = 2 * kernel().tile;
    SpinorField in(domain, precision, Subset::full, rhs), x = in.like(), out = in.like();
    for (int r = 0; r < rhs; ++r) {
      upload(reference::random_spinor(lattice, 7 + r), in, basis, r);
      upload(reference::random_spinor(lattice, 77 + r), x, basis, r);
    }
    out.fill(0xff);
    const double a = kernel().epilogue == "none" ? 0 : 0.75, b = kernel().epilogue == "none" ? 1 : -0.3;
    for (const Parity parity : {Parity::even, Parity::odd}) apply(domain, links, in, x, out, parity, a, b, c);
    const support::Deviation limit = support::tolerance(kernel().precision, kernel().links);
    for (int r = 0; r < rhs; ++r) {
      HostSpinor stored(lattice), stored_x(lattice), result(lattice);
      download(in, stored, basis, r);
      download(x, stored_x, basis, r);
      download(out, result, basis, r);
      const HostSpinor expected = reference::combine(a, stored_x, b, reference::hopping(stored_links, stored, hops, c));
      const support::Deviation d = support::compare(result, expected);
      EXPECT_LE(d.norm, limit.norm) << lattice.text() << " right-hand side " << r;
      EXPECT_LE(d.largest, limit.largest) << lattice.text() << " right-hand side " << r;
    }
  }

 private:
  void apply(const DomainPointer& domain, const LinkField& links, const SpinorField& in, const SpinorField& x,
             SpinorField& out, Parity parity, double alpha, double beta, const Coefficients& c) {
    Arguments a = arguments_for(*domain, out.lanes(), out.rhs());
    a.parity = int(parity);
    a.out = out.operand(parity);
    a.in = in.operand(opposite(parity));
    a.x = x.operand(parity);
    a.links = links.operand();
    a.a.re = alpha;
    a.b.re = beta;
    for (int mu = 0; mu < directions; ++mu) {
      a.hops.bulk[mu] = c.bulk[mu];
      a.hops.edge_re[mu] = (c.bulk[mu] * c.phase[mu]).real();
      a.hops.edge_im[mu] = (c.bulk[mu] * c.phase[mu]).imag();
    }
    out.device().run(kernel(), a);
  }
};

/// Lattices with all lanes, with lanes along one direction only, and with one lane.
const Coordinates test_lattices[] = {{4, 4, 4, 8}, {2, 6, 2, 64}, {6, 4, 2, 10}};

TEST_P(Hopping, AgreesWithDenseReference) {
  Coefficients c;
  c.phase = {1, 1, 1, -1};
  for (const Coordinates& extent : test_lattices) {
    const Lattice lattice(extent);
    check(lattice, hot_gauge(lattice, 11), c);
  }
}

TEST_P(Hopping, TakesAnisotropyAndPhases) {
  const Lattice lattice({8, 4, 4, 4});
  Coefficients c;
  c.bulk = {0.4, 0.4, 0.4, 1.25};
  c.phase = {-1, 1, -1, -1};
  if (kernel().complex_coefficients) c.phase = {std::polar(1.0, 0.6), 1, std::polar(1.0, -2.0), -1};
  check(lattice, hot_gauge(lattice, 12), c);
}

TEST_P(Hopping, TakesRegularAndSingularLinks) {
  const Lattice lattice({4, 4, 4, 4});
  HostGauge gauge = unit_gauge(lattice);
  // Permutation matrices with determinant 1: points where 8 reals lose a coordinate.
  const Matrix3 cyclic = {0, 0, 1, 1, 0, 0, 0, 1, 0}, swap = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  for (long long x = 0; x < lattice.sites(); x += 3) gauge.site[x][x % 4] = x % 2 == 0 ? cyclic : swap;
  check(lattice, gauge, {});
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hopping, testing::ValuesIn(cases()), [](const auto& info) {
  return support::test_name(fmt::format("{}_{}", info.param.device->name(), info.param.kernel->name));
});

}  // namespace
