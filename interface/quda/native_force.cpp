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

/// A term of molecular dynamics of the quarks of a clover type on the links that are loaded.
Handle<quarksmith_quark> clover_term(const Momenta& momenta, const QudaInvertParam& p, const char* form) {
  const bool twisted = p.dslash_type == QUDA_TWISTED_CLOVER_DSLASH,
             doublet = twisted && p.twist_flavor == QUDA_TWIST_NONDEG_DOUBLET;
  std::string options = std::string("action=") + (twisted ? "twisted-clover" : "clover") + (doublet ? "-doublet" : "") +
                        " even-odd=" + form + option("mass", 1 / (2 * p.kappa) - 4) +
                        option("csw", state().clover.coefficient / p.kappa);
  if (twisted) options += option("mu", p.mu);
  if (doublet) options += option("epsilon", -p.epsilon);
  Handle<quarksmith_quark> term;
  check(quarksmith_quark_create(momenta.dynamics(), options.c_str(), term.out()));
  return term;
}

void check_clover_force(const QudaInvertParam& p) {
  meaning<int>("solution_type", p.solution_type, {{QUDA_MATPCDAG_MATPC_SOLUTION, "QUDA_MATPCDAG_MATPC_SOLUTION", 0}});
  if (p.use_resident_solution != 0) refuse("use_resident_solution is not served; set it to 0");
  if (state().loaded.anisotropy != 1) refuse("forces of anisotropic links are not served; load SU(3) links");
  if (state().clover.given)
    refuse("the clover term was passed, and its force is that of the links; let loadCloverQuda make it");
}

/// z of all sites whose product with M or M^+ is 0 on those that the even-odd form leaves out.
Vector completed(const Quark& quark, int sites, bool dagger, const Vector& z) {
  const int others = QUARKSMITH_EVEN + QUARKSMITH_ODD - sites;
  Vector all = quark.on_all_sites(sites, z);
  const Vector rest = quark.on_all_sites(others, quark.divide_by_term(others, dagger, quark.hop(others, dagger, z)));
  for (std::size_t n = 0; n < all.size(); ++n) all[n] += rest[n] / 2.0;
  return all;
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void computeCloverForceQuda(void* mom, double dt, void** x, void**, double* coeff, double kappa2, double ck,
                            int nvector, double multiplicity, void*, QudaGaugeParam* gauge_param, QudaInvertParam* p) {
  const Call call(__func__);
  meaning<int>("dslash_type", p->dslash_type, {{QUDA_CLOVER_WILSON_DSLASH, "QUDA_CLOVER_WILSON_DSLASH", 0}});
  check_clover_force(*p);
  meaning<int>("matpc_type", p->matpc_type, {{QUDA_MATPC_EVEN_EVEN_ASYMMETRIC, "QUDA_MATPC_EVEN_EVEN_ASYMMETRIC", 0}});
  const auto& clover = state().clover;
  const Quark quark(*p);
  const Spinors spinors(*p, quark, QUARKSMITH_EVEN);
  const double kappa = p->kappa;
  if (!is_near(kappa2, -kappa * kappa) || !is_near(ck, -clover.coefficient / 8))
    refuse("kappa2 " + text_of(kappa2) + ", ck " + text_of(ck) + "; use -kappa^2 and -clover_coeff / 8");
  const Momenta momenta(mom, *gauge_param, state().wilson.gauge());
  const Handle<quarksmith_quark> term = clover_term(momenta, *p, "asymmetric");
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

// Adds to the momenta minus their force, twice that of the action coeff / (2 kappa)^2 x^+ A A^+ x with A A^+ x fixed;
// with detratio Y = A^+ gamma_5 x becomes Y + x0, which gives that of a ratio; without detratio that of -2 log |det T|
// on the sites left out is added. Of two flavours A is divided by evmax; shifts in `offset` add to Y what has no
// derivative.
void computeTMCloverForceQuda(void* mom, void** x, void** x0, double* coeff, int nvector, QudaGaugeParam* gauge_param,
                              QudaInvertParam* p, int detratio) {
  const Call call(__func__);
  check_clover_force(*p);
  meaning<int>("dslash_type", p->dslash_type,
               {{QUDA_CLOVER_WILSON_DSLASH, "QUDA_CLOVER_WILSON_DSLASH", 0},
                {QUDA_TWISTED_CLOVER_DSLASH, "QUDA_TWISTED_CLOVER_DSLASH", 0}});
  meaning<int>("dagger", p->dagger, {{QUDA_DAG_YES, "QUDA_DAG_YES", 0}});
  const int sites = meaning<int>("matpc_type", p->matpc_type,
                                 {{QUDA_MATPC_EVEN_EVEN_ASYMMETRIC, "QUDA_MATPC_EVEN_EVEN_ASYMMETRIC", QUARKSMITH_EVEN},
                                  {QUDA_MATPC_ODD_ODD_ASYMMETRIC, "QUDA_MATPC_ODD_ODD_ASYMMETRIC", QUARKSMITH_ODD}});
  const Quark quark(*p);
  const Spinors spinors(*p, quark, sites);
  const bool doublet = quark.slices > 1;
  const double coefficient = state().clover.coefficient;
  if (!is_near(p->kappa * p->clover_csw, coefficient))
    refuse("kappa clover_csw is " + text_of(p->kappa * p->clover_csw) +
           ", and clover_coeff of the term that is loaded " + text_of(coefficient) + "; use the same");
  if (doublet && !(is_set(p->evmax) && p->evmax > 0)) refuse("evmax is not set to a positive number; set it");
  if (nvector < 1) refuse("nvector " + std::to_string(nvector) + "; use 1 or more");
  const Momenta momenta(mom, *gauge_param, state().wilson.gauge());
  const System form{.form = "asymmetric", .sites = sites, .dagger = true};
  Vectors left, right;
  std::vector<const void*> zs, us;
  std::vector<double> weights;
  for (int n = 0; n < nvector; ++n) {
    const Vector z = quark.gamma5(spinors.read(x[n]));
    Vector u = std::move(quark.apply(form, {z})[0]);
    if (detratio != 0 && !doublet) {
      const Vector more = spinors.read(x0[n]);
      for (std::size_t k = 0; k < u.size(); ++k) u[k] += more[k] / quark.factor;
    }
    left.push_back(completed(quark, sites, true, z));
    right.push_back(completed(quark, sites, false, u));
    weights.push_back(2 * coeff[n] / (doublet ? p->evmax : 1));
  }
  for (int n = 0; n < nvector; ++n)
    for (int s = 0; s < quark.slices; ++s) {
      const std::size_t before = left[n].size() / unsigned(quark.slices) * unsigned(s);
      zs.push_back(left[n].data() + before);
      us.push_back(right[n].data() + before);
    }
  constexpr double step = -2;  // minus as the caller takes it for a derivative, twice as in native_motion.cpp
  auto format = initial(quarksmith_spinor_format_init);
  format.sites = QUARKSMITH_EVEN_ODD;
  check(quarksmith_quark_outer(clover_term(momenta, *p, "none"), nvector, us.data(), zs.data(), weights.data(), &format,
                               step));
  if (detratio == 0)  // of even sites alone: of all without those of odd ones
    for (const auto& [name, sign] : {std::pair("symmetric", 1), std::pair("asymmetric", -1)})
      if (sites == QUARKSMITH_ODD || sign < 0)
        check(quarksmith_quark_log_det_force(clover_term(momenta, *p, name),
                                             (sites == QUARKSMITH_ODD ? sign : 1) * 4.0 / quark.slices, step));
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
