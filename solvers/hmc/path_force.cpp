#include "solvers/hmc/path_force.hpp"

#include <cstdlib>
#include <optional>

namespace quarksmith {
namespace {

/// The force of one right-hand side along the paths of links of an action.
class Paths {
 public:
  Paths(const ActionInfo& action, const LinkField& u, const ExpressionSettings& settings)
      : action_(action), u_(u), settings_(settings), hops_{settings.boundary} {}

  void add_force(const SpinorField& psi, const SpinorField& chi, double weight, LinkField& p) {
    go_beyond(psi);
    std::vector<std::optional<SpinorField>> reached(beyond_.size());  // chi taken along the paths
    reached[0].emplace(chi.like()).copy_from(chi);
    const auto steps = action_.path_steps;
    for (std::size_t n = 0; n < steps.size(); ++n) {
      const auto [from, to, step] = steps[n];
      const SpinorField &before = *reached[from], &after = beyond_[to];
      const LatticeDirection mu = along(step);
      if (step > 0)
        evaluate("force_path", {u_, after, before, p, weight, mu}, {p}, hops_);
      else  // Re before^+ U^+ after is Re after^+ U before
        evaluate("force_path", {u_, before, after, p, weight, mu}, {p}, hops_);
      if (goes_on(to)) {
        if (!reached[to]) reached[to].emplace(chi.like()).fill(0);
        carry(before, *reached[to], -step);
      }
      if (n + 1 == steps.size() || steps[n + 1].from != from) reached[from].reset();
    }
  }

 private:
  static LatticeDirection along(int step) { return {std::abs(step) - 1}; }
  /// to += U_mu from(x + mu), or U_mu^+ from(x - mu)
  void carry(const SpinorField& from, SpinorField& to, int step) const {
    evaluate(step > 0 ? "path_ahead" : "path_behind", {u_, from, to, along(step)}, {to}, hops_);
  }
  /// Whether a path continues from a field.
  bool goes_on(int field) const {
    for (const PathStep& s : action_.path_steps)
      if (s.from == field) return true;
    return false;
  }
  /// Transports psi from the ends of the paths back to the start of each step; not to field 0, which would be M psi.
  void go_beyond(const SpinorField& psi) {
    for (const PathEnd& end : action_.path_ends) {
      beyond_.emplace_back(psi.like()).fill(0);
      evaluate("path_end", {psi, beyond_.back(), end[0], end[1], end[2], end[3], end[4]}, {beyond_.back()}, settings_);
    }
    for (auto s = action_.path_steps.rbegin(); s != action_.path_steps.rend(); ++s)
      if (s->from > 0) carry(beyond_[s->to], beyond_[s->from], s->step);
  }

  const ActionInfo& action_;
  const LinkField& u_;
  ExpressionSettings settings_, hops_;
  std::vector<SpinorField> beyond_;
};

}  // namespace

void add_path_force(const ActionInfo& action, const LinkField& u, const SpinorField& psi, const SpinorField& chi,
                    double weight, LinkField& p, const ExpressionSettings& settings) {
  for (int k = 0; k < psi.rhs(); ++k)
    Paths(action, u, settings).add_force(psi.columns(k, 1), chi.columns(k, 1), weight, p);
}

}  // namespace quarksmith
