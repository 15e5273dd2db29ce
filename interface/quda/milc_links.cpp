// Functions of quda_milc_interface.h on links and momenta of the struct of a site.
#include <quda_milc_interface.h>

#include <algorithm>

#include "interface/quda/milc.hpp"

namespace quarksmith::quda {
namespace {

/// Where MILC has links or momenta, and how.
struct InSites {
  const void* first;
  quarksmith_link_format format;
};
InSites in_sites(int precision, const QudaMILCSiteArg_t& arg, bool phases, bool momenta) {
  InSites in{momenta ? arg.mom : arg.link, milc_links(precision, phases)};
  if (momenta) in.format.reals = 10;
  if (arg.site != nullptr) {
    in.first = static_cast<const char*>(arg.site) + (momenta ? arg.mom_offset : arg.link_offset);
    in.format.stride = arg.size;
  }
  return in;
}

Handle<quarksmith_gauge> links_of(int precision, const QudaMILCSiteArg_t& arg, int phase_in) {
  const InSites in = in_sites(precision, arg, phase_in != 0, false);
  Handle<quarksmith_gauge> gauge;
  check(quarksmith_gauge_load(state().context(), &in.first, &in.format, gauge.out()));
  return gauge;
}

/// MILC's arrays in QUDA's words. Links are multiplied as they are, with their phases: the coefficients have the signs.
QudaGaugeParam of_milc(int precision) {
  QudaGaugeParam p = newQudaGaugeParam();
  std::copy_n(state().extent().begin(), 4, p.X);
  p.cpu_prec =
      milc_precision("precision", precision) == QUARKSMITH_DOUBLE ? QUDA_DOUBLE_PRECISION : QUDA_SINGLE_PRECISION;
  p.type = QUDA_GENERAL_LINKS;
  p.gauge_order = QUDA_MILC_GAUGE_ORDER;
  return p;
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void qudaLoadKSLink(int precision, QudaFatLinkArgs_t, const double act_path_coeff[6], void* inlink, void* fatlink,
                    void* longlink) {
  const Call call(__func__);
  QudaGaugeParam param = of_milc(precision);
  computeKSLinkQuda(fatlink, longlink, nullptr, inlink, const_cast<double*>(act_path_coeff), &param);
}

void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t, const double path_coeff[6], void* inlink, void* fatlink,
                            void* ulink) {
  const Call call(__func__);
  QudaGaugeParam param = of_milc(precision);
  computeKSLinkQuda(fatlink, nullptr, ulink, inlink, const_cast<double*>(path_coeff), &param);
}

double qudaMomAction(int precision, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  const InSites in = in_sites(precision, *arg, false, true);
  const double periodic[4] = {0, 0, 0, 0};
  Handle<quarksmith_gauge> unit;
  Handle<quarksmith_dynamics> dynamics;
  double kinetic = 0;
  check(quarksmith_gauge_unit(state().context(), periodic, unit.out()));
  check(quarksmith_dynamics_create(unit, dynamics.out()));
  check(quarksmith_dynamics_set_momenta(dynamics, &in.first, &in.format));
  check(quarksmith_dynamics_kinetic(dynamics, &kinetic));
  const auto& grid = state().grid;
  return kinetic / 2 - 16.0 * double(state().sites()) * grid[0] * grid[1] * grid[2] * grid[3];  // 4 of each link
}

void qudaPlaquettePhased(int precision, double plaq[3], QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  check(quarksmith_gauge_plaquette(links_of(precision, *arg, phase_in), plaq));
}

void qudaPolyakovLoopPhased(int precision, double ploop[2], int dir, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  if (dir != 3) refuse("dir " + std::to_string(dir) + " is not served; use 3 (time)");
  double loops[4][2];
  check(quarksmith_gauge_polyakov(links_of(precision, *arg, phase_in), loops));
  for (int n = 0; n < 2; ++n) ploop[n] = 3 * loops[dir][n];
}
