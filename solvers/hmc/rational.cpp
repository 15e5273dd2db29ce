#include "solvers/hmc/rational.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/error.hpp"
#include "solvers/hmc/precise.hpp"

namespace quarksmith {
namespace {

constexpr double loosest = 1e-2;  ///< tolerance of poles with negligible weight

using PreciseNumbers = std::vector<Precise>;

/// c[0] + c[1] x + ...
Precise polynomial(const PreciseNumbers& c, const Precise& x) {
  Precise sum = c.back();
  for (std::size_t i = c.size() - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

PreciseNumbers derivative(const PreciseNumbers& c) {
  PreciseNumbers d;
  for (std::size_t i = 1; i < c.size(); ++i) d.push_back(c[i] * static_cast<double>(i));
  return d;
}

/// The root nearest to 0 of a polynomial whose roots are all real and negative: Laguerre's iteration from 0 converges
/// to it without passing it.
Precise next_root(const PreciseNumbers& c) {
  const PreciseNumbers c1 = derivative(c), c2 = derivative(c1);
  const double n = static_cast<double>(c.size() - 1);
  Precise x = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const Precise p = polynomial(c, x);
    if (p.rounded() == 0 && !(abs(p) > 0.0)) return x;
    const Precise g = polynomial(c1, x) / p;
    if (!(g > 0.0)) return x;  // rounding has led past the root: g is positive on the right of all
    const Precise h = g * g - (c2.empty() ? Precise(0.0) : polynomial(c2, x) / p);
    const Precise square = (n * h - g * g) * (n - 1);
    const Precise root = square > 0.0 ? sqrt(square) : Precise(0.0);
    const Precise step = Precise(n) / (g + root);
    x -= step;
    if (abs(step) < abs(x) * std::ldexp(1.0, -300)) return x;
  }
  throw Error("a polynomial of a rational approximation has no real root: ask for fewer poles");
}

/// All roots of a polynomial, coefficients from degree 0 on.
PreciseNumbers roots_of(PreciseNumbers c) {
  PreciseNumbers roots;
  while (c.size() > 1) {
    roots.push_back(next_root(c));
    PreciseNumbers quotient(c.size() - 1);
    Precise carried = 0.0;
    for (std::size_t i = c.size() - 1; i-- > 0;) quotient[i] = carried = c[i + 1] + carried * roots.back();
    c = quotient;
  }
  return roots;
}

/// Solution of a linear system given by rows, the right-hand side in the last column.
PreciseNumbers solution(std::vector<PreciseNumbers> rows) {
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto larger = [k](const PreciseNumbers& a, const PreciseNumbers& b) { return abs(a[k]) < abs(b[k]); };
    std::swap(rows[k], *std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(), larger));
    for (std::size_t i = k + 1; i < n; ++i) {
      const Precise factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  PreciseNumbers x(n);
  for (std::size_t k = n; k-- > 0;) {
    Precise rest = rows[k][n];
    for (std::size_t j = k + 1; j < n; ++j) rest -= rows[k][j] * x[j];
    x[k] = rest / rows[k][k];
  }
  return x;
}

/// Jacobi's sn(u, k) and K(k) by the arithmetic-geometric mean (Abramowitz and Stegun, 16.4 and 17.6).
class Elliptic {
 public:
  explicit Elliptic(const Precise& complementary) {  // k' = sqrt(1 - k^2)
    Precise a = 1.0, b = complementary;
    ratio_.push_back(sqrt(Precise(1.0) - b * b));
    while (abs(ratio_.back()) > std::ldexp(1.0, -1000)) {
      const Precise mean = (a + b) / 2.0, difference = (a - b) / 2.0;
      b = sqrt(a * b);
      a = mean;
      ratio_.push_back(difference / a);
    }
    mean_ = a;
  }
  Precise quarter_period() const { return Precise::pi() / (2.0 * mean_); }
  Precise sn(const Precise& u) const {
    Precise angle = u * mean_ * std::ldexp(1.0, static_cast<int>(ratio_.size()) - 1);
    for (std::size_t i = ratio_.size() - 1; i > 0; --i) angle = (angle + asin(ratio_[i] * sin(angle))) / 2.0;
    return sin(angle);
  }

 private:
  PreciseNumbers ratio_;  ///< c_i / a_i
  Precise mean_;
};

/// r(x) / x^power - 1, r = p / q.
struct Deviation {
  const PreciseNumbers &p, &q;
  Precise power;

  Precise operator()(const Precise& x) const {
    return polynomial(p, x) / (polynomial(q, x) * exp(power * log(x))) - 1.0;
  }
};

/// The coefficients of a best approximation on [lower, 1].
struct Fraction {
  PreciseNumbers p, q;
  Precise error;
};

/// Finds p and q such that r / x^power - 1 has the same size and alternating signs at the points x.
void level(Fraction& f, const PreciseNumbers& x, const PreciseNumbers& exact) {
  const std::size_t n = f.q.size() - 1, points = x.size();
  for (int pass = 0; pass < 60; ++pass) {
    std::vector<PreciseNumbers> rows(points, PreciseNumbers(points + 1));
    for (std::size_t i = 0; i < points; ++i) {
      Precise xj = 1.0;
      const Precise q = polynomial(f.q, x[i]);
      for (std::size_t j = 0; j <= n; ++j, xj *= x[i]) {
        rows[i][j] = xj;
        (j < n ? rows[i][n + 1 + j] : rows[i][points]) = exact[i] * xj * (j < n ? -1.0 : 1.0);
      }
      rows[i][points - 1] = exact[i] * q * (i % 2 == 0 ? -1.0 : 1.0);
    }
    const PreciseNumbers found = solution(std::move(rows));
    const Precise change = abs(found.back() - f.error);
    for (std::size_t j = 0; j <= n; ++j) f.p[j] = found[j];
    for (std::size_t j = 0; j < n; ++j) f.q[j] = found[n + 1 + j];
    f.error = found.back();
    if (change < abs(f.error) * 1e-20) return;
  }
}

/// Position of the largest deviation between two points, by golden sections in log x.
Precise worst_between(const Deviation& error, const Precise& left, const Precise& middle, const Precise& right) {
  const double sign = error(middle) > 0.0 ? 1 : -1;
  const auto at = [&](double s) { return (error(exp(s)) * sign).rounded(); };
  double a = log(left).rounded(), c = log(right).rounded(), b = log(middle).rounded();
  constexpr double golden = 0.3819660112501051;
  double fb = at(b);
  for (int i = 0; i < 60 && c - a > 1e-9; ++i) {  // closer is not needed: it is flat where it is largest
    const bool upper = c - b > b - a;
    const double d = upper ? b + golden * (c - b) : b - golden * (b - a), fd = at(d);
    if (fd > fb) {
      (upper ? a : c) = b;
      b = d;
      fb = fd;
    } else {
      (upper ? c : a) = d;
    }
  }
  return exp(b);
}

/// The points at which the best approximation of x^(-1/2) on [lower, 1] is worst: lower / dn^2(j K / (2n + 1)).
PreciseNumbers worst_of_square_root(int poles, const Precise& lower) {
  const Elliptic elliptic(sqrt(lower));
  const int last = 2 * poles + 1;
  PreciseNumbers points;
  for (int j = 0; j <= last; ++j) {
    const Precise sn = elliptic.sn(elliptic.quarter_period() * static_cast<double>(j) / static_cast<double>(last));
    points.push_back(j == last ? Precise(1.0) : lower / (Precise(1.0) - (Precise(1.0) - lower) * sn * sn));
  }
  return points;
}

/// The best approximation of x^(1/2) or x^(-1/2) on [lower, 1] up to a factor: zeros and poles of that of x^(-1/2) are
/// -c_2, -c_4, ... and -c_1, -c_3, ..., c_j = lower sn^2/cn^2 (j K / (2n + 1)).
Fraction square_root(bool positive, int poles, const Precise& lower) {
  const Elliptic elliptic(sqrt(lower));
  Fraction f{{1.0}, {1.0}, 0.0};
  for (int j = 1; j <= 2 * poles; ++j) {
    const Precise sn = elliptic.sn(elliptic.quarter_period() * static_cast<double>(j) / (2.0 * poles + 1));
    const Precise c = lower * sn * sn / (Precise(1.0) - sn * sn);
    PreciseNumbers& factors = (j % 2 == 0) != positive ? f.p : f.q;
    factors.insert(factors.begin(), Precise(0.0));
    for (std::size_t i = 0; i + 1 < factors.size(); ++i) factors[i] += c * factors[i + 1];
  }
  return f;
}

Fraction best(const Precise& power, int poles, const Precise& lower) {
  PreciseNumbers x = worst_of_square_root(poles, lower);
  Fraction f = square_root(power > 0.0, poles, lower);
  for (int round = 0; round < 100; ++round) {
    PreciseNumbers exact;
    for (const Precise& xi : x) exact.push_back(exp(power * log(xi)));
    level(f, x, exact);
    const Deviation error{f.p, f.q, power};
    PreciseNumbers moved = x;
    for (std::size_t i = 1; i + 1 < x.size(); ++i) moved[i] = worst_between(error, x[i - 1], x[i], x[i + 1]);
    Precise least = abs(error(moved[0])), largest = least;
    for (const Precise& xi : moved) {
      const Precise e = abs(error(xi));
      if (e < least) least = e;
      if (e > largest) largest = e;
    }
    x = std::move(moved);
    f.error = largest;
    if (largest < least * (1 + 1e-9)) return f;
  }
  throw Error(fmt::format("no best rational approximation with {} poles was found; ask for another number", poles));
}

/// r(x / upper) upper^power as partial fractions.
RationalFunction parted(const Fraction& f, const Precise& power, const Precise& upper) {
  const Precise scale = exp(power * log(upper));
  RationalFunction r;
  r.constant = (f.p.back() / f.q.back() * scale).rounded();
  const PreciseNumbers slope = derivative(f.q);
  for (const Precise& root : roots_of(f.q)) {
    r.poles.push_back((-root * upper).rounded());
    r.residues.push_back((polynomial(f.p, root) / polynomial(slope, root) * scale * upper).rounded());
  }
  return r;
}

RationalFit fit_of(const Fraction& f, const Precise& power, const Precise& upper, double error) {
  return {parted(f, power, upper), error, parted({f.q, f.p, {}}, -power, upper)};
}

void check(Power power, int poles, Interval interval) {
  if (power.denominator == 0 || power.numerator == 0 || !(std::abs(power.value()) < 1))
    throw UsageError(fmt::format("rational approximation of x^({}/{}): use a power between -1 and 1, and not 0",
                                 power.numerator, power.denominator));
  if (poles < 1 || poles > most_poles)
    throw UsageError(fmt::format("rational approximation with {} poles; use 1 to {}", poles, most_poles));
  if (!(interval.lower > 0 && interval.upper > interval.lower && interval.upper / interval.lower <= 1e12))
    throw UsageError(
        fmt::format("rational approximation on {} to {}: use positive ends, the lower first, at most a "
                    "factor of 1e12 apart",
                    interval.lower, interval.upper));
}

}  // namespace

double RationalFunction::operator()(double x) const {
  double sum = constant;
  for (std::size_t i = 0; i < poles.size(); ++i) sum += residues[i] / (x + poles[i]);
  return sum;
}

std::vector<double> pole_tolerances(const RationalFunction& r, double lower, double tolerance, int order) {
  double weights = 0, costs = 0;
  const auto weight = [&](std::size_t k) { return std::abs(r.residues[k]) / (lower + r.poles[k]); };
  const auto cost = [&](std::size_t k) { return 1 / std::sqrt(lower + r.poles[k]); };
  for (std::size_t k = 0; k < r.poles.size(); ++k) weights += weight(k), costs += cost(k);
  std::vector<double> found;
  for (std::size_t k = 0; k < r.poles.size(); ++k) {
    const double share = cost(k) / costs * weights / weight(k);
    found.push_back(std::max(tolerance, std::min(tolerance * std::pow(share, 1.0 / order), loosest)));
  }
  return found;
}

RationalFit remez(Power power, int poles, Interval interval) {
  check(power, poles, interval);
  const Precise p = Precise(power.numerator) / Precise(power.denominator), upper = interval.upper;
  const Fraction f = best(p, poles, Precise(interval.lower) / upper);
  return fit_of(f, p, upper, f.error.rounded());
}

RationalFit zolotarev(Power power, int poles, Interval interval) {
  check(power, poles, interval);
  if (power.denominator != 2 * std::abs(power.numerator))
    throw UsageError(
        fmt::format("Zolotarev's approximation of x^({}/{}): use 1/2 or -1/2", power.numerator, power.denominator));
  const Precise upper = interval.upper, lower = Precise(interval.lower) / upper;
  Fraction f = square_root(power.value() > 0, poles, lower);
  const Precise p = power.value();
  Precise low = 1e300, high = 0.0;
  for (const Precise& x : worst_of_square_root(poles, lower)) {
    const Precise ratio = Deviation{f.p, f.q, p}(x) + 1.0;
    if (ratio < low) low = ratio;
    if (ratio > high) high = ratio;
  }
  for (Precise& c : f.p) c *= 2.0 / (low + high);
  return fit_of(f, p, upper, ((high - low) / (high + low)).rounded());
}

RationalFit fit_to_error(Power power, double error, Interval interval) {
  if (!(error >= 1e-15 && error < 1))
    throw UsageError(fmt::format("rational approximation to {}; use 1e-15 to 1", error));
  // The error falls with each pole, and by about the same factor: the next number is where a line through the last two
  // logarithms meets the tolerance. Without a pole the best constant leaves nearly 1.
  int fails = 0, reaches = most_poles + 1, poles = 1, before = 0;
  double log_before = 0;
  RationalFit found;
  while (reaches - fails > 1) {
    RationalFit fit = remez(power, poles, interval);
    const double log_error = std::log(fit.error), fall = (log_before - log_error) / (poles - before);
    (fit.error <= error ? reaches : fails) = poles;
    if (fit.error <= error || fails == most_poles) found = std::move(fit);
    before = std::exchange(poles, poles + static_cast<int>(std::ceil((log_error - std::log(error)) / fall)));
    log_before = log_error;
    poles = std::max(fails + 1, std::min(poles, reaches - 1));
  }
  if (reaches > most_poles)
    throw UsageError(
        fmt::format("rational approximation of x^({}/{}) on {} to {}: {} poles leave an error of {:.2g}; "
                    "ask for that, or narrow the interval",
                    power.numerator, power.denominator, interval.lower, interval.upper, most_poles, found.error));
  return found;
}

double measured_error(const RationalFunction& r, Power power, Interval interval) {
  const double decades = std::log10(interval.upper / interval.lower);
  const int points = static_cast<int>(20 * (decades + 1) * static_cast<double>(r.poles.size() + 1));
  double worst = 0;
  for (int i = 0; i <= points; ++i) {
    const double x = interval.lower * std::pow(interval.upper / interval.lower, static_cast<double>(i) / points);
    worst = std::max(worst, std::abs(r(x) / std::pow(x, power.value()) - 1));
  }
  return worst;
}

}  // namespace quarksmith
