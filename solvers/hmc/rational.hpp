/// \file
/// Rational approximations of powers x^p, -1 < p < 1, on an interval, for powers of M^+ M in RHMC (M. A. Clark and A.
/// D. Kennedy, hep-lat/0608015).
#pragma once

#include <vector>

namespace quarksmith {

/// r(x) = constant + sum_i residues[i] / (x + poles[i]).
struct RationalFunction {
  double constant = 0;
  std::vector<double> residues, poles;

  double operator()(double x) const;
};

/// An interval of the positive axis, with the eigenvalues of M^+ M.
struct Interval {
  double lower, upper;
};

/// A power p as a fraction, which is exact for 1/3.
struct Power {
  int numerator, denominator;

  double value() const { return static_cast<double>(numerator) / denominator; }
};

/// Tolerances for the residuals rho_k of solves for x_k = (A + poles_k)^-1 b, which minimise the iterations. The error
/// of r(A) b (order 1), or of b^+ r(A) b (order 2, docs/hmc-actions.md), is at most the sum of |residues_k| / (lower +
/// poles_k) |rho_k|^order, with `lower` the lower end of the spectrum of A; it becomes at most twice that with
/// `tolerance` for all. A digit is assumed to take iterations proportional to 1 / sqrt(lower + poles_k). None is below
/// `tolerance`.
std::vector<double> pole_tolerances(const RationalFunction& r, double lower, double tolerance, int order);

/// An approximation, with the largest |r(x) / x^p - 1| on its interval.
struct RationalFit {
  RationalFunction function;
  double error;
  RationalFunction inverse;  ///< 1/r, of x^-p
};

/// Limit of the poles of an approximation.
inline constexpr int most_poles = 40;

/// The approximation of x^p with n poles (numerator and denominator of degree n) that has the least relative error, by
/// Remez' second algorithm, starting from the points of largest error of that of x^(-1/2). Its poles and zeros are
/// negative and real.
/// \throws UsageError |p| is not below 1, there are no poles or more than 40, or the interval is empty, not positive or
/// wider than 1e12.
RationalFit remez(Power power, int poles, Interval interval);

/// Best approximation of x^(1/2) or x^(-1/2) in closed form: E. I. Zolotarev; as in J. van den Eshof et al.,
/// hep-lat/0202025, sec. 3.
/// \throws UsageError as remez(), or another power.
RationalFit zolotarev(Power power, int poles, Interval interval);

/// The approximation with the fewest poles with which remez() reaches an error.
/// \throws UsageError 40 poles do not reach it.
RationalFit fit_to_error(Power power, double error, Interval interval);

/// The largest |r(x) / x^p - 1| at 20 points per pole and decade, in the double precision of runs.
double measured_error(const RationalFunction& r, Power power, Interval interval);

}  // namespace quarksmith
