// The tables of gamma bases against matrices typed for the tests.
#include "runtime/registry.hpp"
#include "tests/reference/operators.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::SpinMatrix, reference::operator*;

SpinMatrix spin_matrix(const double* numbers) {
  SpinMatrix m;
  for (int n = 0; n < 16; ++n) m[n / 4][n % 4] = {numbers[2 * n], numbers[2 * n + 1]};
  return m;
}

double distance(const SpinMatrix& a, const SpinMatrix& b) {
  double largest = 0;
  for (int n = 0; n < 16; ++n) largest = std::max(largest, std::abs(a[n / 4][n % 4] - b[n / 4][n % 4]));
  return largest;
}

TEST(Bases, AreRotationsOfDeGrandRossi) {
  ASSERT_GE(bases().size(), 2u);
  for (const BasisInfo& basis : bases()) {
    const SpinMatrix v = spin_matrix(basis.rotation);
    EXPECT_LE(distance(v * reference::adjoint(v), reference::identity()), 1e-14) << basis.name;
    for (int mu = 0; mu < 4; ++mu)
      EXPECT_LE(distance(v * reference::gamma(mu) * reference::adjoint(v), spin_matrix(basis.gamma[mu])), 1e-14)
          << basis.name << " " << mu;
  }
}

TEST(Bases, OfTheProjectAreThoseThatItsDocumentsState) {
  for (const char* name : {"degrand_rossi", "non_relativistic"}) {
    const BasisInfo& basis = find_basis(name);
    const reference::GammaBasis stated = *reference::basis_of(name);
    EXPECT_LE(distance(spin_matrix(basis.rotation), stated.rotation), 1e-15) << name;
    for (int mu = 0; mu < 4; ++mu) EXPECT_EQ(spin_matrix(basis.gamma[mu]), stated.gamma[mu]) << name << " " << mu;
  }
}

}  // namespace
