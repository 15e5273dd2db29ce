#include "solvers/eigen/chebyshev.hpp"

#include <algorithm>
#include <cmath>

namespace quarksmith {

ChebyshevFilter::ChebyshevFilter(const LinearOperator& a, int rhs)
    : a_(&a), blas_(a), one_(a.field(rhs)), other_(a.field(rhs)) {}

void ChebyshevFilter::set_range(double lowest, double lower, double upper, double growth) {
  constexpr int most_degree = 1000;
  lower_ = lower;
  upper_ = upper;
  const double steps = std::acosh(growth) / std::acosh((upper + lower - 2 * lowest) / (upper - lower));
  degree_ = std::clamp(2 * static_cast<int>(std::ceil(steps / 2)), 2, most_degree);
}

/// T_k = 2 X T_k-1 - T_k-2 with X = (2 A - b - a) / (b - a), in three fields in turn, of which the last is `out`.
void ChebyshevFilter::apply(SpinorField& out, const SpinorField& in, Dagger) const {
  const double scale = 2 / (upper_ - lower_), shift = -(upper_ + lower_) / (upper_ - lower_);
  SpinorField first = out.columns(0, in.rhs()), second = one_.columns(0, in.rhs()), third = other_.columns(0, in.rhs());
  SpinorField* fields[] = {&first, &second, &third};
  const auto term = [&](int k) { return fields[(degree_ - k) % 3]; };
  const SpinorField* before = &in;
  for (int k = 1; k <= degree_; ++k) {
    const double factor = k == 1 ? 1 : 2;
    a_->apply(*term(k), *before, Dagger::no);
    blas_.axpby(factor * shift, *before, factor * scale, *term(k));
    if (k > 1) blas_.axpby(-1, k == 2 ? in : *term(k - 2), 1, *term(k));
    before = term(k);
  }
}

double ChebyshevFilter::eigenvalue(double value) const {
  const double x = std::cosh(std::acosh(value) / degree_);
  return (upper_ + lower_ - (upper_ - lower_) * x) / 2;
}

double ChebyshevFilter::slope(double value) const {
  const double u = std::acosh(value) / degree_;
  return degree_ * std::sinh(degree_ * u) / std::sinh(u) * 2 / (upper_ - lower_);
}

}  // namespace quarksmith
