// Every emitted kernel along the fifth dimension against dense matrices over the slices, on every device.
#include <fmt/format.h>

#include <random>

#include "runtime/error.hpp"
#include "solvers/actions/slice_chain.hpp"
#include "tests/reference/domain_wall.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::Slices;
using reference::Square;

using Numbers = std::vector<Complex64>;

/// Numbers of order one that differ from slice to slice.
Numbers numbers(int slices, double first, bool is_complex, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(-0.4, 0.4);
  Numbers all;
  for (int s = 0; s < slices; ++s) {
    const double re = first + draw(engine);
    all.push_back({re, is_complex ? draw(engine) : 0});
  }
  return all;
}

class SliceKernel : public testing::TestWithParam<support::KernelCase> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }

  /// (p + q R) (d + e R)^-1 on two vectors, both parities.
  void check(const Lattice& lattice, int slices, const Numbers& p, const Numbers& q, const Numbers& d, const Numbers& e,
             Complex64 corner) {
    const Numbers walls(slices, corner);
    const SliceChain chain(SliceMatrix(p, q, walls), SliceMatrix(d, e, walls));
    std::array<Square, 2> dense = {Square{slices}, Square{slices}};
    for (const int part : {0, 1}) {
      const int sign = 2 * part - 1;
      dense[part] = reference::product(reference::shift_rows(p, q, corner, sign),
                                       reference::inverse(reference::shift_rows(d, e, corner, sign)));
      if (kernel().dagger) dense[part] = reference::adjoint(dense[part]);
    }
    compare(lattice, slices, kernel().dagger ? chain.adjoint() : chain, dense);
  }

  void compare(const Lattice& lattice, int slices, const SliceChain& chain, const std::array<Square, 2>& dense) {
    constexpr int vectors = 2;
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const PrecisionInfo& precision = find_precision(kernel().precision);
    const BasisInfo& basis = find_basis(kernel().basis);
    SpinorField in(domain, precision, Subset::full, vectors * slices), x = in.like(), out = in.like();
    for (int r = 0; r < in.rhs(); ++r) {
      upload(reference::random_spinor(lattice, 7 + r), in, basis, r);
      upload(reference::random_spinor(lattice, 77 + r), x, basis, r);
    }
    out.fill(0xff);
    const Memory table = store(chain, GetParam().device, precision, kernel().complex_coefficients);
    const double alpha = 0.75, beta = kernel().epilogue == "none" ? 1 : -0.3;
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(*domain, in.lanes(), vectors);
      a.slices = slices;
      a.chain = table.data();
      a.parity = int(parity);
      a.out = out.operand(parity);
      a.in = in.operand(parity);
      a.x = x.operand(parity);
      a.a.re = alpha;
      a.b.re = beta;
      GetParam().device->run(kernel(), a);
    }
    const support::Deviation limit = support::tolerance(kernel().precision, "");
    for (int v = 0; v < vectors; ++v) {
      Slices stored(slices, HostSpinor(lattice)), stored_x = stored;
      for (int s = 0; s < slices; ++s) {
        download(in, stored[s], basis, v * slices + s);
        download(x, stored_x[s], basis, v * slices + s);
      }
      const Slices product = reference::multiply(dense[0], dense[1], stored);
      for (int s = 0; s < slices; ++s) {
        HostSpinor result(lattice);
        download(out, result, basis, v * slices + s);
        const HostSpinor expected =
            reference::combine(kernel().epilogue == "none" ? 0 : alpha, stored_x[s], beta, product[s]);
        const support::Deviation deviation = support::compare(result, expected);
        EXPECT_LE(deviation.norm, 2 * limit.norm) << lattice.text() << " vector " << v << " slice " << s;
        EXPECT_LE(deviation.largest, 2 * limit.largest) << lattice.text() << " vector " << v << " slice " << s;
      }
    }
  }
};

TEST_P(SliceKernel, AgreesWithDenseMatrices) {
  const bool z = kernel().complex_coefficients;
  for (const auto& [extent, slices] :
       {std::pair{Coordinates{4, 4, 4, 8}, 6}, {Coordinates{6, 2, 2, 10}, 7}, {Coordinates{4, 4, 4, 4}, 1}})
    check(Lattice(extent), slices, numbers(slices, 1.5, z, 1), numbers(slices, 0.5, z, 2), numbers(slices, 3, z, 3),
          numbers(slices, -1, z, 4), z ? Complex64(-0.2, 0.1) : -0.2);
}

TEST_P(SliceKernel, TakesMatricesWithoutInverseOrNumerator) {
  const Lattice lattice({4, 4, 4, 4});
  const Numbers one(8, 1), zero(8, 0), a = numbers(8, 2, false, 5), b = numbers(8, -1, false, 6);
  check(lattice, 8, a, b, one, zero, -0.1);
  check(lattice, 8, one, zero, a, b, -0.1);
}

TEST(SliceChain, TimesItsInverseIsOne) {
  const Numbers one(9, 1), zero(9, 0), a = numbers(9, 2, true, 5), b = numbers(9, -1, true, 6);
  const SliceMatrix m(a, b, Numbers(9, 0.3));
  const SliceChain same(m, m);
  for (const auto& part : same.step)
    for (const ChainStep& c : part) {
      EXPECT_LT(std::abs(c.own - 1.0), 1e-15);
      EXPECT_LT(std::abs(c.take), 1e-15);
    }
  EXPECT_TRUE(same.is_complex());
  EXPECT_FALSE(SliceChain(SliceMatrix::one(9), SliceMatrix::one(9)).is_complex());
  EXPECT_THROW(SliceChain(m, SliceMatrix(9)), UsageError);
  EXPECT_THROW(SliceChain(m, SliceMatrix(one, Numbers(9, -1), one)), UsageError);
}

FOR_KERNELS(SliceKernel, k.family == "slices");
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SliceKernel);

}  // namespace
