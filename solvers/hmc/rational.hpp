/// \file
/// Rational approximations of powers x^p, -1 < p < 1, on an interval: what RHMC takes of M^+ M
/// (M. A. Clark and A. D. Kennedy, hep-lat/0608015).
#pragma once

#include <vector>

namespace quarksmith {

/// r(x) = constant + sum_i residues[i] / (x + poles[i]).
struct RationalFunction {
  double constant = 0;
  std::vector<double> residues, poles;

  double operator()(double x) const;
};

/// An interval of the positive axis: that of the eigenvalues of M^+ M.
struct Interval {
  double lower, upper;
};

/// A power p as a fraction: exact where 1/3 is meant.
struct Power {
  int numerator, denominator;

  double value() const { return static_cast<double>(numerator) / denominator; }
};

/// Tolerances of residuals rho_k in the solves for x_k = (A + poles_k)^-1 b of a sum whose error is at most the sum of
/// |residues_k| / (lower + poles_k) |rho_k|^order, with the lower end of the spectrum of A: of order 1 that of r(A) b,
/// of order 2 that of b^+ r(A) b as docs/hmc-actions.md has it. Together they leave at most twice the error that
/// `tolerance` for all would; within that the fewest iterations, of which a digit takes about 1 / sqrt(lower +
/// poles_k). None is below `tolerance`.
std::vector<double> pole_tolerances(const RationalFunction& r, double lower, double tolerance, int order);

/// An approximation with the largest |r(x) / x^p - 1| of its interval.
struct RationalFit {
  RationalFunction function;
  double error;
  RationalFunction inverse;  ///< 1/r, of x^-p
};

/// Limit of the poles of an approximation.
inline constexpr int most_poles = 40;

/// The best approximation of x^p with n poles, numerator and denominator of degree n, in the sense of least relative
/// error: Remez' second algorithm; started from the points at which that of x^(-1/2) is worst. Its poles and zeros are
/// negative and real.
/// \throws UsageError |p| is not below 1, there are no poles or more than 40, or the interval is empty, not positive or
/// wider than 1e12.
RationalFit remez(Power power, int poles, Interval interval);

/// Best approximation of x^(1/2) or x^(-1/2) in closed form: E. I. Zolotarev; as in J. van den Eshof et al.,
/// hep-lat/0202025, sec. 3.
/// \throws UsageError as remez(), or another power.
RationalFit zolotarev(Power power, int poles, Interval interval);

/// The fewest poles with which remez() reaches an error.
/// \throws UsageError 40 poles do not.
RationalFit fit_to_error(Power power, double error, Interval interval);

/// The largest |r(x) / x^p - 1| at 20 points a pole and decade, in double precision: what a run sees.
double measured_error(const RationalFunction& r, Power power, Interval interval);

}  // namespace quarksmith
