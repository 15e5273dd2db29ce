// Functions of quda_milc_interface.h on links and momenta of molecular dynamics, in the struct of a site or in arrays
// of their own. Momenta that qudaMomLoad has taken stay here until qudaMomSave.
#include <algorithm>

#include "interface/quda/milc.hpp"
#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

/// Links and momenta where MILC has them.
struct InSites {
  void *links, *momenta;
  QudaGaugeParam param;
};
InSites in_sites(int precision, const QudaMILCSiteArg_t& arg, int phase_in) {
  InSites in{arg.site != nullptr ? arg.site : arg.link, arg.site != nullptr ? arg.site : arg.mom,
             of_milc(precision, arg)};
  QudaGaugeParam& p = in.param;
  p.staggered_phase_applied = phase_in != 0;
  p.staggered_phase_type = QUDA_STAGGERED_PHASE_MILC;
  const int stay = state().motion.momenta ? 1 : 0;
  p.use_resident_mom = p.make_resident_mom = stay;
  p.return_result_mom = 1 - stay;
  return in;
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void qudaMomLoad(int precision, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  InSites in = in_sites(precision, *arg, 0);
  in.param.make_resident_mom = 1;
  in.param.return_result_mom = 0;
  momResidentQuda(in.momenta, &in.param);
}

void qudaMomSave(int precision, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  InSites in = in_sites(precision, *arg, 0);
  in.param.make_resident_mom = 0;
  in.param.return_result_mom = 1;
  momResidentQuda(in.momenta, &in.param);
}

double qudaMomAction(int precision, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  InSites in = in_sites(precision, *arg, 0);
  return momActionQuda(in.momenta, &in.param);
}

void qudaGaugeForcePhased(int precision, int num_loop_types, double milc_loop_coeff[3], double eb3,
                          QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  if (num_loop_types < 1 || num_loop_types > 3)
    refuse("num_loop_types " + std::to_string(num_loop_types) + "; use 1 to 3");
  auto loops = initial(quarksmith_gauge_loops_init);
  std::fill(loops.planes, loops.planes + 6, milc_loop_coeff[0]);
  if (num_loop_types > 1)
    for (auto& plane : loops.rectangles) std::fill(plane, plane + 2, milc_loop_coeff[1]);
  if (num_loop_types > 2) loops.chair = milc_loop_coeff[2];
  const InSites in = in_sites(precision, *arg, phase_in);
  add_gauge_force(in.momenta, in.links, loops, eb3, in.param);
}
void qudaGaugeForce(int precision, int num_loop_types, double milc_loop_coeff[3], double eb3, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  qudaGaugeForcePhased(precision, num_loop_types, milc_loop_coeff, eb3, arg, 0);
}

void qudaUpdateUPhasedPipeline(int precision, double eps, QudaMILCSiteArg_t* arg, int phase_in, int) {
  const Call call(__func__);
  InSites in = in_sites(precision, *arg, phase_in);
  updateGaugeFieldQuda(in.links, in.momenta, eps, 0, 0, &in.param);
}
void qudaUpdateUPhased(int precision, double eps, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  qudaUpdateUPhasedPipeline(precision, eps, arg, phase_in, 0);
}
void qudaUpdateU(int precision, double eps, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  qudaUpdateUPhasedPipeline(precision, eps, arg, 0, 0);
}

void qudaUnitarizeSU3Phased(int precision, double tol, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  InSites in = in_sites(precision, *arg, phase_in);
  if (phase_in != 0) in.param.t_boundary = QUDA_ANTI_PERIODIC_T;
  projectSU3Quda(in.links, tol, &in.param);
}
void qudaUnitarizeSU3(int precision, double tol, QudaMILCSiteArg_t* arg) {
  const Call call(__func__);
  qudaUnitarizeSU3Phased(precision, tol, arg, 0);
}

void qudaHisqForce(int precision, int num_terms, int num_naik_terms, double dt, double** coeff, void** quark_field,
                   const double level2_coeff[6], const double fat7_coeff[6], const void* const w_link,
                   const void* const v_link, const void* const u_link, void* const milc_momentum) {
  const Call call(__func__);
  InSites in = in_sites(precision, {nullptr, nullptr, 0, milc_momentum, 0, 0}, 1);
  computeHISQForceQuda(milc_momentum, dt, level2_coeff, fat7_coeff, w_link, v_link, u_link, quark_field, num_terms,
                       num_naik_terms, coeff, &in.param);
}
