#include "solvers/krylov/dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quarksmith {

Dense Dense::identity(int n) {
  Dense one(n, n);
  for (int i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k)
      for (int j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Dense operator*(double a, const Dense& b) {
  Dense c = b;
  for (Complex64& z : c.element) z *= a;
  return c;
}

Dense adjoint(const Dense& a) {
  Dense c(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) c(j, i) = std::conj(a(i, j));
  return c;
}

std::vector<double> column_norms(const Dense& a) {
  std::vector<double> norms(a.columns, 0.0);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) norms[j] += std::norm(a(i, j));
  for (double& v : norms) v = std::sqrt(v);
  return norms;
}

RankRevealing factorise(const Dense& gram, double cut, bool scaled) {
  const int n = gram.rows;
  std::vector<double> length(n, 1.0);
  if (scaled)
    for (int i = 0; i < n; ++i) length[i] = std::sqrt(std::max(gram(i, i).real(), 0.0));
  Dense work(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) work(i, j) = length[i] > 0 && length[j] > 0 ? gram(i, j) / (length[i] * length[j]) : 0;
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Dense lower(n, n);  // rows in the order of `order`
  RankRevealing result{{}, {}, {0, 0}};
  int rank = 0;
  for (; rank < n; ++rank) {
    const auto pivot_of = [&](int i) {
      double p = work(order[i], order[i]).real();
      for (int k = 0; k < rank; ++k) p -= std::norm(lower(i, k));
      return p;
    };
    int best = rank;
    double pivot = pivot_of(rank);
    for (int i = rank + 1; i < n; ++i)
      if (const double p = pivot_of(i); p > pivot) pivot = p, best = i;
    if (rank == 0) result.pivots[1] = pivot;
    if (!(pivot > cut * result.pivots[1]) || !std::isfinite(pivot)) break;
    result.pivots[0] = pivot;
    std::swap(order[rank], order[best]);
    for (int k = 0; k < rank; ++k) std::swap(lower(rank, k), lower(best, k));
    const double root = std::sqrt(pivot);
    lower(rank, rank) = root;
    for (int i = rank + 1; i < n; ++i) {
      Complex64 sum = work(order[i], order[rank]);
      for (int k = 0; k < rank; ++k) sum -= lower(i, k) * std::conj(lower(rank, k));
      lower(i, rank) = sum / root;
    }
  }
  result.s = Dense(rank, n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < std::min(i + 1, rank); ++k) result.s(k, order[i]) = std::conj(lower(i, k)) * length[order[i]];
  // T on the pivots is the inverse of the adjoint of the leading triangle.
  result.t = Dense(n, rank);
  for (int j = 0; j < rank; ++j) {
    std::vector<Complex64> column(rank);  // solves L^+ t = e_j
    for (int i = j; i >= 0; --i) {
      Complex64 sum = i == j ? 1.0 : 0.0;
      for (int k = i + 1; k <= j; ++k) sum -= std::conj(lower(k, i)) * column[k];
      column[i] = sum / lower(i, i).real();
    }
    for (int i = 0; i <= j; ++i) result.t(order[i], j) = column[i] / length[order[i]];
  }
  return result;
}

Dense inverse_of_positive(const Dense& a) {
  const RankRevealing f = factorise(a, 0x1p-50, true);
  if (f.s.rows < a.rows) return {};
  return f.t * adjoint(f.t);  // A = S^+ S and T = S^-1
}

std::optional<Inverse> inverse_of(const Dense& a) {
  const int n = a.rows;
  Dense m = a;
  Inverse found{Dense::identity(n), 0};
  double size = 0;
  for (const Complex64& z : a.element) size = std::max(size, std::abs(z));
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(m(i, k)) > std::abs(m(pivot, k))) pivot = i;
    if (!(std::abs(m(pivot, k)) > n * std::numeric_limits<double>::epsilon() * size)) return {};
    for (int j = 0; j < n; ++j) {
      std::swap(m(k, j), m(pivot, j));
      std::swap(found.matrix(k, j), found.matrix(pivot, j));
    }
    found.log_det += std::log(std::abs(m(k, k)));
    const Complex64 scale = 1.0 / m(k, k);
    for (int j = 0; j < n; ++j) {
      m(k, j) *= scale;
      found.matrix(k, j) *= scale;
    }
    for (int i = 0; i < n; ++i) {
      const Complex64 factor = m(i, k);
      if (i == k || factor == 0.0) continue;
      for (int j = 0; j < n; ++j) {
        m(i, j) -= factor * m(k, j);
        found.matrix(i, j) -= factor * found.matrix(k, j);
      }
    }
  }
  return found;
}

}  // namespace quarksmith
