#include "solvers/krylov/eigcg.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {
namespace {

/// A vector is not added to U if less than this fraction of it is outside of U.
constexpr double least_rest = 1e-4;
/// Reduction of a residual after which one that was deflated by approximate vectors is deflated anew.
constexpr double deflated_reduction = 1e-5;
/// Reduction of the residual after which it is replaced by the true one, in mixed precision.
constexpr double update_reduction = 1e-2;

/// Ritz vectors of the `keep` least values of T and of T without its last row, orthonormalised.
Dense ritz_pairs(const Dense& t, int keep) {
  const Eigen::Index m = t.rows();
  Eigen::MatrixXcd both = Eigen::MatrixXcd::Zero(m, 2 * keep);
  both.leftCols(keep) = eigen_of(t).vectors.leftCols(keep);
  both.block(0, keep, m - 1, keep) = eigen_of(t.topLeftCorner(m - 1, m - 1)).vectors.leftCols(keep);
  const Eigen::HouseholderQR<Eigen::MatrixXcd> qr(both);
  return qr.householderQ() * Eigen::MatrixXcd::Identity(m, 2 * keep);
}

}  // namespace

EigenConjugateGradients::EigenConjugateGradients(const OuterSolverSetting& s, int search, int keep)
    : CycleSolver(s),
      hermitian_(s.hermitian),
      search_(search),
      keep_(keep),
      inner_blas_(s.inner),
      outer_block_(s.outer, std::size_t(BlockBlas::padded(keep)) * BlockBlas::padded(keep)),
      block_(s.inner, std::size_t(BlockBlas::padded(search)) * BlockBlas::padded(2 * keep)),
      y_(s.inner.field()),
      r_(y_.like()),
      z_(y_.like()),
      p_(y_.like()),
      q_(y_.like()),
      w_(s.inner.field(BlockBlas::padded(1))),
      before_(y_.like()),
      v_(s.inner.field(BlockBlas::padded(search))),
      rotated_(s.inner.field(BlockBlas::padded(2 * keep))),
      s_(s.outer.field(BlockBlas::padded(1))),
      images_(s.outer.field(BlockBlas::padded(keep))) {
  for (SpinorField* f : {&v_, &rotated_, &w_, &s_, &images_}) f->fill(0);
}

void EigenConjugateGradients::forget() {
  u_.clear();
  h_.resize(0, 0);
  moving_ = false;
}

void EigenConjugateGradients::correct(SpinorField& d, SpinorField& r, Courses group) {
  Course& course = group[0];
  // The first right-hand side is one iteration, over all cycles. For the others each cycle is deflated anew: what the
  // vectors miss of the spectrum has come back by then.
  // Along a trajectory vectors are of other operators: they give the guess, and the iteration goes on undisturbed.
  const bool alone = vectors() == 0 || moving_, fresh = course.first || !alone;
  collects_ = alone || (course.first && !is_full());
  d.fill(0);
  if (vectors() > 0 && (course.first || !moving_)) deflate(d, r, course);
  const double norm = begin(r, course, fresh);
  // With Criterion::normal a Hermitian A has no A r at hand: its residual has to fall as that of the criterion.
  double goal = course.target();
  if (hermitian_ && course.normal()) goal = norm * 0.8 * course.tolerance / course.result.measured;
  const double reduction = !alone                                         ? deflated_reduction
                           : &outer_->precision() == &inner_->precision() ? 0
                                                                          : update_reduction;
  iterate(course, std::max({goal, least_ * norm, reduction * norm}));
  if (!alone && collects_) harvest(course);
  SpinorField correction = s_.columns(0, 1), sum = d.columns(0, 1);
  convert_(y_, correction);
  blas_.axpby(1.0, correction, 1.0, sum);
}

/// d = U (U^+ H U)^-1 U^+ A^+ r, and r becomes r - A d.
void EigenConjugateGradients::deflate(SpinorField& d, SpinorField& r, Course& course) {
  SpinorField s = s_.columns(0, 1), residual = r.columns(0, 1);
  hermitian_ ? s.copy_from(residual) : outer_->apply(s, residual, Dagger::yes);
  Eigen::MatrixXcd c(vectors(), 1);
  for (const Part& u : u_) c.middleRows(u.first, u.count) = outer_block_.dot(u.vectors, u.count, s_, 1);
  const double start = now();
  c = Eigen::LLT<Eigen::MatrixXcd>(h_).solve(c).eval();
  host_seconds_ += now() - start;
  for (const Part& u : u_) {
    const Dense own = c.middleRows(u.first, u.count);
    outer_block_.stage({&own});
    outer_block_.update(u.vectors, d, d, own);
  }
  outer_->apply(s, d.columns(0, 1), Dagger::no);
  blas_.axpby(-1.0, s, 1.0, residual);
  course.result.exact_applications += hermitian_ ? 1 : 2;
}

/// \param fresh a new Krylov space; or else the direction is kept, made orthogonal to the new residual.
/// \return the residual that the goal of an iteration is compared with.
double EigenConjugateGradients::begin(const SpinorField& r, Course& course, bool fresh) {
  SpinorField s = s_.columns(0, 1);
  const SpinorField residual = r.columns(0, 1);
  hermitian_ ? s.copy_from(residual) : outer_->apply(s, residual, Dagger::yes);
  course.result.exact_applications += hermitian_ ? 0 : 1;
  convert_(s, z_);
  convert_(residual, r_);
  y_.fill(0);
  const double zz = inner_blas_.norm2(z_);
  if (fresh) {
    p_.fill(0);
    beta_ = active_ = 0;
    alpha_ = 1;
    restarted_ = false;
    t_ = Dense::Zero(search_, search_);
  } else {
    beta_ *= zz / zz_;
    inner_blas_.axpby(-inner_blas_.dot(z_, p_) / zz, z_, Complex64(1), p_);
    set_coupling();
  }
  zz_ = zz;
  return std::sqrt(blas_.norm2(course.normal() ? s : residual));
}

/// Conjugate gradients until the residual is the goal.
void EigenConjugateGradients::iterate(Course& course, double goal) {
  double least = INFINITY;
  int least_at = course.result.iterations;
  while (zz_ > 0 && std::isfinite(zz_) && !course.at_limit()) {
    if (collects_) collect();
    inner_blas_.axpby(1.0, z_, beta_, p_);  // p = z + beta p
    const double curvature = apply(course);
    if (!(curvature > 0)) {
      course.result.events.push_back({course.result.iterations, "breakdown: (p, H p) is not positive; the cycle ends"});
      if (collects_) --active_;
      return;
    }
    const double alpha_before = std::exchange(alpha_, zz_ / curvature);
    if (collects_) set_row(1 / alpha_ + beta_ / alpha_before);
    inner_blas_.axpby(alpha_, p_, 1.0, y_);
    inner_blas_.axpby(-alpha_, q_, 1.0, z_);
    const double next = inner_blas_.norm2(z_);
    double norm = std::sqrt(next);
    if (!hermitian_) {
      inner_blas_.axpby(-alpha_, w_.columns(0, 1), 1.0, r_);
      if (!course.normal()) norm = std::sqrt(inner_blas_.norm2(r_));
    }
    course.count(norm);
    beta_ = next / std::exchange(zz_, next);
    if (collects_) set_coupling();
    if (norm < 0.5 * least) least = norm, least_at = course.result.iterations;
    if (!(norm > goal) || course.result.iterations - least_at > patience) return;
  }
}

/// q = H p. \return (p, H p)
double EigenConjugateGradients::apply(Course& course) {
  course.result.applications += hermitian_ ? 1 : 2;
  if (hermitian_) {
    inner_->apply(q_, p_, Dagger::no);
    return inner_blas_.dot(p_, q_).real();
  }
  SpinorField w = w_.columns(0, 1);
  inner_->apply(w, p_, Dagger::no);
  inner_->apply(q_, w, Dagger::yes);
  return inner_blas_.norm2(w);
}

/// z becomes a vector of V, which is restarted before where it is full.
void EigenConjugateGradients::collect() {
  if (active_ == search_) restart();
  SpinorField v = v_.columns(active_++, 1);
  inner_blas_.scale(1 / std::sqrt(zz_), z_, v);
}

/// The element of T between the last vector of V and the next.
void EigenConjugateGradients::set_coupling() {
  if (active_ == 0 || active_ == search_) return;
  t_(active_ - 1, active_) = t_(active_, active_ - 1) = -std::sqrt(beta_) / alpha_;
}

/// The elements of T of the last vector of V: its own, and after a restart those with the others, H z = H p - beta H
/// p'.
void EigenConjugateGradients::set_row(double diagonal) {
  const int last = active_ - 1;
  t_(last, last) = diagonal;
  if (!std::exchange(restarted_, false)) return;
  inner_blas_.axpby(1.0, q_, -beta_, before_);
  SpinorField image = rotated_.columns(0, BlockBlas::padded(1));
  SpinorField one = image.columns(0, 1);
  inner_blas_.scale(1 / std::sqrt(zz_), before_, one);
  t_.col(last).head(last) = block_.dot(v_, last, image, 1);
  t_.row(last).head(last) = t_.col(last).head(last).adjoint();
}

void EigenConjugateGradients::restart() {
  const double start = now();
  const Dense q = ritz_pairs(t_, keep_);
  const HermitianEigen ritz = eigen_of(q.adjoint() * t_ * q);
  const Dense m = q * ritz.vectors;
  host_seconds_ += now() - start;
  block_.stage({&m});
  block_.product(v_, rotated_, m);
  active_ = 2 * keep_;
  for (int n = 0; n < active_; ++n) v_.columns(n, 1).copy_from(rotated_.columns(n, 1));
  t_ = Dense::Zero(search_, search_);
  t_.diagonal().head(active_) = ritz.values.cast<Complex64>();
  before_.copy_from(q_);
  restarted_ = true;
}

void EigenConjugateGradients::learn(Course& course) {
  if (vectors() == 0 || moving_) harvest(course);
}

/// The Ritz vectors of V that U does not have yet become its.
void EigenConjugateGradients::harvest(Course& course) {
  if (active_ < 2 * keep_) return;  // of so few iterations nothing is worth keeping
  const Dense best = eigen_of(t_.topLeftCorner(active_, active_)).vectors.leftCols(keep_);
  SpinorField v = v_.columns(0, active_);
  block_.stage({&best});
  block_.product(v, rotated_, best);
  Part part{outer_->field(BlockBlas::padded(keep_)), vectors(), keep_};
  part.vectors.fill(0);
  for (int n = 0; n < keep_; ++n) {
    SpinorField one = part.vectors.columns(n, 1);
    convert_(rotated_.columns(n, 1), one);
  }
  for (int pass = 0; pass < 2; ++pass)
    for (const Part& u : u_) {
      const Dense minus = -outer_block_.dot(u.vectors, u.count, part.vectors, keep_);
      outer_block_.stage({&minus});
      outer_block_.update(u.vectors, part.vectors, part.vectors, minus);
    }
  Dense factor;
  outer_block_.orthonormalise(part.vectors, images_, part.count, factor, least_rest * least_rest, false);
  if (part.count > 0) extend(std::move(part), course);
}

void EigenConjugateGradients::extend(Part part, Course& course) {
  course.result.exact_applications += (hermitian_ ? 1 : 2) * part.count;
  u_.push_back(std::move(part));
  couple(u_.back());
}

/// U^+ H U gets the rows and columns of a part, the last one that it has.
void EigenConjugateGradients::couple(const Part& part) {
  const int before = part.first, count = part.count, all = before + count;
  SpinorField between = s_.columns(0, 1);
  for (int n = 0; n < count; ++n) {
    const SpinorField one = part.vectors.columns(n, 1);
    SpinorField image = images_.columns(n, 1);
    if (hermitian_) {
      outer_->apply(image, one, Dagger::no);
    } else {
      outer_->apply(between, one, Dagger::no);
      outer_->apply(image, between, Dagger::yes);
    }
  }
  h_.conservativeResize(all, all);
  for (const Part& u : u_)
    if (u.first <= before)
      h_.block(u.first, before, u.count, count) = outer_block_.dot(u.vectors, u.count, images_, count);
  h_.bottomLeftCorner(count, before) = h_.topRightCorner(before, count).adjoint();
  const Dense corner = h_.bottomRightCorner(count, count);
  h_.bottomRightCorner(count, count) = (corner + corner.adjoint()) / 2;
}

void EigenConjugateGradients::operators_changed() {
  moving_ = true;
  if (u_.size() > most_moving) u_.erase(u_.begin(), u_.end() - most_moving);
  h_.resize(0, 0);
  for (Part& u : u_) {
    u.first = vectors();
    couple(u);
  }
}

}  // namespace quarksmith
