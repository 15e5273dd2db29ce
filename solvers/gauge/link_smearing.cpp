#include "solvers/gauge/link_smearing.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {

LinkSmearing link_smearing_of(const std::string& text) {
  LinkSmearing s;
  std::string rest = text;
  if (rest.starts_with("stout:")) s.kind = LinkSmearing::Kind::stout;
  if (rest.starts_with("ape:")) s.kind = LinkSmearing::Kind::ape;
  const bool hyp = rest.starts_with("hyp:");
  if (hyp) s.kind = LinkSmearing::Kind::hyp;
  if (!hyp && rest.ends_with(",space")) {
    s.space = true;
    rest.resize(rest.size() - 6);
  }
  const char *at = rest.data() + rest.find(':') + 1, *end = rest.data() + rest.size();
  auto found = std::from_chars(at, end, s.strength);
  bool good = s.kind != LinkSmearing::Kind::none && found.ec == std::errc() && found.ptr != end && *found.ptr == ',';
  for (double* alpha : {&s.second, &s.third})
    if (hyp && good) {
      found = std::from_chars(found.ptr + 1, end, *alpha);
      good = found.ec == std::errc() && found.ptr != end && *found.ptr == ',';
    }
  if (good) found = std::from_chars(found.ptr + 1, end, s.steps);
  if (!good || found.ec != std::errc() || found.ptr != end || s.steps < 1)
    throw UsageError(
        fmt::format("smearing '{}' is unknown; use stout:rho,N or ape:alpha,N, with ,space behind for links in space "
                    "alone, or hyp:a1,a2,a3,N",
                    text));
  check(s);
  return s;
}

void check(const LinkSmearing& how) {
  if (how.kind == LinkSmearing::Kind::none) return;
  const bool stout = how.kind == LinkSmearing::Kind::stout, hyp = how.kind == LinkSmearing::Kind::hyp;
  const double least = stout ? -1 : 0;
  for (const double strength : {how.strength, hyp ? how.second : 0, hyp ? how.third : 0})
    if (!(strength >= least && strength <= 1))
      throw UsageError(fmt::format("link smearing with {} = {}; use a number between {} and 1", stout ? "rho" : "alpha",
                                   strength, least));
  constexpr int most_steps = 1000000;
  if (how.steps < 1 || how.steps > most_steps)
    throw UsageError(fmt::format("link smearing in {} steps; use 1 to {}", how.steps, most_steps));
}

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
  explicit Blocking(const LinkField& u) : u_(u), zero_(like(u)), sum_(like(u)), first_(u), second_(u) {
    evaluate("one_link", {u, 0, zero_});
  }
  void step(const LinkSmearing& how, LinkField& out) {
    const auto decorate = [](const auto& link) {
      for (int mu = 0; mu < directions; ++mu)
        for (int other = 0; other < directions; ++other)
          if (other != mu) link(mu, other);
    };
    decorate([&](int mu, int eta) {
      add(u_, u_, mu, eta, true);
      make(mu, how.third, 2, first_.of(mu, eta));
    });
    decorate([&](int mu, int left_out) {
      bool begins = true;
      for (int rho = 0; rho < directions; ++rho) {
        const int eta = 0 + 1 + 2 + 3 - mu - left_out - rho;
        if (rho == mu || rho == left_out) continue;
        add(first_.of(rho, eta), first_.of(mu, eta), mu, rho, std::exchange(begins, false));
      }
      make(mu, how.second, 4, second_.of(mu, left_out));
    });
    for (int mu = 0; mu < directions; ++mu) {
      bool begins = true;
      for (int nu = 0; nu < directions; ++nu)
        if (nu != mu) add(second_.of(nu, mu), second_.of(mu, nu), mu, nu, std::exchange(begins, false));
      make(mu, how.strength, 6, out);
    }
  }

 private:
  /// Adds both staples round links of direction mu with sides along nu.
  void add(const LinkField& side, const LinkField& path, int mu, int nu, bool begins) {
    evaluate("last_staple", {side, path, begins ? zero_ : sum_, 1, LatticeDirection{mu}, LatticeDirection{nu}, sum_});
  }
  /// The closest SU(3) matrix to (1 - alpha) U + alpha/n times the sum of n staples.
  void make(int mu, double alpha, int staples, LinkField& out) {
    evaluate("hyp_link", {u_, sum_, 1 - alpha, alpha / staples, LatticeDirection{mu}, out});
  }

  const LinkField& u_;
  LinkField zero_, sum_;
  Decorated first_, second_;
};

void step(const LinkSmearing& how, const LinkField& u, LinkField& out) {
  if (how.kind == LinkSmearing::Kind::hyp) return Blocking(u).step(how, out);
  if (how.kind == LinkSmearing::Kind::stout) {
    evaluate(how.space ? "stout3_step" : "stout4_step", {u, how.strength, out});
  } else {
    const double staples = how.space ? 4 : 6;
    evaluate(how.space ? "ape3_step" : "ape4_step", {u, 1 - how.strength, how.strength / staples, out});
  }
}

LinkField encoded(const HostGauge& gauge, const DomainPointer& domain) {
  return upload(gauge, domain, find_precision("double"), find_storage("r18"));
}

}  // namespace

HostGauge smear(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain) {
  if (how.kind == LinkSmearing::Kind::none) return gauge;
  check(how);
  require_su3(gauge, "smearing", domain->communicator());
  LinkField u = encoded(gauge, domain), v(domain, u.precision(), u.storage());
  for (int n = 0; n < how.steps; ++n) {
    step(how, u, v);
    std::swap(u, v);
  }
  HostGauge smeared = download(u);
  smeared.phase = gauge.phase;
  return smeared;
}

}  // namespace quarksmith
