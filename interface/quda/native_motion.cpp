// Functions of quda.h on links and momenta of molecular dynamics. QUDA's H is the sum of -tr P^2 / 2 and the action,
// that of the library of -tr P^2 and the action, and U' = exp(step P) U of both: steps of P are twice as long here.
#include <algorithm>
#include <cmath>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

quarksmith_link_format momentum_format(const QudaGaugeParam& p) {
  if (p.gauge_order == QUDA_CPS_WILSON_GAUGE_ORDER)
    refuse("gauge_order QUDA_CPS_WILSON_GAUGE_ORDER of momenta is not served; use QUDA_QDP_GAUGE_ORDER");
  auto format = link_format(p);
  format.reals = 10;
  return format;
}

/// The links that a call has made, for the caller and for later calls.
void give_links(Handle<quarksmith_gauge> links, void* host, bool phases, const QudaGaugeParam& p) {
  if (p.return_result_gauge != 0) {
    QudaGaugeParam of_host = p;
    of_host.t_boundary = QUDA_PERIODIC_T;  // the sign is that of the links
    const auto format = thin_format(of_host);
    check(quarksmith_gauge_get(links, link_arrays(host, p).data(), &format));
  }
  if (p.make_resident_gauge != 0) keep_thin(std::move(links), phases);
}

}  // namespace

ThinLinks::ThinLinks(void* host, const QudaGaugeParam& p, bool spread) : phases_(p.staggered_phase_applied != 0) {
  check_links(p);
  if (p.use_resident_gauge != 0) {
    if (!state().wilson) refuse("use_resident_gauge, and there are no such links; load them first");
    const auto& loaded = state().loaded;
    if (loaded.anisotropy != 1) refuse("anisotropic links are not served here; load SU(3) links");
    if (!spread && std::any_of(loaded.spread.begin(), loaded.spread.end(), [](double angle) { return angle != 0; }))
      refuse("links with boundary phases spread over all of them are not served here; load SU(3) links");
    phases_ = state().loaded.phases;
    return;
  }
  auto format = thin_format(p);
  format.spread = spread ? 1 : 0;
  check(quarksmith_gauge_load(state().context(p.X), link_arrays(host, p).data(), &format, own_.out()));
}

void ThinLinks::keep(const QudaGaugeParam& p) {
  if (own_ != nullptr && p.make_resident_gauge != 0) keep_thin(std::move(own_), phases_);
}

Momenta::Momenta(void* host, const QudaGaugeParam& p, quarksmith_gauge* links, bool added) : host_(host), param_(p) {
  const bool stay = p.use_resident_mom != 0;
  if (stay && !state().motion.momenta)
    refuse("use_resident_mom, and there are no such momenta; call momResidentQuda first");
  quarksmith_dynamics* const d = state().dynamics(links);
  if (p.overwrite_mom != 0 || (!stay && !added)) {
    check(quarksmith_dynamics_draw(d, 0, 0));
  } else if (!stay) {
    const auto format = momentum_format(p);
    check(quarksmith_dynamics_set_momenta(d, link_arrays(host, p, p.mom_offset).data(), &format));
  }
}

void Momenta::finish() const {
  if (param_.return_result_mom != 0) {
    const auto format = momentum_format(param_);
    check(quarksmith_dynamics_get_momenta(dynamics(), link_arrays(host_, param_, param_.mom_offset).data(), &format));
  }
  keep();
}

void add_gauge_force(void* mom, void* host, quarksmith_gauge_loops loops, double dt, const QudaGaugeParam& p) {
  ThinLinks links(host, p, true);
  const Momenta momenta(mom, p, links.gauge());
  for (double& c : loops.planes) c *= 3;
  for (auto& plane : loops.rectangles)
    for (double& c : plane) c *= 3;
  loops.chair *= 3;
  check(quarksmith_gauge_force(momenta.dynamics(), &loops, 2 * dt));
  momenta.finish();
  links.keep(p);
}

}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void momResidentQuda(void* mom, QudaGaugeParam* param) {
  const Call call(__func__);
  QudaGaugeParam p = *param;
  if ((p.make_resident_mom != 0) == (p.return_result_mom != 0))
    refuse("make_resident_mom and return_result_mom are equal; set one of them: to keep momenta, or to give them back");
  p.use_resident_mom = p.return_result_mom;
  p.overwrite_mom = 0;
  state().context(p.X);
  Momenta(mom, p, nullptr).finish();
}

double momActionQuda(void* momentum, QudaGaugeParam* param) {
  const Call call(__func__);
  QudaGaugeParam as_they_are = *param;
  as_they_are.overwrite_mom = 0;
  state().context(param->X);
  const Momenta momenta(momentum, as_they_are, nullptr);
  double kinetic = 0;
  check(quarksmith_dynamics_kinetic(momenta.dynamics(), &kinetic));
  momenta.keep();
  return kinetic / 2 - 16.0 * double(state().all_sites());  // QUDA takes 4 of each link
}

void gaussMomQuda(unsigned long long seed, double sigma) {
  const Call call(__func__);
  if (!state().motion.momenta) refuse("there are no momenta to be drawn; call momResidentQuda first");
  check(quarksmith_dynamics_draw(state().dynamics(nullptr), seed, sigma * std::sqrt(2.0)));
}

void updateGaugeFieldQuda(void* gauge, void* momentum, double dt, int conj_mom, int, QudaGaugeParam* param) {
  const Call call(__func__);
  const ThinLinks links(gauge, *param);
  QudaGaugeParam of_mom = *param;
  of_mom.overwrite_mom = 0;
  const Momenta momenta(momentum, of_mom, links.gauge());
  State::Motion& motion = state().motion;
  motion.links = nullptr;
  check(quarksmith_dynamics_drift(motion.dynamics, conj_mom != 0 ? -dt : dt));
  Handle<quarksmith_gauge> moved;
  check(quarksmith_dynamics_gauge(motion.dynamics, moved.out()));
  const void* const those = moved;
  give_links(std::move(moved), gauge, links.phases(), *param);
  if (param->make_resident_gauge != 0) motion.links = those;
  momenta.keep();
}

void projectSU3Quda(void* gauge, double, QudaGaugeParam* param) {
  const Call call(__func__);
  check_links(*param);
  Handle<quarksmith_gauge> links;
  if (param->use_resident_gauge != 0) {  // molecular dynamics has the nearest matrices
    const ThinLinks before(gauge, *param);
    check(quarksmith_dynamics_gauge(state().dynamics(before.gauge()), links.out()));
    return give_links(std::move(links), gauge, before.phases(), *param);
  }
  const auto format = thin_format(*param);
  const auto from = link_arrays(gauge, *param);
  check(quarksmith_smear_links(state().context(param->X), "su3", nullptr, from.data(), from.data(), &format));
  if (param->make_resident_gauge == 0) return;
  check(quarksmith_gauge_load(state().context(), from.data(), &format, links.out()));
  keep_thin(std::move(links), param->staggered_phase_applied != 0);
}
