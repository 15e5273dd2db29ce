#include "solvers/krylov/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {

RankRevealing factorise(const Dense& gram, double cut, bool scaled) {
  const Eigen::Index n = gram.rows();
  Eigen::VectorXd length = Eigen::VectorXd::Ones(n);
  if (scaled) length = gram.diagonal().real().cwiseMax(0).cwiseSqrt();
  const Eigen::VectorXd inverse = length.unaryExpr([](double l) { return l > 0 ? 1 / l : 0.0; });
  Dense left = inverse.asDiagonal() * gram * inverse.asDiagonal();  // what is not factorised yet
  Eigen::PermutationMatrix<Eigen::Dynamic> order(n);
  order.setIdentity();
  Dense lower = Dense::Zero(n, n);
  RankRevealing result{{}, {}, {0, 0}};
  Eigen::Index rank = 0;
  for (; rank < n; ++rank) {
    Eigen::Index best = 0;
    const double pivot = left.diagonal().real().tail(n - rank).maxCoeff(&best);
    best += rank;
    if (rank == 0) result.pivots[1] = pivot;
    if (!(pivot > cut * result.pivots[1]) || !std::isfinite(pivot)) break;
    result.pivots[0] = pivot;
    left.row(rank).swap(left.row(best));
    left.col(rank).swap(left.col(best));
    lower.row(rank).swap(lower.row(best));
    order.applyTranspositionOnTheRight(rank, best);
    const Eigen::Index below = n - rank - 1;
    lower(rank, rank) = std::sqrt(pivot);
    lower.col(rank).tail(below) = left.col(rank).tail(below) / std::sqrt(pivot);
    left.bottomRightCorner(below, below) -= lower.col(rank).tail(below) * lower.col(rank).tail(below).adjoint();
  }
  const Dense taken = lower.leftCols(rank);
  result.s = (length.asDiagonal() * (order * taken)).adjoint();
  // T on the pivots is the inverse of the adjoint of the leading triangle.
  result.t = Dense::Zero(n, rank);
  result.t.topRows(rank) = Dense::Identity(rank, rank);
  if (rank > 0) taken.topRows(rank).adjoint().triangularView<Eigen::Upper>().solveInPlace(result.t.topRows(rank));
  result.t = (inverse.asDiagonal() * (order * result.t)).eval();
  return result;
}

Dense inverse_of_positive(const Dense& a) {
  const RankRevealing f = factorise(a, 0x1p-50, true);
  if (f.s.rows() < a.rows()) return {};
  return f.t * f.t.adjoint();  // A = S^+ S and T = S^-1
}

std::optional<Inverse> inverse_of(const Dense& a) {
  const Eigen::PartialPivLU<Dense> lu(a);
  if (!(lu.rcond() > 0x1p-50)) return {};
  return Inverse{lu.inverse(), lu.matrixLU().diagonal().cwiseAbs().array().log().sum()};
}

HermitianEigen eigen_of(const Dense& a) {
  const Eigen::SelfAdjointEigenSolver<Dense> solver(a);
  if (solver.info() != Eigen::Success)
    throw Error("the eigenvalues of a small matrix do not converge: it has no finite numbers");
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace quarksmith
