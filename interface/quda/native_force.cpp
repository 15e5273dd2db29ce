// Functions of quda.h for forces of quarks; dt twice, as in native_motion.cpp.
#include <algorithm>
#include <cmath>
#include <map>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// One link, Naik's, paths of 3, 5 and 7 links, Lepage's.
constexpr double fat7_of_hisq[] = {1.0 / 8, 0, -1.0 / 16, 1.0 / 64, -1.0 / 384, 0},
                 level2_of_hisq[] = {1, -1.0 / 24, -1.0 / 16, 1.0 / 64, -1.0 / 384, -1.0 / 8};

void require_hisq(const char* name, const double* given, const double (&hisq)[6]) {
  for (int n = 0; n < 6; ++n)
    if (!is_near(given[n], hisq[n]))
      refuse(std::string(name) + '[' + std::to_string(n) + "] is " + text_of(given[n]) + ", of HISQ links " +
             text_of(hisq[n]) + "; other links have no force here");
}

/// epsilon of the Naik term of each vector: of the last `naik` ones from coefficients that stand after all others.
std::vector<double> epsilons_of(double** coeff, int count, int naik) {
  if (count < 1 || naik < 0 || naik > count)
    refuse("num_terms " + std::to_string(count) + ", num_naik_terms " + std::to_string(naik));
  std::vector<double> epsilons(count);
  for (int n = 0; n < count; ++n) {
    const double weight = coeff[n][0];
    bool consistent = is_near(coeff[n][1], level2_of_hisq[1] * weight);
    if (const int k = n - (count - naik); k >= 0 && weight != 0) {
      const double* const more = coeff[count + k];
      epsilons[n] = 8 * more[0] / weight;
      consistent = consistent && is_near(more[1], level2_of_hisq[1] * epsilons[n] * weight);
      for (int m = 0; m < n; ++m)  // equal but for rounding
        if (std::abs(epsilons[m] - epsilons[n]) < 1e-9) epsilons[n] = epsilons[m];
    }
    if (!consistent) refuse("coeff[" + std::to_string(n) + "] is not that of fat and long links of HISQ");
  }
  return epsilons;
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void computeCloverForceQuda(void* mom, double dt, void** x, void**, double* coeff, double kappa2, double ck,
                            int nvector, double multiplicity, void*, QudaGaugeParam* gauge_param, QudaInvertParam* p) {
  const Call call(__func__);
  meaning<int>("dslash_type", p->dslash_type, {{QUDA_CLOVER_WILSON_DSLASH, "QUDA_CLOVER_WILSON_DSLASH", 0}});
  meaning<int>("solution_type", p->solution_type, {{QUDA_MATPCDAG_MATPC_SOLUTION, "QUDA_MATPCDAG_MATPC_SOLUTION", 0}});
  meaning<int>("matpc_type", p->matpc_type, {{QUDA_MATPC_EVEN_EVEN_ASYMMETRIC, "QUDA_MATPC_EVEN_EVEN_ASYMMETRIC", 0}});
  if (p->use_resident_solution != 0) refuse("use_resident_solution is not served; set it to 0");
  const auto& clover = state().clover;
  if (clover.given)
    refuse("the clover term was passed, and its force is that of the links; let loadCloverQuda make it");
  const Quark quark(*p);
  const Spinors spinors(*p, quark, QUARKSMITH_EVEN);
  const double kappa = p->kappa;
  if (!is_near(kappa2, -kappa * kappa) || !is_near(ck, -clover.coefficient / 8))
    refuse("kappa2 " + text_of(kappa2) + ", ck " + text_of(ck) + "; use -kappa^2 and -clover_coeff / 8");
  const Momenta momenta(mom, *gauge_param, state().wilson.gauge());
  Handle<quarksmith_quark> term;
  const std::string options = "action=clover even-odd=asymmetric" + option("mass", 1 / (2 * kappa) - 4) +
                              option("csw", clover.coefficient / kappa);
  check(quarksmith_quark_create(momenta.dynamics(), options.c_str(), term.out()));
  auto format = initial(quarksmith_spinor_format_init);
  format.sites = QUARKSMITH_EVEN_ODD;
  format.half = 1;
  Vectors right, left;
  std::vector<const void*> xs, ys;
  std::vector<void*> products;
  std::vector<double> weights;
  for (int n = 0; n < nvector; ++n) {
    right.push_back(spinors.read(x[n]));
    left.emplace_back(right.back().size());
    weights.push_back(coeff[n] * 4 * kappa * kappa);  // M is that of QUDA divided by 2 kappa
  }
  for (int n = 0; n < nvector; ++n) {
    xs.push_back(right[n].data());
    ys.push_back(left[n].data());
    products.push_back(left[n].data());
  }
  check(quarksmith_quark_matrix(term, 0, nvector, products.data(), xs.data(), &format));
  check(quarksmith_quark_outer(term, nvector, xs.data(), ys.data(), weights.data(), &format, 2 * dt));
  if (multiplicity != 0) check(quarksmith_quark_log_det_force(term, multiplicity, 2 * dt));
  momenta.finish();
}

// Vectors whose halves on odd sites are D times those on even ones, as solves on even sites leave them.
void computeHISQForceQuda(void* momentum, double dt, const double level2_coeff[6], const double fat7_coeff[6],
                          const void* const, const void* const, const void* const u_link, void** quark, int num,
                          int num_naik, double** coeff, QudaGaugeParam* param) {
  const Call call(__func__);
  require_hisq("level2_coeff", level2_coeff, level2_of_hisq);
  require_hisq("fat7_coeff", fat7_coeff, fat7_of_hisq);
  const std::vector<double> epsilons = epsilons_of(coeff, num, num_naik);
  QudaGaugeParam of_links = *param;
  of_links.staggered_phase_applied = 1;
  of_links.staggered_phase_type = QUDA_STAGGERED_PHASE_MILC;
  of_links.t_boundary = QUDA_PERIODIC_T;  // the sign is looked for
  of_links.use_resident_gauge = of_links.make_resident_gauge = 0;
  const ThinLinks links(const_cast<void*>(u_link), of_links);
  QudaGaugeParam of_momenta = *param;
  of_momenta.overwrite_mom = 0;
  const Momenta momenta(momentum, of_momenta, links.gauge(), false);
  auto format = initial(quarksmith_spinor_format_init);
  format.precision = precision_of("cpu_prec", param->cpu_prec);
  format.sites = QUARKSMITH_EVEN_ODD;
  std::map<double, std::pair<std::vector<const void*>, std::vector<double>>> by_epsilon;
  for (int n = 0; n < num; ++n) {
    auto& [vectors, weights] = by_epsilon[epsilons[n]];
    vectors.push_back(quark[n]);
    weights.push_back(coeff[n][0] / 2);
  }
  for (const auto& [epsilon, terms] : by_epsilon) {
    Handle<quarksmith_quark> term;
    const std::string options = "action=hisq mass=1" + option("naik-epsilon", epsilon);  // D has no mass
    check(quarksmith_quark_create(momenta.dynamics(), options.c_str(), term.out()));
    check(quarksmith_quark_outer(term, int(terms.first.size()), terms.first.data(), nullptr, terms.second.data(),
                                 &format, 2 * dt));
  }
  momenta.finish();
}
