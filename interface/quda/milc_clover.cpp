// qudaCloverInvert of quda_milc_interface.h: A - kappa D, with the clover term A that MILC has made.
#include <quda_milc_interface.h>

#include <cstring>
#include <vector>

#include "interface/quda/milc.hpp"

namespace quarksmith::quda {
namespace {

constexpr std::size_t reals = 24;  // of a spinor

template <class T>
void scale(void* array, std::size_t count, double factor) {
  for (std::size_t n = 0; n < count; ++n) static_cast<T*>(array)[n] *= T(factor);
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void qudaCloverInvert(int external_precision, int quda_precision, double kappa, double, QudaInvertArgs_t inv_args,
                      double target_residual, double target_fermilab_residual, const void* milc_link, void* milc_clover,
                      void* milc_clover_inv, void* source, void* solution, double* const final_residual,
                      double* const final_fermilab_residual, int* num_iters) {
  const Call call(__func__);
  if (target_fermilab_residual > 0) refuse("target_fermilab_residual is not served here; set it to 0");
  if (milc_link == nullptr || milc_clover == nullptr) refuse("links or clover term are NULL; pass both at each call");
  const std::string precision = milc_inner_precision(quda_precision, inv_args.mixed_precision);
  const quarksmith_link_format format = milc_links(external_precision, false);
  Links links;
  check(quarksmith_gauge_load(state().context(), &milc_link, &format, links.out()));
  auto term = initial(quarksmith_term_format_init);
  auto spinors = initial(quarksmith_spinor_format_init);
  term.precision = spinors.precision = format.precision;
  term.sites = spinors.sites = format.sites;
  term.order = QUARKSMITH_COLUMNS;
  term.scale = 1 / (2 * kappa);
  check(quarksmith_gauge_term(links.gauge(), "A", milc_clover, milc_clover_inv, &term));
  const bool cg = inv_args.solver_type == QUDA_CG_INVERTER;
  const std::string options =
      "action=wilson mass=-4 field=term=A precision=" + precision + " tol=" + text_of(target_residual) +
      " max-iterations=" + std::to_string(inv_args.max_iter) + (cg ? " solver=cg" : "") + links.boundary();
  const std::size_t count = state().sites() * reals;
  const bool single = format.precision == QUARKSMITH_SINGLE;
  std::vector<char> copy;
  const void* from = source;
  if (source == solution) {
    copy.resize(count * (single ? sizeof(float) : sizeof(double)));
    from = std::memcpy(copy.data(), source, copy.size());
  }
  auto report = initial(quarksmith_solve_report_init);
  check_solve(quarksmith_solve(links.solver(options), 1, &solution, &from, &spinors, &report));
  (single ? scale<float> : scale<double>)(solution, count, 1 / (2 * kappa));
  *final_residual = report.residual;
  *final_fermilab_residual = 0;
  *num_iters = report.iterations;
}
