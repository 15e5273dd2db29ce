// Functions of quda.h that apply and invert Dirac operators.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

double norm(const Vector& x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
  for (std::size_t n = 0; n < x.size(); ++n) sum += std::norm(x[n]);
  return std::sqrt(all_sum(sum));
}

Complex product(const Vector& x, const Vector& y) {
  Complex sum = 0;
  for (std::size_t n = 0; n < x.size(); ++n) sum += std::conj(x[n]) * y[n];
  return {all_sum(sum.real()), all_sum(sum.imag())};
}

/// y = a x + y
void add(double a, const Vector& x, Vector& y) {
  for (std::size_t n = 0; n < x.size(); ++n) y[n] += a * x[n];
}

/// Fermilab's residual: the mean over sites of |r(x)|^2 / |x(x)|^2, 1 where x is 0; its root.
double heavy_quark_residual(const Vector& r, const Vector& x, std::size_t each) {
  double sum = 0;
  for (std::size_t n = 0; n < x.size(); n += each) {
    double above = 0, below = 0;
    for (std::size_t k = n; k < n + each; ++k) above += std::norm(r[k]), below += std::norm(x[k]);
    sum += below > 0 ? above / below : 1;
  }
  return std::sqrt(all_sum(sum) / all_sum(double(x.size() / each)));
}

/// How solve_type goes with a system, which is what decides.
void check_solve_type(const QudaInvertParam& p, const System& s) {
  const bool pc = meaning<bool>("solve_type", p.solve_type,
                                {{QUDA_DIRECT_SOLVE, "QUDA_DIRECT_SOLVE", false},
                                 {QUDA_NORMOP_SOLVE, "QUDA_NORMOP_SOLVE", false},
                                 {QUDA_NORMERR_SOLVE, "QUDA_NORMERR_SOLVE", false},
                                 {QUDA_DIRECT_PC_SOLVE, "QUDA_DIRECT_PC_SOLVE", true},
                                 {QUDA_NORMOP_PC_SOLVE, "QUDA_NORMOP_PC_SOLVE", true},
                                 {QUDA_NORMERR_PC_SOLVE, "QUDA_NORMERR_PC_SOLVE", true}});
  if (!s.full() && !pc) refuse("solve_type: a preconditioned solution_type needs a preconditioned solve_type");
  if (p.inv_type == QUDA_INVALID_INVERTER || p.inv_type == QUDA_MG_INVERTER || p.inv_type == QUDA_EIGCG_INVERTER ||
      p.inv_type == QUDA_INC_EIGCG_INVERTER || p.inv_type == QUDA_GMRESDR_PROJ_INVERTER)
    refuse("inv_type " + std::to_string(p.inv_type) + " is not served; use QUDA_CG_INVERTER or QUDA_BICGSTAB_INVERTER");
  for (const auto& [name, used] :
       {std::pair("use_resident_solution", p.use_resident_solution != 0),
        std::pair("make_resident_solution", p.make_resident_solution != 0),
        std::pair("eig_param", p.eig_param != nullptr), std::pair("deflation_op", p.deflation_op != nullptr)})
    if (used) refuse(std::string(name) + " is not served; leave it 0");
}

/// By what QUDA multiplies the source (its mass normalisation).
double source_factor(const QudaInvertParam& p, const Quark& quark, const System& s) {
  const int normal = meaning<int>("mass_normalization", p.mass_normalization,
                                  {{QUDA_KAPPA_NORMALIZATION, "QUDA_KAPPA_NORMALIZATION", 0},
                                   {QUDA_MASS_NORMALIZATION, "QUDA_MASS_NORMALIZATION", 2},
                                   {QUDA_ASYMMETRIC_MASS_NORMALIZATION, "QUDA_ASYMMETRIC_MASS_NORMALIZATION", 1}});
  if (quark.staggered()) return normal > 0 ? 1 : s.squared ? 4 * p.mass * p.mass : 2 * p.mass;
  if (normal == 0) return 1;
  const double once = std::pow(quark.rescaling, s.full() ? 1 : normal);
  return s.squared ? once * once : once;
}

/// What a solve has to reach, in QUDA's normalisation.
struct Criterion {
  explicit Criterion(const QudaInvertParam& p)
      : relative((p.residual_type & QUDA_L2_RELATIVE_RESIDUAL) != 0),
        absolute((p.residual_type & QUDA_L2_ABSOLUTE_RESIDUAL) != 0),
        heavy((p.residual_type & QUDA_HEAVY_QUARK_RESIDUAL) != 0),
        tol(p.tol),
        tol_heavy(p.tol_hq) {
    if (p.residual_type <= 0 || p.residual_type > 7 || (relative && absolute))
      refuse("residual_type " + std::to_string(p.residual_type) +
             " is not served; use QUDA_L2_RELATIVE_RESIDUAL, QUDA_L2_ABSOLUTE_RESIDUAL or QUDA_HEAVY_QUARK_RESIDUAL");
    if ((relative || absolute) && !(tol > 0)) refuse("tol is not a positive number; set it");
    if (heavy && !(tol_heavy > 0)) refuse("tol_hq is not a positive number; set it");
  }
  bool relative, absolute, heavy;
  double tol, tol_heavy;
};

/// One right-hand side: b = A y, in the library's normalisation; made of the caller's source.
struct Column {
  Vector b, y, r, source;
  double size = 0;      ///< |b|
  double residual = 1;  ///< |r| / |b|
  double heavy = INFINITY;
};

constexpr int most_passes = 20;
/// Residuals are computed twice, by solvers and here.
constexpr double rounding = 1.01;

void measure(Column& c, const Quark& quark, double factor) {
  c.residual = norm(c.r) / c.size;
  c.heavy = factor * heavy_quark_residual(c.r, c.y, quark.components());
}

void solve_columns(std::vector<Column>& all, const Quark& quark, const System& s, const Criterion& c, double scale,
                   Effort& effort) {
  double tighter = 1;  // where the residual of A is so much larger than that of A^+ A, which is solved with
  for (int pass = 0; pass < most_passes; ++pass) {
    std::vector<Column*> open;
    Vectors rest;
    double tolerance = 1;
    for (Column& one : all) {
      const double target = c.relative ? c.tol : c.absolute ? c.tol / (scale * one.size) : 1;
      const bool heavy_done = !c.heavy || one.heavy <= c.tol_heavy * rounding;
      if ((pass > 0 || one.residual < 1) && one.residual <= target * rounding && heavy_done) continue;
      open.push_back(&one);
      rest.push_back(one.r);
      double wanted = c.relative || c.absolute ? std::min(target / one.residual, 0.5) : c.tol_heavy;
      if (pass > 0 && one.residual <= target * rounding) wanted = 0.1;  // the other criterion
      tolerance = std::min(tolerance, std::max(wanted * tighter, 1e-15));
    }
    if (open.empty()) return;
    if (pass > 0 && !effort.converged) return;
    const Vectors step = quark.solve(s, rest, tolerance, effort);
    bool better = false;
    Vectors products = [&] {
      Vectors y;
      for (std::size_t n = 0; n < open.size(); ++n) add(1, step[n], open[n]->y), y.push_back(open[n]->y);
      return quark.apply(s, y);
    }();
    for (std::size_t n = 0; n < open.size(); ++n) {
      const double before = open[n]->residual;
      open[n]->r = open[n]->b;
      add(-1, products[n], open[n]->r);
      measure(*open[n], quark, quark.factor_of(s));
      better = better || open[n]->residual < 0.7 * before;
    }
    if (!better && (tighter *= 1e-2) < 1e-7) return;
  }
}

void report(QudaInvertParam& p, const Effort& effort, const Call& call) {
  p.iter = effort.iterations;
  p.secs = call.seconds();
  p.gflops = effort.flops * 1e-9;  // callers divide by secs
}

void invert(void** x, void** b, int n, QudaInvertParam& p, const Call& call) {
  Quark quark(p);
  const System s = system_of(p, quark);
  check_solve_type(p, s);
  if (p.inv_type_precondition == QUDA_MG_INVERTER) quark.use(state().multigrid(p.preconditioner));
  const Criterion criterion(p);
  const double scale = source_factor(p, quark, s), ratio = scale / quark.factor_of(s);
  const Spinors spinors(p, quark, s.sites);
  // Of walls x is part of the solution of M x = T b, or T^+ times it (QUDA's symmetric form is T^-1 times the
  // asymmetric one).
  const bool part = quark.walls && !s.full(), symmetric = s.form == std::string("symmetric");
  const System solved = part ? System{.dagger = s.dagger} : s;
  const bool guess = p.use_init_guess == QUDA_USE_INIT_GUESS_YES && !part;
  std::vector<Column> columns(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) {
    Column& c = columns[k];
    c.b = c.source = spinors.read(b[k]);
    if (part) c.b = quark.on_all_sites(s.sites, symmetric && !s.dagger ? quark.term(s.sites, false, c.b) : c.b);
    c.size = norm(c.b);
    if (!(c.size > 0)) refuse("source " + std::to_string(k) + " has zero norm or is not finite; pass another");
    c.r = c.b;
    c.y.resize(c.b.size());
    if (!guess) continue;
    c.y = spinors.read(x[k]);
    multiply_by(1 / ratio, c.y);
    add(-1, quark.apply(s, {c.y})[0], c.r);
    measure(c, quark, quark.factor_of(s));
  }
  Effort effort;
  solve_columns(columns, quark, solved, criterion, scale, effort);
  for (int k = 0; k < n; ++k) {
    Column& c = columns[k];
    p.true_res[k] = c.residual;
    p.true_res_hq[k] = c.heavy;
    if (part) c.y = quark.on_half(s.sites, c.y);
    if (part && symmetric && s.dagger) c.y = quark.term(s.sites, true, c.y);
    multiply_by(ratio, c.y);
    spinors.write(c.y, x[k]);
  }
  if (p.compute_action != 0) {
    const Complex action = scale * product(columns[0].source, columns[0].y);
    p.action[0] = action.real();
    p.action[1] = action.imag();
  }
  report(p, effort, call);
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void invertQuda(void* hp_x, void* hp_b, QudaInvertParam* param) {
  const Call call(__func__);
  invert(&hp_x, &hp_b, 1, *param, call);
}

void invertMultiSrcQuda(void** hp_x, void** hp_b, QudaInvertParam* param) {
  const Call call(__func__);
  if (param->num_src < 1 || param->num_src > QUDA_MAX_MULTI_SRC)
    refuse("num_src " + std::to_string(param->num_src) + "; use 1 to 128");
  invert(hp_x, hp_b, param->num_src, *param, call);
}

void invertMultiShiftQuda(void** hp_x, void* hp_b, QudaInvertParam* p) {
  const Call call(__func__);
  const int n = p->num_offset;
  if (n < 1 || n > QUDA_MAX_MULTI_SHIFT) refuse("num_offset " + std::to_string(n) + "; use 1 to 32");
  if (!std::is_sorted(p->offset, p->offset + n)) refuse("offset is not in ascending order; sort it");
  const bool staggered = p->dslash_type == QUDA_ASQTAD_DSLASH || p->dslash_type == QUDA_STAGGERED_DSLASH;
  if (staggered) p->mass = std::sqrt(p->offset[0] / 4);
  const Quark quark(*p);
  const System s = system_of(*p, quark);
  check_solve_type(*p, s);
  if (staggered ? p->solution_type != QUDA_MATPC_SOLUTION : !s.squared)
    refuse(
        "solution_type: shifts are added to QUDA_MATDAG_MAT_SOLUTION and QUDA_MATPCDAG_MATPC_SOLUTION, of staggered "
        "quarks to QUDA_MATPC_SOLUTION");
  if (s.dagger && quark.walls) refuse("dagger QUDA_DAG_YES with shifts is not served of walls; use QUDA_DAG_NO");
  if ((p->residual_type & QUDA_L2_RELATIVE_RESIDUAL) == 0 || (p->residual_type & QUDA_HEAVY_QUARK_RESIDUAL) != 0)
    refuse("residual_type with shifts: QUDA_L2_RELATIVE_RESIDUAL alone is served");
  const double scale = source_factor(*p, quark, s), factor = quark.factor_of(s), ratio = scale / factor;
  const double per_offset = staggered ? 1 : ratio;
  std::vector<double> shifts;
  double least = 1;
  for (int k = 0; k < n; ++k) {
    shifts.push_back(per_offset * (p->offset[k] - (staggered ? p->offset[0] : 0)));
    if (p->tol_offset[k] > 0 && is_set(p->tol_offset[k])) least = std::min(least, p->tol_offset[k]);
  }
  if (least == 1 && p->tol > 0 && is_set(p->tol)) least = p->tol;
  if (least >= 1) refuse("tol_offset has no positive number below 1; set it");
  const Spinors spinors(*p, quark, s.sites);
  const Vector b = spinors.read(hp_b);
  const double size = norm(b);
  if (!(size > 0)) refuse("the source has zero norm or is not finite; pass another");
  Effort effort;
  Vectors y = quark.solve_shifted(s, shifts, b, least, effort);
  Complex action = 0;
  for (int k = 0; k < n; ++k) {
    const double target = p->tol_offset[k] > 0 && is_set(p->tol_offset[k]) ? p->tol_offset[k] : least;
    double residual = INFINITY;
    for (int pass = 0; pass < most_passes; ++pass) {
      Vector r = quark.apply(s, {y[k]})[0];
      add(shifts[k], y[k], r);
      multiply_by(-1, r);
      add(1, b, r);
      const double before = std::exchange(residual, norm(r) / size);
      if (pass == 0) p->iter_res_offset[k] = residual;
      if (residual <= target * rounding || residual > 0.7 * before || !effort.converged) break;
      add(1, quark.solve_shifted(s, {shifts[k]}, r, std::min(target / residual, 0.5), effort)[0], y[k]);
    }
    p->true_res_offset[k] = residual;
    multiply_by(ratio, y[k]);
    if (p->compute_action != 0) action += p->residue[k] * scale * product(b, y[k]);
    spinors.write(y[k], hp_x[k]);
  }
  p->action[0] = action.real();
  p->action[1] = action.imag();
  report(*p, effort, call);
}
