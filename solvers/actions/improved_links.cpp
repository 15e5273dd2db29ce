#include "solvers/actions/improved_links.hpp"

#include <fmt/format.h>

#include "runtime/ranks/bordered.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"

namespace quarksmith {
namespace {

/// Sum over all projected links of |W W^+ - 1|^2 up to which each of them counts as unitary.
constexpr double unitary_limit = 1e-16;

LinkField empty_like(const LinkField& links) { return {links.domain_pointer(), links.precision(), links.storage()}; }

/// All paths aside of fat links for direction mu: staples of staples of staples.
void add_fat_paths(const LinkField& u, const StapleCoefficients& c, int mu, LinkField& fat, LinkField& three,
                   LinkField& five) {
  for (int nu = 0; nu < directions; ++nu) {
    if (nu == mu) continue;
    add_staples(u, u, mu, nu, &three, c.three, fat);
    if (c.lepage != 0) evaluate("lepage", {u, fat, c.lepage, LatticeDirection{mu}, LatticeDirection{nu}, fat});
    for (int rho = 0; rho < directions; ++rho) {
      if (rho == mu || rho == nu || (c.five == 0 && c.seven == 0)) continue;
      add_staples(u, three, mu, rho, &five, c.five, fat);
      const int sigma = 0 + 1 + 2 + 3 - mu - nu - rho;
      if (c.seven != 0) add_staples(u, five, mu, sigma, nullptr, c.seven, fat);
    }
  }
}

/// smear on a lattice that is not split.
LinkField smear_whole(const LinkField& u, const StapleCoefficients& c, LinkField* longs) {
  LinkField fat = empty_like(u), three = empty_like(u), five = empty_like(u);
  evaluate("one_link", {u, c.one, fat});
  for (int mu = 0; mu < directions; ++mu) add_fat_paths(u, c, mu, fat, three, five);
  if (longs != nullptr) evaluate("naik", {u, c.naik, *longs});
  u.domain().device().synchronize();
  return fat;
}

/// The same of a part: on the part with a border, for both at once.
LinkField smear_part(const BorderedPart& part, const LinkField& links, const StapleCoefficients& c, LinkField* longs) {
  const LinkField& u = part.read(links, true);
  const auto cut = [&](const LinkField& from, const LinkField& to) {
    part.cut(stored_sites(from), stored_sites(to));
    to.changed();
  };
  LinkField fat = empty_like(links), box_longs = empty_like(u);
  cut(smear_whole(u, c, longs != nullptr ? &box_longs : nullptr), fat);
  if (longs != nullptr) cut(box_longs, *longs);
  return fat;
}

LinkField upload_double(const HostGauge& gauge, const DomainPointer& domain) {
  return upload(gauge, domain, find_precision("double"), find_storage("r18"));
}

/// The links of a level on the host.
ImprovedLinks improve(const LinkField& links, const StapleCoefficients& c, const HostGauge& gauge) {
  LinkField longs = empty_like(links);
  const LinkField fat = smear(links, c, &longs);
  ImprovedLinks result{download(fat), download(longs)};
  result.fat.phase = result.longs.phase = gauge.phase;
  return result;
}

}  // namespace

StapleCoefficients asqtad_coefficients(double u0) {
  if (!(u0 > 0)) throw UsageError(fmt::format("u0 = {}; use a positive number, 1 for no tadpole factors", u0));
  const double u2 = u0 * u0, u4 = u2 * u2, u6 = u4 * u2;
  return {5.0 / 8, 1 / (16 * u2), 1 / (64 * u4), 1 / (384 * u6), -1 / (16 * u4), -1 / (24 * u2)};
}

StapleCoefficients fat7_coefficients() { return {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0, 0}; }

StapleCoefficients hisq_coefficients(double naik_epsilon) {
  return {1 + naik_epsilon / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8, -(1 + naik_epsilon) / 24};
}

double naik_epsilon(double mass) {
  const double m2 = mass * mass;
  return m2 * (-27.0 / 40 + m2 * (327.0 / 1120 + m2 * (-15607.0 / 268800 + m2 * (-73697.0 / 3942400))));
}

ImprovedLinks asqtad_links(const HostGauge& gauge, const DomainPointer& domain, double u0) {
  const StapleCoefficients c = asqtad_coefficients(u0);
  return improve(upload_double(gauge, domain), c, gauge);
}

ImprovedLinks hisq_links(const HostGauge& gauge, const DomainPointer& domain, double naik_epsilon) {
  const LinkField w = project_u3(smear(upload_double(gauge, domain), fat7_coefficients()));
  return improve(w, hisq_coefficients(naik_epsilon), gauge);
}

LinkField smear(const LinkField& links, const StapleCoefficients& c, LinkField* longs) {
  // Paths of fat and long links go two steps beyond the ends of a link at most.
  constexpr BorderDepth paths{{2, 2, 2, 2}, true};
  const BorderedPart* part = links.domain().bordered(paths, links.precision().element_bytes, "improved links");
  return part != nullptr ? smear_part(*part, links, c, longs) : smear_whole(links, c, longs);
}

LinkField project_u3(const LinkField& links) {
  const Domain& domain = links.domain();
  const Kernel& kernel =
      find(domain.device().kernels(),
           {.operation = "project_u3", .precision = links.precision().name, .links = links.storage().name});
  LinkField result = empty_like(links);
  double deviation = 0;
  for (int parity = 0; parity < 2; ++parity) {
    Arguments a = arguments_for(domain, links.lanes());
    a.parity = parity;
    a.links = links.operand();
    a.out = result.operand();
    deviation += reduce(domain, kernel, a)[0];
  }
  if (!(deviation < unitary_limit))
    throw Error(
        fmt::format("projection on U(3): the results are off it by {:.1e} (sum of squares): a link of the field "
                    "is singular; the configuration is not one that smearing was meant for",
                    deviation));
  return result;
}

void add_staples(const LinkField& u, const LinkField& v, int mu, int nu, LinkField* out, double b, LinkField& sum) {
  const LatticeDirection along{mu}, aside{nu};
  if (out != nullptr)
    evaluate("staple", {u, v, sum, b, along, aside, *out, sum});
  else
    evaluate("last_staple", {u, v, sum, b, along, aside, sum});
}

}  // namespace quarksmith
