#include "solvers/hmc/improved_force.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/ranks/enclosure.hpp"

namespace quarksmith {
namespace {

using Scratch = std::shared_ptr<LinkField>;

/// A stage of smearing backwards: half the derivative by u from that by its fat and, unless null, its long links.
class Level {
 public:
  Level(const EvolvingLinks& links, const LinkField& u, const StapleCoefficients& c)
      : links_(links),
        around_(links.domain(), {{2, 2, 2, 2}, true}, "the force of fat links"),
        u_(around_.read(u)),
        c_(c) {
    for (Scratch* f : {&by_v_, &by_side_, &three_, &five_, &by_three_, &by_five_, &zero_}) *f = field();
  }

  /// In memory of this, or `out`.
  const LinkField& back(const LinkField& derivative_by_fat, const LinkField* derivative_by_long, const LinkField& out) {
    const Scratch copy = field();
    const LinkField& by_fat = around_.read(derivative_by_fat, *copy);
    // Up and down again is the link itself: Lepage's paths are staples of staples but for six of these.
    evaluate("one_link", {by_fat, c_.one - 6 * c_.lepage, *by_v_});
    by_side_->fill(0);
    if (derivative_by_long != nullptr && c_.naik != 0)
      evaluate("back_naik", {u_, around_.read(*derivative_by_long, *five_), *by_side_, c_.naik, *by_side_});
    zero_->fill(0);
    for (int mu = 0; mu < directions; ++mu)
      for (int nu = 0; nu < directions; ++nu)
        if (nu != mu) plane(by_fat, mu, nu);
    evaluate("kick", {*by_v_, *by_side_, 1, *by_v_});
    return around_.take(*by_v_, out);
  }

 private:
  /// Paths whose last step aside is nu: three links, and what five and seven are made of.
  void plane(const LinkField& by_fat, int mu, int nu) {
    const LinkField* begun = &by_fat;
    staples(u_, mu, nu, *three_);
    if (c_.lepage != 0) {
      step(*three_, by_fat, *begun, *by_three_, mu, nu, c_.lepage / c_.three, c_.lepage);
      begun = by_three_.get();
    }
    for (int rho = 0; rho < directions; ++rho) {
      if (rho == mu || rho == nu) continue;
      const int sigma = 0 + 1 + 2 + 3 - mu - nu - rho;
      staples(*three_, mu, rho, *five_);
      step(*five_, by_fat, by_fat, *by_five_, mu, sigma, c_.seven / c_.five, c_.seven);
      step(*three_, *by_five_, *begun, *by_three_, mu, rho, c_.five / c_.three, c_.five);
      begun = by_three_.get();
    }
    step(u_, *by_three_, *by_v_, *by_v_, mu, nu, c_.three, c_.three);
  }
  void staples(const LinkField& v, int mu, int nu, const LinkField& out) const {
    evaluate("last_staple", {u_, v, *zero_, 1, LatticeDirection{mu}, LatticeDirection{nu}, out});
  }
  /// What `begun` and the derivative by v are together, into by_v, and what is added to that by the links aside, given
  /// g by the staples of v.
  void step(const LinkField& v, const LinkField& g, const LinkField& begun, const LinkField& by_v, int mu, int nu,
            double weight_v, double weight_side) {
    evaluate("back_staple", {u_, v, g, begun, *by_side_, weight_v, weight_side, LatticeDirection{mu},
                             LatticeDirection{nu}, by_v, *by_side_});
  }
  Scratch field() const { return links_.scratch(around_.domain()); }

  const EvolvingLinks& links_;
  Enclosure around_;
  const LinkField& u_;
  StapleCoefficients c_;
  Scratch by_v_, by_side_, three_, five_, by_three_, by_five_, zero_;
};

}  // namespace

long long add_improved_force(const EvolvingLinks& links, const LinkStore& store, const ActionValues& action,
                             const LinkField& by_fat, const LinkField& by_long, LinkField& p) {
  const auto stages = action.info().link_stages;
  const std::vector<ProjectedLinks>& made = improved_link_fields(action, store).stages;
  const LinkField& u = store.plain();
  long long damped = 0;
  const Scratch by = links.scratch(links.domain()), out = links.scratch(links.domain());
  for (std::size_t n = stages.size(); n-- > 0;) {
    const bool last = n + 1 == stages.size();
    Level level(links, n == 0 ? u : made[n - 1].links, coefficients_of(stages[n], action));
    const LinkField& by_from = last ? level.back(by_fat, &by_long, *out) : level.back(*by, nullptr, *out);
    if (n == 0) {
      evaluate("force_link", {u, by_from, p, p});
    } else {
      evaluate("back_project_u3", {made[n - 1].sums, by_from, *by});
      damped += std::llround(evaluate("damped_projections", {made[n - 1].sums})[0]);
    }
  }
  return damped;
}

}  // namespace quarksmith
