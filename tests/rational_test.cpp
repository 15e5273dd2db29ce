#include "solvers/hmc/rational.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

struct RootCase {
  Power power;
  int poles;
  Interval interval;
};

const RootCase cases[] = {{{-1, 2}, 8, {1e-3, 1}},
                          {{1, 4}, 10, {1e-4, 30}},
                          {{-1, 4}, 12, {1e-6, 64}},
                          {{-3, 8}, 7, {1e-2, 5}},
                          {{1, 3}, 6, {0.5, 80}}};

/// Of each case, found once.
const RationalFit& fit_of(const RootCase& c) {
  static std::map<const RootCase*, RationalFit> found;
  if (!found.contains(&c)) found.emplace(&c, remez(c.power, c.poles, c.interval));
  return found.at(&c);
}

/// The largest deviation of each sign in turn, from the lower end on.
std::vector<double> alternation(const RationalFunction& r, double power, Interval on) {
  std::vector<double> found;
  constexpr int points = 200000;
  for (int i = 0; i <= points; ++i) {
    const double x = on.lower * std::pow(on.upper / on.lower, static_cast<double>(i) / points);
    const double e = r(x) * std::pow(x, -power) - 1;
    if (found.empty() || std::signbit(e) != std::signbit(found.back()))
      found.push_back(e);
    else if (std::abs(e) > std::abs(found.back()))
      found.back() = e;
  }
  return found;
}

/// What is best alternates 2 n + 2 times between its largest deviations, and nothing else does (Chebyshev).
TEST(Rational, DeviationsAlternate) {
  for (const RootCase& c : cases) {
    const RationalFit& fit = fit_of(c);
    const std::vector<double> found = alternation(fit.function, c.power.value(), c.interval);
    ASSERT_EQ(found.size(), 2U * c.poles + 2) << c.power.numerator << "/" << c.power.denominator;
    for (const double e : found) EXPECT_NEAR(std::abs(e), fit.error, 1e-4 * fit.error + 1e-14);
    EXPECT_NEAR(measured_error(fit.function, c.power, c.interval), fit.error, 0.02 * fit.error);
  }
}

TEST(Rational, InverseIsThatOfTheSameFunction) {
  for (const RootCase& c : cases) {
    const RationalFit& fit = fit_of(c);
    ASSERT_EQ(fit.inverse.poles.size(), fit.function.poles.size());
    for (double x = c.interval.lower; x < c.interval.upper; x *= 1.3)
      EXPECT_NEAR(fit.function(x) * fit.inverse(x), 1, 1e-11);
  }
}

TEST(Rational, ClosedFormOfSquareRoots) {
  for (const int sign : {1, -1})
    for (const int poles : {1, 5, 14}) {
      const Interval on{2e-5, 7};
      const RationalFit a = remez({sign, 2}, poles, on), b = zolotarev({sign, 2}, poles, on);
      EXPECT_NEAR(a.error, b.error, 1e-9 * b.error);
      ASSERT_EQ(a.function.poles.size(), b.function.poles.size());
      EXPECT_NEAR(a.function.constant, b.function.constant, 1e-8 * std::abs(b.function.constant));
      for (int i = 0; i < poles; ++i) {
        EXPECT_NEAR(a.function.poles[i], b.function.poles[i], 1e-8 * b.function.poles[i]);
        EXPECT_NEAR(a.function.residues[i], b.function.residues[i], 1e-8 * std::abs(b.function.residues[i]));
        EXPECT_GT(a.function.poles[i], 0);
      }
    }
}

TEST(Rational, FewestPolesForAnError) {
  for (const auto& [error, on] : {std::pair{0.5, Interval{1e-4, 64}}, {1e-3, {0.5, 80}}, {1e-8, {0.5, 80}}}) {
    const RationalFit fit = fit_to_error({-1, 4}, error, on);
    const int poles = static_cast<int>(fit.function.poles.size());
    EXPECT_LE(fit.error, error);
    if (poles > 1) {
      EXPECT_GT(remez({-1, 4}, poles - 1, on).error, error) << poles;
    }
  }
}

/// At most twice the error, never a tolerance below that of all, and where the heat bath has small residues a looser
/// one.
TEST(Rational, PolesShareAnError) {
  const Interval on = {1e-3, 100};
  for (const Power power : {Power{-1, 2}, {1, 4}}) {
    const RationalFunction r = remez(power, 10, on).function;
    for (const int order : {1, 2}) {
      constexpr double tolerance = 1e-9;
      const std::vector<double> found = pole_tolerances(r, on.lower, tolerance, order);
      double same = 0, shared = 0;
      for (std::size_t k = 0; k < r.poles.size(); ++k) {
        const double weight = std::abs(r.residues[k]) / (on.lower + r.poles[k]);
        same += weight * std::pow(tolerance, order), shared += weight * std::pow(found[k], order);
        EXPECT_GE(found[k], tolerance);
      }
      EXPECT_LE(shared, 2 * same * (1 + 1e-12));
      if (power.numerator > 0) {
        EXPECT_GT(found[0], (order == 1 ? 20 : 4) * tolerance);
      }
    }
  }
}

TEST(Rational, RefusesWhatHasNone) {
  EXPECT_THROW(remez({1, 1}, 4, {0.1, 1}), UsageError);
  EXPECT_THROW(remez({0, 2}, 4, {0.1, 1}), UsageError);
  EXPECT_THROW(remez({1, 2}, 0, {0.1, 1}), UsageError);
  EXPECT_THROW(remez({1, 2}, 41, {0.1, 1}), UsageError);
  EXPECT_THROW(remez({1, 2}, 4, {0, 1}), UsageError);
  EXPECT_THROW(remez({1, 2}, 4, {2, 1}), UsageError);
  EXPECT_THROW(zolotarev({1, 4}, 4, {0.1, 1}), UsageError);
  EXPECT_THROW(fit_to_error({1, 2}, 1e-16, {0.1, 1}), UsageError);
  EXPECT_THROW(fit_to_error({1, 2}, 1e-15, {1e-12, 1}), UsageError);  // 40 poles do not reach it
}

}  // namespace
}  // namespace quarksmith
