// Hypercubic blocking.
#include <array>
#include <utility>

#include "runtime/fields/expression.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::link_smearings {
namespace {

LinkField like(const LinkField& u) { return {u.domain_pointer(), u.precision(), u.storage()}; }

/// The links that a level of hypercubic blocking makes of those of direction mu, each of which belongs to one of the
/// other directions: that of the k-th of them stands in field k.
class Decorated {
 public:
  explicit Decorated(const LinkField& u) : fields_{like(u), like(u), like(u)} {}
  LinkField& of(int mu, int other) { return fields_[other - (other > mu)]; }

 private:
  std::array<LinkField, directions - 1> fields_;
};

/// Hypercubic blocking level by level, hep-lat/0103029, eqs. 5 to 3.
class Blocking {
 public:
  explicit Blocking(const LinkField& u) : u_(u), sum_(like(u)), first_(u), second_(u) {}
  void step(const ChoiceValues& alpha, LinkField& out) {
    const auto decorate = [](const auto& link) {
      for (int mu = 0; mu < directions; ++mu)
        for (int other = 0; other < directions; ++other)
          if (other != mu) link(mu, other);
    };
    decorate([&](int mu, int eta) {
      add(u_, u_, mu, eta, true);
      make(mu, alpha[2].real, 2, first_.of(mu, eta));
    });
    decorate([&](int mu, int left_out) {
      bool begins = true;
      for (int rho = 0; rho < directions; ++rho) {
        const int eta = 0 + 1 + 2 + 3 - mu - left_out - rho;
        if (rho == mu || rho == left_out) continue;
        add(first_.of(rho, eta), first_.of(mu, eta), mu, rho, std::exchange(begins, false));
      }
      make(mu, alpha[1].real, 4, second_.of(mu, left_out));
    });
    for (int mu = 0; mu < directions; ++mu) {
      bool begins = true;
      for (int nu = 0; nu < directions; ++nu)
        if (nu != mu) add(second_.of(nu, mu), second_.of(mu, nu), mu, nu, std::exchange(begins, false));
      make(mu, alpha[0].real, 6, out);
    }
  }

 private:
  /// Adds both staples round links of direction mu with sides along nu.
  void add(const LinkField& side, const LinkField& path, int mu, int nu, bool begins) {
    const LatticeDirection along{mu}, aside{nu};
    if (begins)
      evaluate("set_staple", {side, path, 1, along, aside}, {sum_});
    else
      evaluate("add_staple", {side, path, sum_, 1, along, aside}, {sum_});
  }
  /// The closest SU(3) matrix to (1 - alpha) U + alpha/n times the sum of n staples.
  void make(int mu, double alpha, int staples, LinkField& out) {
    evaluate("hyp_link", {u_, sum_, 1 - alpha, alpha / staples, LatticeDirection{mu}}, {out});
  }

  const LinkField& u_;
  LinkField sum_;
  Decorated first_, second_;
};

void step_hyp(const ChoiceValues& v, const LinkField& u, LinkField& out) { Blocking(u).step(v, out); }

constexpr ChoiceParameter alpha(std::string_view name) { return {.name = name, .lower = 0, .upper = 1}; }

}  // namespace

extern constinit const LinkSmearingKind hyp = {
    .name = "hyp",
    .formula = "three levels inside hypercubes, projected as ape (A. Hasenfratz and F. Knechtli, hep-lat/0103029)",
    .parameters = {{alpha("a1"), alpha("a2"), alpha("a3"), link_smearing_steps}},
    .step = step_hyp};

}  // namespace quarksmith::link_smearings
