#include "solvers/eigen/deflation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {

Deflation::Deflation(Spectrum kind, std::vector<double> values, SpinorField vectors, const Action& action,
                     EvenOddForm even_odd_form, double shift)
    : values_(std::move(values)), vectors_(std::move(vectors)) {
  if (kind == Spectrum::hermitian && even_odd_form != EvenOddForm::none)
    throw UsageError("eigenvectors of gamma_5 M serve solves on all sites; use --even-odd none, or operator normal");
  if (kind == Spectrum::staggered && (even_odd_form == EvenOddForm::none || !action.is_squared()))
    throw UsageError("eigenvectors of -D^2 on the even sites serve even-odd solves; leave --even-odd out");
  for (double& value : values_) {
    if (kind == Spectrum::hermitian) value *= value;
    if (kind == Spectrum::staggered) value += std::pow(action.values()(action.info().diagonal), 2);
    value += shift;
    if (!(value > 0)) throw UsageError(fmt::format("an eigenvalue is {:.3g}: it cannot be divided by", value));
  }
}

void Deflation::guess(SpinorField& x, const SpinorField& b, const LinearOperator& a, bool hermitian) const {
  if (a.subset() != vectors_.subset() || &a.precision() != &vectors_.precision() ||
      a.components() != vectors_.components() || a.slices() != vectors_.slices())
    throw UsageError("the eigenvectors are not of the operator of this solve: sites, precision or components differ");
  constexpr int most = 4;
  BlockBlas blas(a, std::size_t(count()) * BlockBlas::padded(most));
  SpinorField image = a.field(most), sum = a.field(most);
  image.fill(0);
  for (int first = 0; first < b.rhs(); first += most) {
    const int width = std::min(most, b.rhs() - first);
    for (int n = 0; n < width; ++n) {
      SpinorField one = image.columns(n, 1);
      if (hermitian)
        one.copy_from(b.columns(first + n, 1));
      else
        a.apply(one, b.columns(first + n, 1), Dagger::yes);
    }
    Dense c = blas.dot(vectors_, count(), image, width);
    for (int i = 0; i < count(); ++i) c.row(i) /= values_[std::size_t(i)];
    blas.stage({&c});
    blas.product(vectors_, sum, c);
    for (int n = 0; n < width; ++n) x.columns(first + n, 1).copy_from(sum.columns(n, 1));
  }
}

}  // namespace quarksmith
