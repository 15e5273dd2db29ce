#include "solvers/hmc/integrator.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace quarksmith {
namespace {

using Scheme = IntegratorLevel::Scheme;

/// P or Q for a length in units of a step.
struct Stage {
  double length;
  const std::vector<int>* monomials = nullptr;  ///< null: Q
  double displacement = 0;                      ///< in units of a step squared
};

/// Stages in turn, P first or Q first, their lengths symmetric.
std::vector<Stage> in_turn(const IntegratorLevel& level, const std::vector<double>& lengths) {
  std::vector<Stage> stages;
  bool kick = level.momenta_first;
  for (const double length : lengths) {
    stages.push_back({length, kick ? &level.monomials : nullptr});
    kick = !kick;
  }
  return stages;
}

std::vector<double> fourth_order(bool momenta_first) {
  if (momenta_first) {
    const double theta = 0.08398315262876693, rho = 0.2539785108410595, lambda = 0.6822365335719091,
                 mu = -0.03230286765269967;
    const double v = 0.5 - theta - lambda, t = 1 - 2 * (mu + rho);
    return {theta, rho, lambda, mu, v, t, v, mu, lambda, rho, theta};
  }
  const double rho = 0.1786178958448091, theta = -0.06626458266981843, lambda = 0.7123418310626056;
  const double v = 0.5 - lambda, t = 1 - 2 * (theta + rho);
  return {rho, lambda, theta, v, t, v, theta, lambda, rho};
}

std::vector<Stage> scheduled(const IntegratorLevel& level) {
  std::vector<Stage> stages;
  double time = 0;
  for (const Kick& kick : level.kicks) {
    if (kick.time != time) stages.push_back({kick.time - time});
    stages.push_back({kick.weight, &kick.monomials});
    time = kick.time;
  }
  if (time != 1) stages.push_back({1 - time});
  return stages;
}

/// A step.
std::vector<Stage> stages_of(const IntegratorLevel& level) {
  const double l = level.lambda;
  switch (level.scheme) {
    case Scheme::leapfrog:
      return in_turn(level, {0.5, 1, 0.5});
    case Scheme::omelyan:
      return in_turn(level, {l, 0.5, 1 - 2 * l, 0.5, l});
    case Scheme::omelyan4:
      return in_turn(level, fourth_order(level.momenta_first));
    case Scheme::force_gradient: {
      // The kick in the middle is that of V - |grad V|^2 dt^2 / 48.
      std::vector<Stage> stages = in_turn(level, {1.0 / 6, 0.5, 2.0 / 3, 0.5, 1.0 / 6});
      stages[2].displacement = 1.0 / 24;
      return stages;
    }
    default:
      return scheduled(level);
  }
}

/// The stages of all steps; adjacent stages of one kind are merged.
std::vector<Stage> all_stages(const IntegratorLevel& level, int steps) {
  const std::vector<Stage> step = stages_of(level);
  std::vector<Stage> all;
  for (int n = 0; n < steps; ++n)
    for (const Stage& stage : step) {
      const bool joins = &stage == &step.front() && !all.empty() && all.back().monomials == stage.monomials;
      if (joins)
        all.back().length += stage.length;
      else
        all.push_back(stage);
    }
  return all;
}

/// Number of steps in an interval, safe against rounding up by one.
int steps_of(const IntegratorLevel& level, double length) {
  if (level.longest == 0) return level.steps;
  return std::max(1, static_cast<int>(std::ceil(std::abs(length) / level.longest - 1e-9)));
}

void run(const std::vector<IntegratorLevel>& levels, std::size_t at, double length, Dynamics& dynamics) {
  if (at == levels.size()) return dynamics.drift(length);
  const IntegratorLevel& level = levels[at];
  const int steps = steps_of(level, length);
  const double dt = length / steps;
  for (const Stage& stage : all_stages(level, steps))
    if (stage.monomials == nullptr)
      run(levels, at + 1, stage.length * dt, dynamics);
    else
      dynamics.kick(*stage.monomials, stage.length * dt, stage.displacement * dt * dt, 1);
}

/// Kicks at the same links as one: where the steps of a level end, those of the level outside begin with a kick of
/// their own, after which the next one is the first of the inner level again. Forces do not depend on the momenta.
class Joined final : public Dynamics {
 public:
  explicit Joined(Dynamics& dynamics) : dynamics_(&dynamics) {}
  void kick(const std::vector<int>& monomials, double step, double displacement, int count) override {
    if (displacement == 0)
      for (Waiting& w : waiting_)
        if (w.displacement == 0 && w.monomials == monomials) {
          w.step += step;
          w.count += count;
          return;
        }
    waiting_.push_back({monomials, step, displacement, count});
  }
  void drift(double step) override {
    finish();
    dynamics_->drift(step);
  }
  void finish() {
    for (const Waiting& w : waiting_) dynamics_->kick(w.monomials, w.step, w.displacement, w.count);
    waiting_.clear();
  }

 private:
  struct Waiting {
    std::vector<int> monomials;
    double step, displacement;
    int count;
  };
  Dynamics* dynamics_;
  std::vector<Waiting> waiting_;
};

}  // namespace

bool is_reversible(const IntegratorLevel& level) {
  constexpr double rounding = 1e-8;             // numbers of files
  std::vector<std::map<int, double>> kicks(1);  // weights by monomial, before and after each length of Q
  std::vector<double> lengths;
  for (const Stage& stage : stages_of(level)) {
    if (stage.monomials == nullptr) {
      lengths.push_back(stage.length);
      kicks.emplace_back();
    } else {
      for (const int n : *stage.monomials) kicks.back()[n] += stage.length;
    }
  }
  const auto close = [](double a, double b) { return std::abs(a - b) < rounding; };
  const auto alike = [&](const std::map<int, double>& a, const std::map<int, double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const auto& x, const auto& y) { return x.first == y.first && close(x.second, y.second); });
  };
  return std::equal(lengths.begin(), lengths.end(), lengths.rbegin(), close) &&
         std::equal(kicks.begin(), kicks.end(), kicks.rbegin(), alike);
}

void integrate(const std::vector<IntegratorLevel>& levels, double length, Dynamics& dynamics) {
  Joined joined(dynamics);
  run(levels, 0, length, joined);
  joined.finish();
}

}  // namespace quarksmith
