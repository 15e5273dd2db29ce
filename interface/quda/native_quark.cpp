// Dirac operators of quda.h: from the members of QudaInvertParam to options of the C interface.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {

bool is_set(double number) { return std::isfinite(number) && number != DBL_MIN; }

std::string option(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, " %s=%.17g", name, value);
  return text;
}

namespace {

double given(const char* name, double number) {
  if (!is_set(number)) refuse(std::string(name) + " is not set; set it");
  return number;
}

double kappa_of(const QudaInvertParam& p) {
  if (given("kappa", p.kappa) == 0) refuse("kappa 0; use 1 / (2 m + 8)");
  return p.kappa;
}

void require_links(const Links& links, const char* what) {
  if (!links) refuse(std::string(what) + " are not loaded; call loadGaugeQuda first");
}

/// b_5 or c_5, the same in all slices.
double of_all_slices(const char* name, const double _Complex* numbers, int slices) {
  const Complex* const all = reinterpret_cast<const Complex*>(numbers);
  for (int s = 0; s < slices; ++s)
    if (all[s] != all[0] || all[s].imag() != 0)
      refuse(std::string(name) + " differs among the slices, or is complex, which is not served; use real constants");
  return given(name, all[0].real());
}

}  // namespace

Quark::Quark(const QudaInvertParam& p) {
  choose(p);
  if (p.dslash_type == QUDA_TWISTED_CLOVER_DSLASH && is_set(p.tm_rho)) rho = p.tm_rho;
  for (const auto& [name, used] :
       {std::pair("distance_pc_alpha0", p.distance_pc_alpha0 != 0 && p.distance_pc_t0 >= 0),
        std::pair("tm_rho of two flavours", slices == 2 && rho != 0), std::pair("clover_rho", p.clover_rho != 0)})
    if (used) refuse(std::string(name) + " is not served; leave it 0");
  // The operator of residuals is in double in any case.
  const int least = p.cuda_prec_sloppy == QUDA_INVALID_PRECISION ? int(p.cuda_prec)
                                                                 : std::min(int(p.cuda_prec), int(p.cuda_prec_sloppy));
  precision_ = meaning<const char*>("cuda_prec or cuda_prec_sloppy", least,
                                    {{QUDA_DOUBLE_PRECISION, "QUDA_DOUBLE_PRECISION", "double"},
                                     {QUDA_SINGLE_PRECISION, "QUDA_SINGLE_PRECISION", "double-single"},
                                     {QUDA_HALF_PRECISION, "QUDA_HALF_PRECISION", "auto"},
                                     {QUDA_QUARTER_PRECISION, "QUDA_QUARTER_PRECISION", "auto"}});
  most_ = p.maxiter > 0 ? p.maxiter : 10000;
  solver_ = p.inv_type == QUDA_CG_INVERTER || p.inv_type == QUDA_CGNR_INVERTER || p.inv_type == QUDA_CGNE_INVERTER
                ? "cg"
                : "auto";
}

void Quark::use_thin_links() {
  links_ = &state().wilson;
  require_links(*links_, "links");
  if (state().loaded.phases)
    refuse("the links that are loaded hold staggered phases; load others for this dslash_type");
}

/// Options of the Wilson-like action `name`, whose clover term is part of it or one of the caller.
std::string Quark::wilson(const QudaInvertParam& p, const char* name, bool clover) {
  State& s = state();
  use_thin_links();
  const double kappa = kappa_of(p), xi = s.loaded.anisotropy;
  factor = rescaling = 2 * kappa;
  std::string text = std::string("action=") + name + s.loaded.options();
  if (clover && !s.clover.loaded) refuse("the clover term is not loaded; call loadCloverQuda first");
  if (clover && s.clover.given) {
    attach_clover(kappa);
    return text + option("mass", -1 - 3 / xi) + " field=term=clover";
  }
  text += option("mass", 1 / (2 * kappa) - 1 - 3 / xi);
  if (!clover) return text;
  for (int k = 0; k < 3; ++k)
    if (!(std::abs(s.clover.plaquette[k] - s.loaded.plaquette[k]) < 1e-12))
      refuse("the clover term was made of other links than those that are loaded now, which is not served; pass it");
  // Of F in planes of space, four links, of others two are multiplied.
  const double csw = s.clover.coefficient / kappa * std::pow(s.clover.space, 2);
  return text + option("csw_r", csw * std::pow(s.clover.space, 2) * xi) + option("csw_t", csw);
}

/// Makes the term that the caller passed a field of the links that are loaded.
void Quark::attach_clover(double kappa) const {
  auto& c = state().clover;
  if (c.attached == state().wilson.gauge() && c.kappa == kappa) return;
  state().wilson.forget();
  auto format = c.format;
  format.scale = 1 / (2 * kappa);
  check(quarksmith_gauge_term(state().wilson.gauge(), "clover", c.term.data(), nullptr, &format));
  c.attached = state().wilson.gauge();
  c.kappa = kappa;
}

/// One flavour of twisted mass, or two.
void Quark::choose_twisted(const QudaInvertParam& p, bool clover) {
  const double mu = given("mu", p.mu);
  const bool doublet = meaning<bool>("twist_flavor", p.twist_flavor,
                                     {{QUDA_TWIST_SINGLET, "QUDA_TWIST_SINGLET", false},
                                      {QUDA_TWIST_NONDEG_DOUBLET, "QUDA_TWIST_NONDEG_DOUBLET", true}});
  std::string name = clover ? "twisted-clover" : doublet ? "twisted-doublet" : "twisted-mass";
  if (clover && doublet) name += "-doublet";
  std::string text = wilson(p, name.c_str(), clover);
  if (clover && state().clover.given) text += option("csw", 0);
  if (doublet) text += option("epsilon", -given("epsilon", p.epsilon));
  action_ = text + option("mu", mu);
  conjugate_ = text + option("mu", -mu);
  slices = doublet ? 2 : 1;
}

void Quark::choose_walls(const QudaInvertParam& p) {
  use_thin_links();
  walls = true;
  parity_of_five = p.dslash_type == QUDA_DOMAIN_WALL_DSLASH;
  if (state().loaded.anisotropy != 1) refuse("anisotropy of domain walls is not served; use 1");
  if (p.Ls < 1 || p.Ls > QUDA_MAX_DWF_LS) refuse("Ls " + std::to_string(p.Ls) + "; use 1 to 32");
  const double m5 = given("m5", p.m5);
  const bool moebius = p.dslash_type == QUDA_MOBIUS_DWF_DSLASH;
  const double b = moebius ? of_all_slices("b_5", p.b_5, p.Ls) : 1, c = moebius ? of_all_slices("c_5", p.c_5, p.Ls) : 0;
  action_ = (moebius ? "action=moebius" + option("b5", b) + option("c5", c) : "action=domain-wall") +
            state().loaded.options() + option("mass", given("mass", p.mass)) + option("m5", -m5) +
            " ls=" + std::to_string(p.Ls);
  slices = p.Ls;
  factor = 1 / (b * (4 + m5) + 1);
  rescaling = 1 / (5 + m5);
}

void Quark::choose_staggered(const QudaInvertParam& p) {
  const bool thin = p.dslash_type == QUDA_STAGGERED_DSLASH;
  links_ = thin ? &state().wilson : &state().improved;
  spins = 1;
  if (thin) require_links(*links_, "links");
  if (thin && !state().loaded.phases)
    refuse("the links that are loaded hold no staggered phases; load links with staggered_phase_applied");
  if (!thin && (!*links_ || !state().has_fat || !state().has_long))
    refuse("fat and long links are not both loaded; call loadGaugeQuda first");
  // Signs of the boundary and eta are in the fat and long links.
  action_ = (thin ? "action=staggered" + state().loaded.options()
                  : "action=improved-staggered boundary=periodic field=fat=fat field=long=long") +
            option("mass", given("mass", p.mass));
}

void Quark::choose(const QudaInvertParam& p) {
  switch (p.dslash_type) {
    case QUDA_WILSON_DSLASH:
      action_ = conjugate_ = wilson(p, "wilson", false);
      return;
    case QUDA_CLOVER_WILSON_DSLASH:
      action_ = conjugate_ = wilson(p, state().clover.given ? "wilson" : "clover", true);
      return;
    case QUDA_TWISTED_MASS_DSLASH:
    case QUDA_TWISTED_CLOVER_DSLASH:
      return choose_twisted(p, p.dslash_type == QUDA_TWISTED_CLOVER_DSLASH);
    case QUDA_DOMAIN_WALL_DSLASH:
    case QUDA_DOMAIN_WALL_4D_DSLASH:
    case QUDA_MOBIUS_DWF_DSLASH:
      return choose_walls(p);
    case QUDA_STAGGERED_DSLASH:
    case QUDA_ASQTAD_DSLASH:
      return choose_staggered(p);
    default:
      refuse("dslash_type " + std::to_string(p.dslash_type) +
             " is not served; use Wilson, clover, twisted mass, twisted clover, domain wall, Moebius, staggered or "
             "asqtad (fat and long links)");
  }
}

double Quark::factor_of(const System& s) const {
  const double one = staggered() || s.form == std::string("symmetric") ? 1 : factor;
  return s.squared ? one * one : one;
}

std::string Quark::options(const std::string& action, const System& s) const {
  if (s.full()) return action;
  return action + " even-odd=" + s.form + " parity=" + (s.sites == QUARKSMITH_ODD ? "odd" : "even");
}

quarksmith_operator* Quark::op(const System& s, bool conjugate) const {
  return links_->op(options(conjugate ? conjugate_ : action_, s));
}

Vector Quark::gamma5(Vector x) const {
  for (std::size_t n = 0; n < x.size(); n += 12)
    for (std::size_t k = n + 6; k < n + 12; ++k) x[k] = -x[k];
  return x;
}

/// (-1)^(x + y + z + t) x, of full vectors.
Vector Quark::alternate(Vector x) const {
  for (std::size_t n = x.size() / 2; n < x.size(); ++n) x[n] = -x[n];
  return x;
}

/// Times (-1)^(t (x + y + z)), which leads from phases with t first to those of naive staggered quarks, and back.
Vector Quark::rephased(Vector x, int sites) const {
  if (!staggered() || !on_thin_links()) return x;
  const auto& e = state().extent();
  std::size_t n = 0;
  for (int p = sites == QUARKSMITH_ODD ? 1 : 0; p <= (sites == QUARKSMITH_EVEN ? 0 : 1); ++p)
    for (int t = 0; t < e[3]; ++t)
      for (std::size_t i = 0; i < std::size_t(e[0]) / 2 * e[1] * e[2] * components(); ++i, ++n)
        if (t % 2 == 1 && (p + t) % 2 == 1) x[n] = -x[n];  // x + y + z has the parity of p + t
  return x;
}

}  // namespace quarksmith::quda
