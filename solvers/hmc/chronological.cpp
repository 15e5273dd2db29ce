#include "solvers/hmc/chronological.hpp"

#include <cmath>

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/dense.hpp"

namespace quarksmith {
namespace {

/// A solution is dropped if less than this fraction of it is left outside the space of the later ones.
constexpr double negligible = 1e-12;

}  // namespace

void ChronologicalGuess::guess(SpinorField& x, const SpinorField& b, const LinearOperator& m) const {
  x.fill(0);
  if (basis_.empty()) return;
  const Blas blas(x);
  SpinorField mv = x.like(), av = x.like();
  const auto n = static_cast<Eigen::Index>(basis_.size());
  Dense a(n, n), f(n, 1);
  for (int j = 0; j < n; ++j) {
    m.apply(mv, basis_[j], Dagger::no);
    m.apply(av, mv, Dagger::yes);
    for (int i = 0; i <= j; ++i) {
      a(i, j) = blas.dot(basis_[i], av);
      a(j, i) = std::conj(a(i, j));
    }
    a(j, j) = a(j, j).real();
    f(j, 0) = blas.dot(basis_[j], b);
  }
  const Dense inverse = inverse_of_positive(a);
  if (inverse.rows() == 0) return;
  const Dense c = inverse * f;
  for (int j = 0; j < n; ++j) blas.axpby(c(j, 0), basis_[j], 1, x);
}

/// Gram and Schmidt from the latest on: without its last vector, the basis spans the solutions but for the oldest.
void ChronologicalGuess::keep(const SpinorField& x) {
  if (most_ == 0) return;
  const Blas blas(x);
  std::deque<SpinorField> before = std::move(basis_);
  basis_.clear();
  before.push_front(x.like());
  before.front().copy_from(x);
  for (SpinorField& v : before) {
    if (static_cast<int>(basis_.size()) == most_) break;
    const double size = std::sqrt(blas.norm2(v));
    for (const SpinorField& q : basis_) blas.axpby(-blas.dot(q, v), q, 1, v);
    const double left = std::sqrt(blas.norm2(v));
    if (!(left > negligible * size)) continue;
    blas.scale(1 / left, v, v);
    basis_.push_back(std::move(v));
  }
}

}  // namespace quarksmith
