#include "solvers/krylov/gmres_dr.hpp"

#include <Eigen/Jacobi>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "solvers/krylov/column.hpp"
#include "solvers/krylov/harmonic.hpp"

namespace quarksmith {
namespace {

using Matrix = Eigen::MatrixXcd;
using Vector = Eigen::VectorXcd;

/// Part of the residual that a cycle has to take away.
constexpr double least_progress = 0.01;
/// If less than this fraction of a vector's image remains after orthogonalisation, the remainder is rounding.
constexpr double nothing_left = 1e-14;

/// An orthonormal basis of these columns.
Matrix orthonormal(const Matrix& a) {
  return Eigen::HouseholderQR<Matrix>(a).householderQ() * Matrix::Identity(a.rows(), a.cols());
}

}  // namespace

DeflatedGmres::DeflatedGmres(const OuterSolverSetting& s, int search, int keep)
    : CycleSolver(s),
      search_(search),
      keep_(keep),
      inner_blas_(s.inner),
      block_(s.inner, std::size_t(BlockBlas::padded(search + 1)) * BlockBlas::padded(keep + 1)),
      y_(s.inner.field(BlockBlas::padded(1))),
      r_(y_.like()),
      w_(y_.like()),
      v_(s.inner.field(BlockBlas::padded(search + 1))),
      rotated_(s.inner.field(BlockBlas::padded(keep + 1))),
      kept_(rotated_.like()) {
  for (SpinorField* f : {&y_, &r_, &w_, &v_, &rotated_, &kept_}) f->fill(0);
}

Eigen::VectorXcd DeflatedGmres::harmonic_values() const { return Harmonic(kept_h_).values; }

void DeflatedGmres::correct(SpinorField& d, SpinorField& r, Courses group) {
  Course& course = group[0];
  SpinorField y = y_.columns(0, 1), r0 = r_.columns(0, 1);
  convert_(r.columns(0, 1), r0);
  y.fill(0);
  // With Criterion::normal the residual has to fall as that of the criterion.
  double goal = course.target(), norm = course.r_norm;
  if (course.normal()) goal = norm * 0.8 * course.tolerance / course.result.measured;
  goal = std::max(goal, least_ * norm);
  const bool first = vectors() == 0;
  bool goes_on = false;  // with the vectors of a restart
  for (double before = INFINITY; norm > goal && norm < (1 - least_progress) * before && !course.at_limit();) {
    before = norm;
    if (!first) project();
    if (!goes_on) {
      norm = std::sqrt(inner_blas_.norm2(r0));
      SpinorField v = v_.columns(0, 1);
      inner_blas_.scale(1 / norm, r0, v);
      begin(Matrix(1, 0), Vector::Constant(1, norm));
    }
    cycle(course, first ? search_ : search_ - keep_, goal);
    norm = finish();
    goes_on = first && restart();
  }
  if (goes_on) {
    for (int n = 0; n <= keep_; ++n) kept_.columns(n, 1).copy_from(v_.columns(n, 1));
    kept_h_ = h_.topLeftCorner(keep_ + 1, keep_);
  }
  SpinorField one = d.columns(0, 1);
  convert_(y, one);
}

/// Takes the least residual of the vectors that are kept.
void DeflatedGmres::project() {
  const Vector c = block_.dot(kept_, keep_ + 1, r_, 1);
  const double start = now();
  const Vector d = kept_h_.householderQr().solve(c);
  const Vector change = -(kept_h_ * d);
  host_seconds_ += now() - start;
  combine(kept_, d, y_);
  combine(kept_, change, r_);
}

/// sum += V c
void DeflatedGmres::combine(SpinorField& v, const Vector& c, SpinorField& sum) {
  const Dense m = c;
  block_.stage({&m});
  block_.update(v, sum, sum, m);
}

/// A cycle begins with the vectors of this H, and a residual V c.
void DeflatedGmres::begin(const Matrix& h, const Vector& c) {
  active_ = static_cast<int>(h.cols());
  const int rows = active_ + 1;
  h_ = Matrix::Zero(search_ + 1, search_);
  h_.topLeftCorner(rows, active_) = h;
  c_ = Vector::Zero(search_ + 1);
  c_.head(rows) = c;
  turns_ = Matrix::Identity(search_ + 1, search_ + 1);
  if (active_ > 0) {
    const Eigen::HouseholderQR<Matrix> qr(h);
    turns_.topLeftCorner(rows, rows) = Matrix(qr.householderQ()).adjoint();
  }
  triangle_ = turns_ * h_;
  turned_ = turns_ * c_;
}

/// Steps of Arnoldi's method until H has so many columns, or the residual is the goal.
void DeflatedGmres::cycle(Course& course, int columns, double goal) {
  while (active_ < columns && !course.at_limit())
    if (!(extend(course) > goal)) return;
}

/// One step. \return the least residual.
double DeflatedGmres::extend(Course& course) {
  const int j = active_++;
  SpinorField w = w_.columns(0, 1), next = v_.columns(j + 1, 1);
  inner_->apply(w, v_.columns(j, 1), Dagger::no);
  ++course.result.applications;
  const double rest = orthogonalise(j + 1, h_.col(j).head(j + 1));
  h_(j + 1, j) = rest;
  rest > 0 ? inner_blas_.scale(1 / rest, w, next) : next.fill(0);
  Vector column = turns_.topLeftCorner(j + 2, j + 2) * h_.col(j).head(j + 2);
  Eigen::JacobiRotation<Complex64> turn;
  turn.makeGivens(column[j], column[j + 1]);
  column.applyOnTheLeft(j, j + 1, turn.adjoint());
  turns_.applyOnTheLeft(j, j + 1, turn.adjoint());
  turned_.applyOnTheLeft(j, j + 1, turn.adjoint());
  triangle_.col(j).head(j + 1) = column.head(j + 1);
  const double norm = std::abs(turned_[j + 1]);
  course.count(norm);
  return norm;
}

/// w -= V V^+ w of so many vectors, twice. \return the norm of what is left, or 0.
double DeflatedGmres::orthogonalise(int count, Eigen::Ref<Vector> coefficients) {
  SpinorField w = w_.columns(0, 1);
  double before = std::sqrt(inner_blas_.norm2(w));
  coefficients.setZero();
  for (int pass = 0; pass < 2; ++pass) {
    const Vector c = block_.dot(v_, count, w_, 1);
    combine(v_, -c, w_);
    coefficients += c;
  }
  const double rest = std::sqrt(inner_blas_.norm2(w));
  return rest > nothing_left * before ? rest : 0;
}

/// Adds the correction of a cycle; c becomes V^+ r of what is left. \return |r|
double DeflatedGmres::finish() {
  const double start = now();
  const Vector d =
      triangle_.topLeftCorner(active_, active_).triangularView<Eigen::Upper>().solve(turned_.head(active_));
  c_.head(active_ + 1) -= h_.topLeftCorner(active_ + 1, active_) * d;
  host_seconds_ += now() - start;
  combine(v_, d, y_);
  r_.fill(0);
  combine(v_, c_.head(active_ + 1), r_);
  return c_.head(active_ + 1).norm();
}

/// V becomes the harmonic Ritz vectors of the smallest values and the residual. \return false if there are too few.
bool DeflatedGmres::restart() {
  const int n = active_;
  if (n <= keep_) return false;
  const double start = now();
  const Matrix h = h_.topLeftCorner(n + 1, n);
  const Harmonic harmonic(h);
  if (!harmonic.vectors.allFinite()) return false;
  Matrix all = Matrix::Zero(n + 1, keep_ + 1);
  all.topLeftCorner(n, keep_) = harmonic.vectors.leftCols(keep_);
  all.col(keep_) = c_.head(n + 1);
  const Matrix p = orthonormal(all);
  const Matrix kept = p.adjoint() * h * p.topLeftCorner(n, keep_);
  const Vector c = p.adjoint() * c_.head(n + 1);
  const Dense m = p;
  host_seconds_ += now() - start;
  block_.stage({&m});
  block_.product(v_, rotated_, m);
  for (int i = 0; i <= keep_; ++i) v_.columns(i, 1).copy_from(rotated_.columns(i, 1));
  begin(kept, c);
  return true;
}

}  // namespace quarksmith
