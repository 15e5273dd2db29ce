// Every emitted nearest-neighbour kernel against the dense reference, on every device.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "tests/reference/reference.hpp"
#include "tests/site_terms.hpp"
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

/// An operator as the reference needs it.
struct Definition {
  HopMatrices hops{};
  reference::PhaseMasks masks{};
};

/// Dense matrices in the DeGrand-Rossi basis: for Wilson and those with its hops from the reference's own gammas, for
/// other operators from the definition that the generator states, rotated from the basis of the kernel.
Definition define(const Kernel& kernel) {
  Definition d;
  if (kernel.operation == "wilson" || kernel.operation.starts_with("twisted_")) {
    d.hops = reference::wilson_hops(kernel.dagger);
    return d;
  }
  for (const OperatorInfo& info : operators()) {
    if (info.name != kernel.operation || info.basis != kernel.basis) continue;
    const SpinMatrix v =
        kernel.basis.empty() ? reference::identity() : spin_matrix(find_basis(kernel.basis).rotation, 4);
    for (const HopInfo& hop : info.hops) {
      const SpinMatrix m = reference::adjoint(v) * spin_matrix(hop.matrix, info.spins) * v;
      const bool forward = hop.sign > 0;
      d.hops[hop.mu][forward != kernel.dagger ? 0 : 1] = kernel.dagger ? reference::adjoint(m) : m;
      d.masks[hop.mu] = hop.phase;
    }
    return d;
  }
  throw Error(fmt::format("no definition of operator {}", kernel.operation));
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
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const PrecisionInfo& precision = find_precision(k.precision);
    const BasisInfo& basis = find_basis(k.basis.empty() ? "degrand_rossi" : k.basis);
    const LinkField links = upload(gauge, domain, find_precision(precision.links), storage);
    const HostGauge stored_links = download(links);
    const Definition definition = define(k);
    const support::TestTerm term(k, gauge, domain);
    SpinorField in(domain, precision, Subset::full, rhs, k.spins), x = in.like(), out = in.like();
    for (int r = 0; r < rhs; ++r) {
      upload(reference::random_spinor(lattice, 7 + r), in, basis, r);
      upload(reference::random_spinor(lattice, 77 + r), x, basis, r);
    }
    out.fill(0xff);
    const double a = k.epilogue == "taxpby" ? 1 : 0.75, b = k.epilogue == "none" ? 1 : -0.3;
    for (const Parity parity : {Parity::even, Parity::odd}) apply(links, term, in, x, out, parity, a, b, c);
    for (int r = 0; r < rhs; r += term.flavours()) {
      std::vector<HostSpinor> d, stored_x, result(term.flavours(), HostSpinor(lattice));
      for (int f = 0; f < term.flavours(); ++f) {
        HostSpinor stored(lattice);
        download(in, stored, basis, r + f);
        d.push_back(reference::hopping(stored_links, stored, definition.hops, c, definition.masks));
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

  void apply(const LinkField& links, const support::TestTerm& term, const SpinorField& in, const SpinorField& x,
             SpinorField& out, Parity parity, double alpha, double beta, const Coefficients& c) {
    Arguments a = arguments_for(out.domain(), out.lanes(), out.rhs());
    a.parity = int(parity);
    a.out = out.operand(parity);
    a.in = in.operand(opposite(parity));
    a.x = x.operand(parity);
    a.links = links.operand();
    a.a.re = alpha;
    a.b.re = beta;
    term.set(a);
    a.hops = hops_of(out.domain().lattice(), c.bulk, c.phase);
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

INSTANTIATE_TEST_SUITE_P(Kernels, Hopping, testing::ValuesIn(support::kernel_cases([](const Kernel& k) {
                           return k.family == "hopping";
                         })),
                         support::kernel_case_name);

}  // namespace
