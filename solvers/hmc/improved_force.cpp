#include "solvers/hmc/improved_force.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"

namespace quarksmith {
namespace {

/// A stage of smearing backwards: half the derivative by u from that by its fat and, unless null, its long links.
class Level {
 public:
  Level(const EvolvingLinks& links, const LinkField& u, const StapleCoefficients& c)
      : links_(links),
        u_(u),
        c_(c),
        zero_(links.cleared()),
        by_v_(links.cleared()),
        by_side_(links.cleared()),
        three_(links.cleared()),
        five_(links.cleared()),
        by_three_(links.cleared()),
        by_five_(links.cleared()) {}

  LinkField back(const LinkField& by_fat, const LinkField* by_long) {
    // Up and down again is the link itself: Lepage's paths are staples of staples but for six of these.
    evaluate("kick", {zero_, by_fat, c_.one - 6 * c_.lepage, by_v_});
    if (by_long != nullptr && c_.naik != 0) evaluate("back_naik", {u_, *by_long, by_side_, c_.naik, by_side_});
    for (int mu = 0; mu < directions; ++mu)
      for (int nu = 0; nu < directions; ++nu)
        if (nu != mu) plane(by_fat, mu, nu);
    LinkField sum = links_.cleared();
    evaluate("kick", {by_v_, by_side_, 1, sum});
    return sum;
  }

 private:
  /// Paths whose last step aside is nu: three links, and what five and seven are made of.
  void plane(const LinkField& by_fat, int mu, int nu) {
    staples(u_, mu, nu, three_);
    evaluate("kick", {zero_, by_fat, 1, by_three_});
    if (c_.lepage != 0) step(three_, by_fat, by_three_, mu, nu, c_.lepage / c_.three, c_.lepage);
    for (int rho = 0; rho < directions; ++rho) {
      if (rho == mu || rho == nu) continue;
      const int sigma = 0 + 1 + 2 + 3 - mu - nu - rho;
      staples(three_, mu, rho, five_);
      evaluate("kick", {zero_, by_fat, 1, by_five_});
      step(five_, by_fat, by_five_, mu, sigma, c_.seven / c_.five, c_.seven);
      step(three_, by_five_, by_three_, mu, rho, c_.five / c_.three, c_.five);
    }
    step(u_, by_three_, by_v_, mu, nu, c_.three, c_.three);
  }
  void staples(const LinkField& v, int mu, int nu, LinkField& out) const {
    evaluate("last_staple", {u_, v, zero_, 1, LatticeDirection{mu}, LatticeDirection{nu}, out});
  }
  /// Adds to the derivative by v and to that by the links aside, given g by the staples of v.
  void step(const LinkField& v, const LinkField& g, LinkField& by_v, int mu, int nu, double weight_v,
            double weight_side) {
    evaluate("back_staple", {u_, v, g, by_v, by_side_, weight_v, weight_side, LatticeDirection{mu},
                             LatticeDirection{nu}, by_v, by_side_});
  }

  const EvolvingLinks& links_;
  const LinkField& u_;
  StapleCoefficients c_;
  LinkField zero_, by_v_, by_side_, three_, five_, by_three_, by_five_;
};

}  // namespace

long long add_improved_force(const EvolvingLinks& links, const LinkField& u, const ActionValues& action,
                             const LinkField& by_fat, const LinkField& by_long, LinkField& p) {
  const auto stages = action.info().link_stages;
  std::vector<LinkField> made;  // from what each stage is made, before it is projected on U(3)
  std::vector<LinkField> read;
  for (std::size_t n = 0; n + 1 < stages.size(); ++n) {
    made.push_back(std::move(make_links(stages[n], action, n == 0 ? u : read.back())[0]));
    if (!stages[n].project) throw MissingKernel("links that are smeared twice without projection have no force");
    read.push_back(project_u3(made.back()));
  }
  long long damped = 0;
  std::optional<LinkField> by;
  for (std::size_t n = stages.size(); n-- > 0;) {
    const LinkField& from = n == 0 ? u : read[n - 1];
    Level level(links, from, coefficients_of(stages[n], action));
    LinkField by_from = by ? level.back(*by, nullptr) : level.back(by_fat, &by_long);
    if (n == 0) {
      evaluate("force_link", {u, by_from, p, p});
    } else {
      by.emplace(links.cleared());
      evaluate("back_project_u3", {made[n - 1], by_from, *by});
      damped += std::llround(evaluate("damped_projections", {made[n - 1]})[0]);
    }
  }
  return damped;
}

}  // namespace quarksmith
