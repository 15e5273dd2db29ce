// Integrators on two coupled anharmonic oscillators: order, reversibility, sequences.
#include "solvers/hmc/integrator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace quarksmith {
namespace {

using Scheme = IntegratorLevel::Scheme;

/// H = p^2/2 + q^4/4 (monomial 0) + 8 q^2 / 2 (monomial 1).
struct Oscillator final : Dynamics {
  double q = 0.7, p = -0.4;
  std::string sequence;
  std::array<int, 2> kicks{};

  static double force(int monomial, double q) { return monomial == 0 ? -q * q * q : -8 * q; }
  void kick(const std::vector<int>& monomials, double step, double displacement, int count) override {
    double all = 0, at = q;
    for (const int n : monomials) all += force(n, q);
    if (displacement != 0) at = q + displacement * all;
    for (const int n : monomials) {
      p += step * force(n, at);
      kicks[n] += count;
      sequence += char('0' + n);
    }
  }
  void drift(double step) override {
    q += step * p;
    sequence += 'Q';
  }
  double energy() const { return p * p / 2 + q * q * q * q / 4 + 4 * q * q; }
};

std::vector<IntegratorLevel> nested(Scheme scheme, bool momenta_first, int steps) {
  IntegratorLevel outer{
      .scheme = scheme, .momenta_first = momenta_first, .steps = steps, .monomials = {0}, .kicks = {}};
  IntegratorLevel inner = outer;
  inner.steps = 2;
  inner.monomials = {1};
  return {outer, inner};
}

double error(const std::vector<IntegratorLevel>& levels) {
  Oscillator o;
  const double before = o.energy();
  integrate(levels, 1, o);
  return std::abs(o.energy() - before);
}

struct SchemeCase {
  Scheme scheme;
  bool momenta_first;
  int order;
};

TEST(Integrator, EnergyIsKeptToItsOrder) {
  for (const SchemeCase& c : {SchemeCase{Scheme::leapfrog, true, 2}, SchemeCase{Scheme::leapfrog, false, 2},
                              SchemeCase{Scheme::omelyan, true, 2}, SchemeCase{Scheme::omelyan, false, 2},
                              SchemeCase{Scheme::omelyan4, true, 4}, SchemeCase{Scheme::omelyan4, false, 4},
                              SchemeCase{Scheme::force_gradient, true, 4}}) {
    const double coarse = error(nested(c.scheme, c.momenta_first, 32)),
                 fine = error(nested(c.scheme, c.momenta_first, 64));
    EXPECT_NEAR(std::log2(coarse / fine), c.order, 0.15) << int(c.scheme) << ' ' << c.momenta_first;
  }
}

TEST(Integrator, GoesBackToWhereItBegan) {
  for (const Scheme scheme : {Scheme::leapfrog, Scheme::omelyan, Scheme::omelyan4, Scheme::force_gradient})
    for (const bool momenta_first : {true, false}) {
      if (scheme == Scheme::force_gradient && !momenta_first) continue;
      Oscillator o;
      integrate(nested(scheme, momenta_first, 5), 1, o);
      o.p = -o.p;
      integrate(nested(scheme, momenta_first, 5), 1, o);
      EXPECT_NEAR(o.q, 0.7, 1e-13);
      EXPECT_NEAR(o.p, 0.4, 1e-13);
    }
}

TEST(Integrator, KicksThatMeetAreOne) {
  Oscillator pqp, qpq;
  integrate(nested(Scheme::leapfrog, true, 2), 1, pqp);
  EXPECT_EQ(pqp.sequence, "01Q1Q10Q1Q10");   // the inner level's kicks before and after that of the outer one
  EXPECT_EQ(pqp.kicks, (std::array{3, 6}));  // those of the scheme
  integrate(nested(Scheme::leapfrog, false, 2), 1, qpq);
  EXPECT_EQ(qpq.sequence, "Q1Q1Q0Q1Q1Q0Q1Q1Q");
  // The one with lambda: in the order QPQ an inner level runs once over 2 lambda dt.
  Oscillator omelyan;
  integrate({{.scheme = Scheme::omelyan, .momenta_first = false, .steps = 2, .monomials = {0}, .kicks = {}}}, 1,
            omelyan);
  EXPECT_EQ(omelyan.sequence, "Q0Q0Q0Q0Q");
}

TEST(Integrator, StepsOfAGivenLengthAreAsManyAsTheIntervalTakes) {
  std::vector<IntegratorLevel> levels = nested(Scheme::omelyan, false, 1);
  levels[1].scheme = Scheme::leapfrog;
  levels[1].momenta_first = true;
  levels[1].longest = 0.25;
  Oscillator o;
  integrate(levels, 1, o);  // 0.193, 0.614 and 0.193 long
  EXPECT_EQ(o.sequence, "1Q10Q1Q1Q10Q1");
  levels[1].longest = 1.0 / 3;
  Oscillator exact;
  integrate({levels[1]}, 1, exact);
  EXPECT_EQ(exact.sequence, "1Q1Q1Q1");
}

TEST(Integrator, AScheduleOfLeapfrogIsLeapfrog) {
  IntegratorLevel schedule{.scheme = Scheme::schedule, .steps = 4, .monomials = {}, .kicks = {{0.5, 1, {0, 1}}}};
  IntegratorLevel leapfrog{
      .scheme = Scheme::leapfrog, .momenta_first = false, .steps = 4, .monomials = {0, 1}, .kicks = {}};
  Oscillator a, b;
  integrate({schedule}, 1, a);
  integrate({leapfrog}, 1, b);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.p, b.p);
  EXPECT_EQ(a.sequence, "Q01Q01Q01Q01Q");
  // Three kicks of one to one of the other, interleaved.
  schedule.kicks = {{1.0 / 6, 1.0 / 3, {1}}, {0.5, 1, {0}}, {0.5, 1.0 / 3, {1}}, {5.0 / 6, 1.0 / 3, {1}}};
  Oscillator coarse, fine;
  const double before = coarse.energy();
  schedule.steps = 16;
  integrate({schedule}, 1, coarse);
  schedule.steps = 32;
  integrate({schedule}, 1, fine);
  EXPECT_NEAR(std::log2(std::abs(coarse.energy() - before) / std::abs(fine.energy() - before)), 2, 0.15);
}

/// Leapfrogs forth, back and forth (M. Creutz and A. Gocksch, Phys. Rev. Lett. 63 (1989) 9).
TEST(Integrator, AScheduleMayGoBack) {
  const double s = 1 / (2 - std::cbrt(2));
  const std::vector<int> both = {0, 1};
  IntegratorLevel level{
      .scheme = Scheme::schedule,
      .monomials = {},
      .kicks = {{0, s / 2, both}, {s, (1 - s) / 2, both}, {1 - s, (1 - s) / 2, both}, {1, s / 2, both}}};
  std::vector<double> errors;
  for (const int steps : {8, 16}) {
    Oscillator o;
    const double before = o.energy();
    level.steps = steps;
    integrate({level}, 1, o);
    errors.push_back(std::abs(o.energy() - before));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.3);
}

TEST(Integrator, TellsWhetherItIsTheSameBackwards) {
  IntegratorLevel level{.scheme = Scheme::schedule, .monomials = {}, .kicks = {{0.2, 0.5, {0, 1}}, {0.8, 0.5, {0}}}};
  EXPECT_FALSE(is_reversible(level));
  level.kicks.insert(level.kicks.end(), {{0.8, 0.25, {1}}, {0.8, 0.25, {1}}});  // kicks at one time commute
  EXPECT_TRUE(is_reversible(level));
  level.kicks[0].time = 0.3;
  EXPECT_FALSE(is_reversible(level));
  for (const Scheme scheme : {Scheme::leapfrog, Scheme::omelyan, Scheme::omelyan4, Scheme::force_gradient})
    for (const bool momenta_first : {true, false}) {
      if (scheme == Scheme::force_gradient && !momenta_first) continue;
      EXPECT_TRUE(is_reversible({.scheme = scheme, .momenta_first = momenta_first, .monomials = {0}, .kicks = {}}));
    }
}

}  // namespace
}  // namespace quarksmith
