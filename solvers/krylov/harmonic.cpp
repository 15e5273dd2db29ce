#include "solvers/krylov/harmonic.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <numeric>
#include <vector>

namespace quarksmith {

Harmonic::Harmonic(const Eigen::MatrixXcd& h) {
  const Eigen::Index n = h.cols();
  const Eigen::MatrixXcd square = h.topRows(n);
  const Eigen::RowVectorXcd last = h.row(n);
  const Eigen::ComplexEigenSolver<Eigen::MatrixXcd> solver(
      square + square.adjoint().partialPivLu().solve(Eigen::VectorXcd(last.adjoint())) * last);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
    return std::abs(solver.eigenvalues()[i]) < std::abs(solver.eigenvalues()[j]);
  });
  values = solver.eigenvalues()(order);
  vectors = solver.eigenvectors()(Eigen::all, order);
}

}  // namespace quarksmith
