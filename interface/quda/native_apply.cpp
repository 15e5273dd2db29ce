// Functions of quda.h that apply Dirac operators.
#include <cmath>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {

System system_of(const QudaInvertParam& p, const Quark& quark) {
  System s;
  s.dagger =
      meaning<bool>("dagger", p.dagger, {{QUDA_DAG_NO, "QUDA_DAG_NO", false}, {QUDA_DAG_YES, "QUDA_DAG_YES", true}});
  struct Kind {
    bool pc, squared;
  };
  const Kind kind = meaning<Kind>("solution_type", p.solution_type,
                                  {{QUDA_MAT_SOLUTION, "QUDA_MAT_SOLUTION", {false, false}},
                                   {QUDA_MATDAG_MAT_SOLUTION, "QUDA_MATDAG_MAT_SOLUTION", {false, true}},
                                   {QUDA_MATPC_SOLUTION, "QUDA_MATPC_SOLUTION", {true, false}},
                                   {QUDA_MATPCDAG_MATPC_SOLUTION, "QUDA_MATPCDAG_MATPC_SOLUTION", {true, true}}});
  s.squared = kind.squared;
  const char* const of_rho = "tm_rho is served of asymmetric even-odd forms alone; leave it 0";
  if (!kind.pc && quark.rho != 0) refuse(of_rho);
  if (!kind.pc) return s;
  struct Form {
    const char* form;
    int sites;
  };
  const Form form = meaning<Form>(
      "matpc_type", p.matpc_type,
      {{QUDA_MATPC_EVEN_EVEN, "QUDA_MATPC_EVEN_EVEN", {"symmetric", QUARKSMITH_EVEN}},
       {QUDA_MATPC_ODD_ODD, "QUDA_MATPC_ODD_ODD", {"symmetric", QUARKSMITH_ODD}},
       {QUDA_MATPC_EVEN_EVEN_ASYMMETRIC, "QUDA_MATPC_EVEN_EVEN_ASYMMETRIC", {"asymmetric", QUARKSMITH_EVEN}},
       {QUDA_MATPC_ODD_ODD_ASYMMETRIC, "QUDA_MATPC_ODD_ODD_ASYMMETRIC", {"asymmetric", QUARKSMITH_ODD}}});
  s.form = form.form;
  s.sites = form.sites;
  const bool asymmetric = s.form == std::string("asymmetric");
  if (asymmetric && (quark.staggered() || p.dslash_type == QUDA_WILSON_DSLASH))
    refuse("matpc_type: this dslash_type has no asymmetric form; use QUDA_MATPC_EVEN_EVEN or QUDA_MATPC_ODD_ODD");
  if (!asymmetric && quark.rho != 0) refuse(of_rho);
  if (quark.parity_of_five)
    refuse(
        "solution_type: even-odd forms of QUDA_DOMAIN_WALL_DSLASH, in five dimensions, are not served; use "
        "QUDA_DOMAIN_WALL_4D_DSLASH");
  if (quark.walls && s.squared)
    refuse("solution_type QUDA_MATPCDAG_MATPC_SOLUTION of domain walls is not served; use QUDA_MATDAG_MAT_SOLUTION");
  if (quark.staggered() && s.squared)
    refuse(
        "solution_type QUDA_MATPCDAG_MATPC_SOLUTION of staggered quarks is not served; QUDA_MATPC_SOLUTION is 4 m^2 - "
        "D^2");
  return s;
}

namespace {

/// By what QUDA multiplies the results of MatQuda and MatDagMatQuda: powers of the member kappa, whatever the operator.
double product_factor(const QudaInvertParam& p, const System& s) {
  const int normal = meaning<int>("mass_normalization", p.mass_normalization,
                                  {{QUDA_KAPPA_NORMALIZATION, "QUDA_KAPPA_NORMALIZATION", 0},
                                   {QUDA_MASS_NORMALIZATION, "QUDA_MASS_NORMALIZATION", 2},
                                   {QUDA_ASYMMETRIC_MASS_NORMALIZATION, "QUDA_ASYMMETRIC_MASS_NORMALIZATION", 1}});
  if (normal == 0) return 1;
  if (!is_set(p.kappa) || p.kappa == 0) refuse("kappa is not set, and mass_normalization asks for it; set it");
  const double once = std::pow(2 * p.kappa, -(s.full() ? 1 : normal));
  return s.squared ? once * once : once;
}

void apply_matrix(void* h_out, void* h_in, const QudaInvertParam& p, bool squared) {
  const Quark quark(p);
  System s = system_of(p, quark);
  s.squared = squared;
  if (quark.walls && !s.full()) refuse("solution_type: even-odd forms of domain walls are solved for, not applied");
  if (squared && quark.staggered() && !s.full())
    refuse("solution_type: A^+ A of staggered quarks on one parity is not served; MatQuda is 4 m^2 - D^2");
  const Spinors spinors(p, quark, s.sites);
  Vector out = quark.apply(s, {spinors.read(h_in)})[0];
  multiply_by(quark.factor_of(s) * product_factor(p, s), out);
  spinors.write(out, h_out);
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void MatQuda(void* h_out, void* h_in, QudaInvertParam* inv_param) {
  const Call call(__func__);
  apply_matrix(h_out, h_in, *inv_param, false);
}
void MatDagMatQuda(void* h_out, void* h_in, QudaInvertParam* inv_param) {
  const Call call(__func__);
  apply_matrix(h_out, h_in, *inv_param, true);
}

void dslashQuda(void* h_out, void* h_in, QudaInvertParam* p, QudaParity parity) {
  const Call call(__func__);
  const int sites = meaning<int>(
      "parity", parity,
      {{QUDA_EVEN_PARITY, "QUDA_EVEN_PARITY", QUARKSMITH_EVEN}, {QUDA_ODD_PARITY, "QUDA_ODD_PARITY", QUARKSMITH_ODD}});
  const Quark quark(*p);
  QudaInvertParam half = *p;
  half.solution_type = QUDA_MATPC_SOLUTION;
  const System s = system_of(half, quark);
  const Spinors to(*p, quark, sites), from(*p, quark, QUARKSMITH_EVEN + QUARKSMITH_ODD - sites);
  // The term T of clover and twisted quarks, by whose inverse D is multiplied.
  const bool clover = p->dslash_type == QUDA_CLOVER_WILSON_DSLASH,
             twisted = p->dslash_type == QUDA_TWISTED_MASS_DSLASH || p->dslash_type == QUDA_TWISTED_CLOVER_DSLASH;
  if (twisted && (quark.slices > 1 || (s.dagger && p->dslash_type == QUDA_TWISTED_CLOVER_DSLASH)))
    refuse(
        "dslash_type: this function is not served for two flavours, nor for the conjugate of twisted clover; use "
        "MatQuda");
  Vector in = from.read(h_in);
  const bool before = twisted && s.dagger && s.form == std::string("symmetric");
  if (before) in = quark.divide_by_term(from.sites(), true, in);
  Vector out = quark.hop(sites, s.dagger, in);
  if ((clover || twisted) && !before) out = quark.divide_by_term(sites, s.dagger && twisted, out);
  if (clover || twisted) multiply_by(1 / quark.factor, out);
  if (quark.staggered() && p->mass_normalization == QUDA_KAPPA_NORMALIZATION) multiply_by(1 / (2 * p->mass), out);
  to.write(out, h_out);
}

void dslashMultiSrcQuda(void** x, void** b, QudaInvertParam* param, QudaParity parity) {
  const Call call(__func__);
  for (int n = 0; n < param->num_src; ++n) dslashQuda(x[n], b[n], param, parity);
}

void cloverQuda(void* h_out, void* h_in, QudaInvertParam* p, QudaParity parity, int inverse) {
  const Call call(__func__);
  const int sites = meaning<int>(
      "parity", parity,
      {{QUDA_EVEN_PARITY, "QUDA_EVEN_PARITY", QUARKSMITH_EVEN}, {QUDA_ODD_PARITY, "QUDA_ODD_PARITY", QUARKSMITH_ODD}});
  if (p->dslash_type != QUDA_CLOVER_WILSON_DSLASH) refuse("dslash_type: QUDA_CLOVER_WILSON_DSLASH alone is served");
  const Quark quark(*p);
  const Spinors spinors(*p, quark, sites);
  const Vector in = spinors.read(h_in);
  Vector out = inverse != 0 ? quark.divide_by_term(sites, false, in) : quark.term(sites, false, in);
  multiply_by(inverse != 0 ? 1 / quark.factor : quark.factor, out);
  spinors.write(out, h_out);
}
