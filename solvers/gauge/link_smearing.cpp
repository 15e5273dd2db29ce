#include "solvers/gauge/link_smearing.hpp"

#include <fmt/format.h>

#include <charconv>

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

void hyp_step(const LinkSmearing& how, const LinkField& u, LinkField& out) {
  const auto fresh = [&u] { return LinkField(u.domain_pointer(), u.precision(), u.storage()); };
  LinkField a = fresh(), b = fresh(), c = fresh(), d = fresh(), e = fresh(), f = fresh();
  evaluate("hyp_first", {u, 1 - how.third, how.third / 2, a, b, c});
  evaluate("hyp_second", {u, a, b, c, 1 - how.second, how.second / 4, d, e, f});
  evaluate("hyp_third", {u, d, e, f, 1 - how.strength, how.strength / 6, out});
}

void step(const LinkSmearing& how, const LinkField& u, LinkField& out) {
  if (how.kind == LinkSmearing::Kind::hyp) return hyp_step(how, u, out);
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
