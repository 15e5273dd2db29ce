// Functions of quda_milc_interface.h on links of the struct of a site, and on fat and long links.
#include <quda_milc_interface.h>

#include <algorithm>

#include "interface/quda/milc.hpp"
#include "interface/quda/native.hpp"

namespace quarksmith::quda {

QudaGaugeParam of_milc(int precision) {
  QudaGaugeParam p = newQudaGaugeParam();
  std::copy_n(state().extent().begin(), 4, p.X);
  p.cpu_prec =
      milc_precision("precision", precision) == QUARKSMITH_DOUBLE ? QUDA_DOUBLE_PRECISION : QUDA_SINGLE_PRECISION;
  p.type = QUDA_GENERAL_LINKS;
  p.gauge_order = QUDA_MILC_GAUGE_ORDER;
  return p;
}

QudaGaugeParam of_milc(int precision, const QudaMILCSiteArg_t& arg) {
  QudaGaugeParam p = of_milc(precision);
  if (arg.site != nullptr) p.gauge_order = QUDA_MILC_SITE_GAUGE_ORDER;
  p.gauge_offset = arg.link_offset;
  p.mom_offset = arg.mom_offset;
  p.site_size = arg.size;
  return p;
}

namespace {

Handle<quarksmith_gauge> links_of(int precision, const QudaMILCSiteArg_t& arg, int phase_in) {
  const QudaGaugeParam p = of_milc(precision, arg);
  quarksmith_link_format format = link_format(p);
  if (phase_in != 0) std::copy_n(time_first, 4, format.eta);
  Handle<quarksmith_gauge> gauge;
  check(quarksmith_gauge_load(state().context(),
                              link_arrays(arg.site != nullptr ? arg.site : const_cast<void*>(arg.link), p).data(),
                              &format, gauge.out()));
  return gauge;
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

void qudaPlaquettePhased(int precision, double plaq[3], QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  check(quarksmith_gauge_plaquette(links_of(precision, *arg, phase_in), plaq));
}

void qudaPolyakovLoopPhased(int precision, double ploop[2], int dir, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  require_time(dir);
  polyakov_loop(links_of(precision, *arg, phase_in), ploop);
}

void qudaGaugeLoopTracePhased(int precision, double* traces, int** input_path_buf, int* path_length, double* loop_coeff,
                              int num_paths, int, double factor, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  sum_traces(links_of(precision, *arg, phase_in), traces, input_path_buf, path_length, loop_coeff, num_paths, factor);
}

void qudaGaugeMeasurementsPhased(int precision, double plaq[3], double ploop[2], int dir, double* traces,
                                 int** input_path_buf, int* path_length, double* loop_coeff, int num_paths,
                                 int max_length, double factor, QudaMILCSiteArg_t* arg, int phase_in) {
  const Call call(__func__);
  require_time(dir);
  qudaPlaquettePhased(precision, plaq, arg, phase_in);
  qudaPolyakovLoopPhased(precision, ploop, dir, arg, phase_in);
  qudaGaugeLoopTracePhased(precision, traces, input_path_buf, path_length, loop_coeff, num_paths, max_length, factor,
                           arg, phase_in);
}
