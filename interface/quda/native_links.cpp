// Functions of quda.h on links and clover terms.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {

std::string Links::boundary() const {
  double angle[4];
  check(quarksmith_gauge_phase(gauge_, angle));
  std::string text = " boundary=";
  for (int mu = 0; mu < 4; ++mu) text += (mu == 0 ? "" : ",") + text_of(angle[mu]);
  return text;
}

std::string State::Loaded::options() const { return boundary + (anisotropy == 1 ? "" : option("xi0", anisotropy)); }

int precision_of(const char* parameter, int precision) {
  return meaning<int>(parameter, precision,
                      {{QUDA_DOUBLE_PRECISION, "QUDA_DOUBLE_PRECISION", QUARKSMITH_DOUBLE},
                       {QUDA_SINGLE_PRECISION, "QUDA_SINGLE_PRECISION", QUARKSMITH_SINGLE}});
}

quarksmith_link_format link_format(const QudaGaugeParam& p) {
  auto format = initial(quarksmith_link_format_init);
  format.precision = precision_of("cpu_prec", p.cpu_prec);
  format.sites = QUARKSMITH_EVEN_ODD;
  format.order = meaning<int>("gauge_order", p.gauge_order,
                              {{QUDA_QDP_GAUGE_ORDER, "QUDA_QDP_GAUGE_ORDER", QUARKSMITH_DIRECTION_MAJOR},
                               {QUDA_MILC_GAUGE_ORDER, "QUDA_MILC_GAUGE_ORDER", QUARKSMITH_SITE_MAJOR},
                               {QUDA_MILC_SITE_GAUGE_ORDER, "QUDA_MILC_SITE_GAUGE_ORDER", QUARKSMITH_SITE_MAJOR},
                               {QUDA_CPS_WILSON_GAUGE_ORDER, "QUDA_CPS_WILSON_GAUGE_ORDER", QUARKSMITH_SITE_MAJOR}});
  if (p.gauge_order == QUDA_CPS_WILSON_GAUGE_ORDER) format.colour = QUARKSMITH_COLUMN_MAJOR;
  if (p.gauge_order == QUDA_MILC_SITE_GAUGE_ORDER) format.stride = p.site_size;
  return format;
}

std::array<void*, 4> link_arrays(void* links, const QudaGaugeParam& p, std::size_t offset) {
  if (links == nullptr) refuse("the links are NULL");
  std::array<void*, 4> arrays{links};
  if (p.gauge_order == QUDA_QDP_GAUGE_ORDER) std::copy_n(static_cast<void**>(links), 4, arrays.begin());
  if (p.gauge_order == QUDA_MILC_SITE_GAUGE_ORDER) arrays[0] = static_cast<char*>(links) + offset;
  return arrays;
}

std::array<void*, 4> link_arrays(void* links, const QudaGaugeParam& p) { return link_arrays(links, p, p.gauge_offset); }

void require_time(int dir) {
  if (dir != 3) refuse("dir " + std::to_string(dir) + " is not served; use 3 (time)");
}

void polyakov_loop(quarksmith_gauge* gauge, double loop[2]) {
  double loops[4][2];
  check(quarksmith_gauge_polyakov(gauge, loops));
  for (int n = 0; n < 2; ++n) loop[n] = 3 * loops[3][n];
}

void check_links(const QudaGaugeParam& p) {
  if (p.i_mu != 0) refuse("i_mu (an imaginary chemical potential) is not served; use 0");
  if (p.gauge_fix == QUDA_GAUGE_FIXED_YES) refuse("gauge_fix QUDA_GAUGE_FIXED_YES is not served; use _NO");
}

quarksmith_link_format thin_format(const QudaGaugeParam& p) {
  auto format = link_format(p);
  if (p.t_boundary == QUDA_ANTI_PERIODIC_T) format.boundary[3] = 1;
  if (p.staggered_phase_applied == 0) return format;
  meaning<int>("staggered_phase_type", p.staggered_phase_type,
               {{QUDA_STAGGERED_PHASE_MILC, "QUDA_STAGGERED_PHASE_MILC", 0}});
  std::copy_n(time_first, 4, format.eta);
  return format;
}

namespace {

/// What is known of the links that are loaded, by themselves.
void look_at_thin() {
  State& s = state();
  s.loaded.boundary = s.wilson.boundary();
  check(quarksmith_gauge_spread(s.wilson.gauge(), s.loaded.spread.data()));
  check(quarksmith_gauge_plaquette(s.wilson.gauge(), s.loaded.plaquette.data()));
}

/// Calls visit(coordinates, direction, first of 18 numbers) for the links of a caller on the host.
template <class Real, class Visit>
void for_each_real_link(const std::array<void*, 4>& arrays, const QudaGaugeParam& p, const Visit& visit) {
  const bool apart = p.gauge_order == QUDA_QDP_GAUGE_ORDER;
  const std::size_t site = p.gauge_order == QUDA_MILC_SITE_GAUGE_ORDER ? p.site_size : (apart ? 18 : 72) * sizeof(Real);
  const int *e = p.X, half[] = {e[0] / 2, e[1], e[2], e[3]};
#pragma omp parallel for
  for (int t = 0; t < e[3]; ++t)
    for (int parity = 0; parity < 2; ++parity)
      for (int z = 0; z < e[2]; ++z)
        for (int y = 0; y < e[1]; ++y)
          for (int n = 0; n < half[0]; ++n) {
            const int x[] = {2 * n + (y + z + t + parity) % 2, y, z, t};
            const std::size_t place = std::size_t(((parity * e[3] + t) * e[2] + z) * e[1] + y) * half[0] + n;
            for (int mu = 0; mu < 4; ++mu)
              visit(x, mu,
                    reinterpret_cast<Real*>(static_cast<char*>(arrays[apart ? mu : 0]) + place * site) +
                        (apart ? 0 : 18 * mu));
          }
}
template <class Visit>
void for_each_link(const std::array<void*, 4>& arrays, const QudaGaugeParam& p, const Visit& visit) {
  if (precision_of("cpu_prec", p.cpu_prec) == QUARKSMITH_DOUBLE)
    for_each_real_link<double>(arrays, p, visit);
  else
    for_each_real_link<float>(arrays, p, visit);
}

/// Multiplies the links in space by the anisotropy, by which their caller divided them; 0: by what makes rows of length
/// 1 of theirs. \return by what.
double multiply_links_in_space(const quarksmith_link_format& of_caller, double by) {
  State& s = state();
  auto format = initial(quarksmith_link_format_init);
  std::copy_n(of_caller.eta, 4, format.eta);
  std::copy_n(of_caller.boundary, 4, format.boundary);
  format.spread = 1;
  std::vector<double> numbers(72 * s.sites());
  void* array = numbers.data();
  check(quarksmith_gauge_get(s.wilson.gauge(), &array, &format));
  if (by == 0) {
    const double row = std::inner_product(numbers.begin(), numbers.begin() + 6, numbers.begin(), 0.0);
    by = std::abs(row - 1) < 1e-5 || !(row > 0) ? 1 : 1 / std::sqrt(row);
  }
  if (by == 1) return 1;
  for (std::size_t n = 0; n < numbers.size(); ++n)
    if (n % 72 < 54) numbers[n] *= by;
  const void* const from = array;
  check(quarksmith_gauge_load(s.context(), &from, &format, s.wilson.out()));
  return by;
}

void load_thin(void* h_gauge, const QudaGaugeParam& p) {
  State& s = state();
  auto format = thin_format(p);
  format.spread = 1;  // theta boundaries of tmLQCD
  check(quarksmith_gauge_load(s.context(p.X), link_arrays(h_gauge, p).data(), &format, s.wilson.out()));
  State::Loaded loaded;
  loaded.phases = p.staggered_phase_applied != 0;
  loaded.declared = p.anisotropy != 1 && is_set(p.anisotropy);
  if (loaded.declared || p.reconstruct == QUDA_RECONSTRUCT_NO)
    loaded.anisotropy = multiply_links_in_space(format, loaded.declared ? p.anisotropy : 0);
  s.loaded = loaded;
  look_at_thin();
}

/// The boundary's sign and all phases stay in the links; those that the operator multiplies by are divided out.
void load_improved(void* h_gauge, const QudaGaugeParam& p, const char* name, int length) {
  State& s = state();
  quarksmith_context* const context = s.context(p.X);
  if (!s.improved) {
    const double periodic[4] = {0, 0, 0, 0};
    check(quarksmith_gauge_unit(context, periodic, s.improved.out()));
  }
  s.improved.forget();
  auto format = link_format(p);
  std::copy_n(time_first, 4, format.eta);
  check(quarksmith_gauge_links(s.improved.gauge(), name, length, link_arrays(h_gauge, p).data(), &format));
  (length == 1 ? s.has_fat : s.has_long) = true;
}

void clear_improved(bool& has, bool& other) {
  has = false;
  if (!other) state().improved.clear();
}

}  // namespace

void keep_thin(Handle<quarksmith_gauge> links, bool phases) {
  state().wilson.take(std::move(links));
  state().loaded = {};
  state().loaded.phases = phases;
  look_at_thin();
}
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void loadGaugeQuda(void* h_gauge, QudaGaugeParam* param) {
  const Call call(__func__);
  check_links(*param);
  if (param->use_resident_gauge != 0) {
    if (param->type != QUDA_WILSON_LINKS || !state().wilson)
      refuse("use_resident_gauge, and there are no such links; set it to 0");
    return;
  }
  switch (param->type) {
    case QUDA_WILSON_LINKS:
      return load_thin(h_gauge, *param);
    case QUDA_ASQTAD_FAT_LINKS:
      return load_improved(h_gauge, *param, "fat", 1);
    case QUDA_ASQTAD_LONG_LINKS:
      return load_improved(h_gauge, *param, "long", 3);
    default:
      refuse("type " + std::to_string(param->type) + " is not served; use QUDA_WILSON_LINKS or fat and long ones");
  }
}

void freeUniqueGaugeQuda(QudaLinkType link_type) {
  State& s = state();
  if (link_type == QUDA_WILSON_LINKS) s.wilson.clear();
  if (link_type == QUDA_ASQTAD_FAT_LINKS) clear_improved(s.has_fat, s.has_long);
  if (link_type == QUDA_ASQTAD_LONG_LINKS) clear_improved(s.has_long, s.has_fat);
}
void freeGaugeQuda() {
  for (const QudaLinkType type : {QUDA_WILSON_LINKS, QUDA_ASQTAD_FAT_LINKS, QUDA_ASQTAD_LONG_LINKS})
    freeUniqueGaugeQuda(type);
}
void freeGaugeSmearedQuda() {}
void freeGaugeTwoLinkQuda() {}
void flushChronoQuda(int) {}
void flushPoolQuda(QudaMemoryType) {}
void updateR() {}

void saveGaugeQuda(void* h_gauge, QudaGaugeParam* param) {
  const Call call(__func__);
  if (param->type != QUDA_WILSON_LINKS) refuse("type: links of QUDA_WILSON_LINKS alone are kept for this");
  if (!state().wilson) refuse("there are no links; call loadGaugeQuda first");
  if (state().loaded.anisotropy != 1) refuse("anisotropic links are not given back; use those that were passed");
  auto format = link_format(*param);
  if (state().loaded.phases) std::copy_n(time_first, 4, format.eta);
  format.spread = 1;
  check(quarksmith_gauge_get(state().wilson.gauge(), link_arrays(h_gauge, *param).data(), &format));
}

void loadCloverQuda(void* h_clover, void* h_clovinv, QudaInvertParam* p) {
  const Call call(__func__);
  auto& clover = state().clover;
  if (p->dslash_type != QUDA_CLOVER_WILSON_DSLASH && p->dslash_type != QUDA_TWISTED_CLOVER_DSLASH)
    refuse("dslash_type " + std::to_string(p->dslash_type) + " has no clover term; use a clover type");
  if (!state().wilson) refuse("there are no links; call loadGaugeQuda first");
  if (p->return_clover != 0 || p->return_clover_inverse != 0)
    refuse("return_clover and return_clover_inverse are not served; set them to 0");
  clover = {};
  clover.given = h_clover != nullptr && p->compute_clover == 0;
  if (clover.given) {
    clover.format = initial(quarksmith_term_format_init);
    clover.format.precision = precision_of("clover_cpu_prec", p->clover_cpu_prec);
    clover.format.sites = QUARKSMITH_EVEN_ODD;
    clover.format.order = meaning<int>("clover_order", p->clover_order,
                                       {{QUDA_PACKED_CLOVER_ORDER, "QUDA_PACKED_CLOVER_ORDER", QUARKSMITH_COLUMNS}});
    const char* const first = static_cast<const char*>(h_clover);
    clover.term.assign(first, first + state().sites() * 72 * std::size_t(p->clover_cpu_prec));
    // Compared with the inverse once.
    if (h_clovinv != nullptr && p->compute_clover_inverse == 0)
      check(quarksmith_gauge_term(state().wilson.gauge(), "clover", h_clover, h_clovinv, &clover.format));
  } else {
    if (state().loaded.declared)
      refuse("anisotropy of the links is not 1, and a clover term is not made of such; pass it, or load others for it");
    if (p->clover_coeff == 0 && p->clover_csw == 0) refuse("neither clover_coeff nor clover_csw is set");
    if (p->clover_coeff == 0) p->clover_coeff = p->kappa * p->clover_csw;
    clover.coefficient = p->clover_coeff;
    clover.plaquette = state().loaded.plaquette;
    clover.space = 1 / state().loaded.anisotropy;
  }
  clover.loaded = true;
  if (p->dslash_type == QUDA_CLOVER_WILSON_DSLASH && p->compute_clover_trlog != 0) {
    const Quark quark(*p);
    for (const int parity : {QUARKSMITH_EVEN, QUARKSMITH_ODD})
      p->trlogA[parity] = quark.log_det(parity) + 6.0 * double(state().all_sites()) * std::log(quark.factor);
  }
}
void freeCloverQuda() { state().clover = {}; }

void staggeredPhaseQuda(void* gauge_h, QudaGaugeParam* param) {
  const Call call(__func__);
  check_links(*param);
  if (param->use_resident_gauge != 0 || param->make_resident_gauge != 0)
    refuse("use_resident_gauge and make_resident_gauge are not served here; set them to 0");
  const int sign = meaning<int>("staggered_phase_type", param->staggered_phase_type,
                                {{QUDA_STAGGERED_PHASE_MILC, "QUDA_STAGGERED_PHASE_MILC", 0},
                                 {QUDA_STAGGERED_PHASE_CHROMA, "QUDA_STAGGERED_PHASE_CHROMA", 1},
                                 {QUDA_STAGGERED_PHASE_TIFR, "QUDA_STAGGERED_PHASE_TIFR", 2}});
  if (param->return_result_gauge == 0) return;
  const bool last = state().ranks.last(3);
  for_each_link(link_arrays(gauge_h, *param), *param, [&](const int* x, int mu, auto* u) {
    const int milc[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0},
              chroma[] = {1, 1 + x[0], 1 + x[0] + x[1], 1 + x[0] + x[1] + x[2]},
              tifr[] = {3 + x[3] + x[2] + x[1], 2 + x[3] + x[2], 1 + x[3], 0};
    const int* const exponents[] = {milc, chroma, tifr};
    const bool across = last && mu == 3 && x[3] == param->X[3] - 1 && param->t_boundary == QUDA_ANTI_PERIODIC_T;
    if ((exponents[sign][mu] + int(across)) % 2 == 1)
      for (int k = 0; k < 18; ++k) u[k] = -u[k];
  });
}

void computeKSLinkQuda(void* fatlink, void* longlink, void* ulink, void* inlink, double* c, QudaGaugeParam* param) {
  const Call call(__func__);
  check_links(*param);
  if (ulink != nullptr && param->staggered_phase_type == QUDA_STAGGERED_PHASE_CHROMA)
    refuse(
        "staggered_phase_type QUDA_STAGGERED_PHASE_CHROMA: its projection to SU(3) is not served; use "
        "QUDA_STAGGERED_PHASE_MILC");
  const auto format = link_format(*param);
  quarksmith_context* const context = state().context(param->X);
  const auto smear = [&](const char* name, std::initializer_list<double> weights, void* to, void* from) {
    check(quarksmith_smear_links(context, name, weights.begin(), link_arrays(to, *param).data(),
                                 link_arrays(from, *param).data(), &format));
  };
  if (longlink != nullptr) smear("naik", {c[1]}, longlink, inlink);
  if (fatlink == nullptr && ulink == nullptr) return;
  void* const fat = fatlink != nullptr ? fatlink : ulink;
  smear("fat7", {c[0], c[2], c[3], c[4], c[5]}, fat, inlink);
  if (ulink == nullptr) return;
  smear("unitary", {}, ulink, fat);
}

void plaqQuda(double plaq[3]) {
  const Call call(__func__);
  if (!state().wilson) refuse("there are no links; call loadGaugeQuda first");
  std::copy(state().loaded.plaquette.begin(), state().loaded.plaquette.end(), plaq);
}

/// The links of a caller hold the boundary's phase, which is a factor of each loop; QUDA averages the trace.
void polyakovLoopQuda(double ploop[2], int dir) {
  const Call call(__func__);
  require_time(dir);
  if (!state().wilson) refuse("there are no links; call loadGaugeQuda first");
  double angle[4];
  check(quarksmith_gauge_phase(state().wilson.gauge(), angle));
  polyakov_loop(state().wilson.gauge(), ploop);
  const Complex loop = Complex(ploop[0], ploop[1]) * std::polar(1.0, std::numbers::pi * angle[3]);
  ploop[0] = loop.real(), ploop[1] = loop.imag();
}
