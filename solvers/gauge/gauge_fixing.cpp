#include "solvers/gauge/gauge_fixing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {
namespace {

/// The first two rows made orthonormal, the third what follows from them.
HostGauge on_su3(const HostGauge& gauge, const Domain& domain) {
  require_su3(gauge, "gauge fixing", domain.communicator());
  HostGauge u = gauge;
  for (long long i = 0; i < u.lattice.sites(); ++i)
    for (Matrix3& link : u.site[static_cast<std::size_t>(i)]) link = orthonormal(link);
  return u;
}

}  // namespace

GaugeFixer::GaugeFixer(const HostGauge& gauge, DomainPointer domain, const GaugeFixing& how)
    : how_(how),
      u_(upload(on_su3(gauge, *domain), domain, find_precision("double"), full_storage(gauge.colours()))),
      next_(domain, u_.precision(), u_.storage()),
      hits_(upload(HostGauge(gauge.lattice, gauge.colours()), domain, u_.precision(), u_.storage())) {
  if (how.keep) g_ = upload(unit_gauge(gauge.lattice, gauge.colours()), domain, u_.precision(), u_.storage());
}

double GaugeFixer::links_concerned() const {
  const double sites = static_cast<double>(u_.domain().lattice().global_sites());
  return (how_.condition == GaugeCondition::landau ? directions : directions - 1) * sites;
}

void GaugeFixer::half_step(double parity) {
  const double in_time = how_.condition == GaugeCondition::landau;
  constexpr LatticeDirection slot{0};
  evaluate("fixing_hits", {u_, in_time, how_.boost, parity, slot}, {hits_});
  evaluate("transformed", {u_, hits_, slot}, {next_});
  std::swap(u_, next_);
  if (!g_) return;
  evaluate("followed", {*g_, hits_, slot}, {next_});
  std::swap(*g_, next_);
}

double GaugeFixer::functional() const {
  const double in_time = how_.condition == GaugeCondition::landau;
  return evaluate("fixing_functional", {u_, in_time})[0] / (3 * links_concerned());
}

double GaugeFixer::theta() const {
  const Lattice& lattice = u_.domain().lattice();
  const bool landau = how_.condition == GaugeCondition::landau;
  const auto each = 3 * static_cast<double>(lattice.global_sites());
  if (landau) return evaluate("fixing_functional", {u_, 1.0})[1] / each;
  const std::vector<Complex64> ones(static_cast<std::size_t>(lattice.space_sites()), 1);
  double worst = 0;
  for (const Complex64& of_slice : site_sums("fixing_functional", {u_, 0.0}).over_slices(ones))
    worst = std::max(worst, of_slice.imag());
  return worst * lattice.global_extent(3) / each;
}

GaugeFixingReport GaugeFixer::operator()(const std::function<void()>& look) {
  GaugeFixingReport r;
  r.before = functional();
  for (double last = 0; !r.converged && r.steps < how_.most_steps; ++r.steps) {
    look();
    half_step(-1);
    const double odd = functional();
    half_step(1);
    r.functional = functional();
    r.average = (odd + r.functional) / 2;
    r.change = r.average - last;
    r.converged = r.steps > 0 && std::abs(r.change) < how_.tolerance;
    last = r.average;
  }
  for (LinkField* rounded : {&u_, g_ ? &*g_ : nullptr}) {
    if (rounded == nullptr) continue;
    evaluate("back_to_su3", {*rounded}, {next_});
    std::swap(*rounded, next_);
  }
  r.functional = functional();
  r.theta = theta();
  return r;
}

HostGauge GaugeFixer::links(const std::array<Complex64, directions>& phase) const {
  HostGauge fixed = download(u_);
  fixed.phase = phase;
  return fixed;
}

}  // namespace quarksmith
