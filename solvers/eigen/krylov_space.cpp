#include "solvers/eigen/krylov_space.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/fields/site_random.hpp"

namespace quarksmith {
namespace {

constexpr double vanished = 1e-13;  ///< of what a vector was, or of A: the rest is rounding

}  // namespace

KrylovSpace::KrylovSpace(const LinearOperator& a, SpaceSize size, std::uint64_t seed)
    : a_(&a),
      size_(size),
      seed_(seed),
      blas_(a),
      block_blas_(a, std::size_t(columns(size)) * BlockBlas::padded(size.taken)),
      v_(a.field(columns(size))),
      w_(a.field(BlockBlas::padded(size.block))),
      rotated_(a.field(BlockBlas::padded(std::max(size.taken, size.block)))) {
  v_.fill(0);
  w_.fill(0);
}

/// W -= V V^+ W, twice. \return V^+ W
Dense KrylovSpace::orthogonalise(SpinorField& w, int width, int against) {
  Dense all = Dense::Zero(against, width);
  if (against == 0) return all;
  for (int pass = 0; pass < 2; ++pass) {
    const Dense c = block_blas_.dot(v_, against, w, width), minus = -c;
    block_blas_.stage({&minus});
    block_blas_.update(v_, w, w, minus);
    all += c;
  }
  return all;
}

/// Column n of W, orthogonal to what was the basis before this block, becomes its next vector, unless nothing is left
/// of it. \param coefficients gets what it has of the block. \return the norm of what was left, or 0.
double KrylovSpace::append(SpinorField& w, int n, Dense* coefficients) {
  SpinorField one = w.columns(n, 1);
  double norm = std::sqrt(blas_.norm2(one));
  const double least = vanished * std::max(norm, scale_);
  for (int pass = 0; pass < 5; ++pass) {
    const double before = norm;
    // Where little is left, what it has of all the others has grown in proportion.
    const int first = pass == 0 ? locked_ + active_ : 0;
    if (used() > first) {
      SpinorField v = v_.columns(first, v_.rhs() - first);
      SpinorField padded = rotated_.columns(0, BlockBlas::padded(1));
      padded.columns(0, 1).copy_from(one);
      const Dense c = block_blas_.dot(v, used() - first, padded, 1), minus = -c;
      block_blas_.stage({&minus});
      block_blas_.update(v, padded, padded, minus);
      one.copy_from(padded.columns(0, 1));
      if (coefficients != nullptr) coefficients->col(n).head(pending_) += c.col(0).tail(pending_);
      norm = std::sqrt(blas_.norm2(one));
    }
    if (!(norm > least)) return 0;
    if (norm > 0.5 * before) break;
  }
  SpinorField to = v_.columns(used(), 1);
  blas_.scale(1 / norm, one, to);
  ++pending_;
  if (used() > v_.rhs() - spare_) spare_ = 0;
  return norm;
}

/// Random vectors until the block has its width, or there are no more.
void KrylovSpace::fill_up() {
  for (int tries = 0; pending_ < size_.block && tries < size_.block; ++tries) {
    SpinorField one = w_.columns(0, 1);
    draw_noise(one, {seed_, drawn_++}, find_basis("degrand_rossi"));
    orthogonalise(w_, 1, used());
    append(w_, 0, nullptr);
  }
}

void KrylovSpace::begin() {
  clear();
  fill_up();
}

void KrylovSpace::clear() {
  active_ = pending_ = last_ = 0;
  h_.resize(0, 0);
  b_.resize(0, 0);
}

void KrylovSpace::begin_from_best(int count) {
  const Dense random = Dense::NullaryExpr(
      count, size_.block, [](Eigen::Index i, Eigen::Index j) { return std::polar(1.0, double(i * i * (j + 1) + j)); });
  const Dense best = ritz_.vectors.rightCols(count) * random;
  rotate(best);
  for (int n = 0; n < size_.block; ++n) w_.columns(n, 1).copy_from(rotated_.columns(n, 1));
  clear();
  orthogonalise(w_, size_.block, locked_);
  for (int n = 0; n < size_.block; ++n) append(w_, n, nullptr);
  fill_up();
}

/// One block: H gets its columns, and the basis the next block.
void KrylovSpace::step() {
  const int width = pending_, before = active_, all = used();
  SpinorField w = w_.columns(0, BlockBlas::padded(width)), image = w.columns(0, width);
  a_->apply(image, v_.columns(locked_ + active_, width), Dagger::no);
  const Dense c = orthogonalise(w, width, all);
  active_ += width;
  h_.conservativeResize(active_, active_);
  h_.rightCols(width) = c.bottomRows(active_);
  h_.bottomRows(width) = c.bottomRows(active_).adjoint();
  const Dense corner = c.bottomRows(width);
  h_.bottomRightCorner(width, width) = (corner + corner.adjoint()) / 2;
  scale_ = std::max(scale_, h_.rightCols(width).colwise().norm().maxCoeff());
  last_ = active_ - before;
  pending_ = 0;
  b_ = Dense::Zero(width, width);
  for (int n = 0; n < width; ++n) {
    const int row = pending_;
    if (const double norm = append(w, n, &b_); norm > 0) b_(row, n) = norm;
  }
  fill_up();
}

KrylovSpace::Ritz KrylovSpace::fill() {
  while (pending_ > 0 && used() <= size_.basis) step();
  spare_ = 0;
  ritz_ = eigen_of(h_);
  Ritz found{ritz_.values.reverse(), Eigen::VectorXd(active_)};
  const Dense rest = b_ * ritz_.vectors.bottomRows(last_);
  for (int i = 0; i < active_; ++i) found.residuals[i] = rest.col(active_ - 1 - i).norm();
  return found;
}

/// Active vectors times a matrix, in `rotated_`.
void KrylovSpace::rotate(const Dense& m) {
  block_blas_.stage({&m});
  block_blas_.product(v_.columns(locked_, v_.rhs() - locked_), rotated_, m);
}

void KrylovSpace::restart(int lock, int keep) {
  const int taken = lock + keep;
  const Dense best = ritz_.vectors.rightCols(taken).rowwise().reverse();
  rotate(best);
  const int from = locked_ + active_;
  for (int n = 0; n < taken; ++n) v_.columns(locked_ + n, 1).copy_from(rotated_.columns(n, 1));
  for (int n = 0; n < pending_; ++n) v_.columns(locked_ + taken + n, 1).copy_from(v_.columns(from + n, 1));
  h_ = ritz_.values.reverse().segment(lock, keep).cast<Complex64>().asDiagonal();
  locked_ += lock;
  active_ = keep;
  last_ = 0;
  b_.resize(0, 0);
}

void KrylovSpace::set_aside(int count) {
  spare_ = std::min({count, active_, most_taken()});
  if (spare_ == 0) return;
  const Dense best = ritz_.vectors.rightCols(spare_);
  rotate(best);
  for (int n = 0; n < spare_; ++n) v_.columns(v_.rhs() - 1 - n, 1).copy_from(rotated_.columns(n, 1));
}

void KrylovSpace::lock_best(int count) {
  if (spare_ > 0) {
    for (int n = 0; n < std::min(count, spare_); ++n) lock_rest(v_.columns(v_.rhs() - 1 - n, 1), vanished);
    return;
  }
  count = std::min({count, active_, most_taken()});
  if (count > 0) {
    ritz_ = eigen_of(h_);
    restart(count, 0);
  }
  clear();
}

void KrylovSpace::unlock(int n) {
  if (n < locked_ - 1) v_.columns(n, 1).copy_from(v_.columns(locked_ - 1, 1));
  --locked_;
  clear();
}

void KrylovSpace::lock_rest(const SpinorField& x, double least) {
  clear();
  SpinorField one = w_.columns(0, 1);
  one.copy_from(x);
  orthogonalise(w_, 1, locked_);
  if (!(std::sqrt(blas_.norm2(one)) > least)) return;
  append(w_, 0, nullptr);
  locked_ += pending_;
  pending_ = 0;
}

}  // namespace quarksmith
