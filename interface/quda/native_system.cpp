// Products with the operators of quda.h, and solves, through the C interface.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

quarksmith_spinor_format order_of(int sites) {
  auto format = initial(quarksmith_spinor_format_init);
  format.sites = QUARKSMITH_EVEN_ODD;
  format.half = sites != QUARKSMITH_FULL;
  return format;
}

/// The slices of vectors, one after the other.
template <class Pointer, class All>
std::vector<Pointer> pieces(All& vectors, int slices) {
  std::vector<Pointer> all;
  for (auto& x : vectors)
    for (int s = 0; s < slices; ++s) all.push_back(x.data() + x.size() / unsigned(slices) * unsigned(s));
  return all;
}

void count(Effort& effort, const std::vector<quarksmith_solve_report>& reports, quarksmith_status status) {
  check_solve(status);
  int most = 0;
  for (const auto& r : reports) {
    most = std::max(most, r.iterations);
    effort.seconds += r.seconds;
    effort.flops += 1e9 * r.gflops * r.seconds;
  }
  effort.iterations += most;
  effort.converged = effort.converged && status == QUARKSMITH_OK;
}

}  // namespace

Vectors Quark::multiply(const System& s, bool dagger, const Vectors& x) const {
  Vectors in, out;
  for (const Vector& v : x) in.push_back(rephased(v, s.sites)), out.emplace_back(v.size());
  const auto format = order_of(s.sites);
  // QUDA's M of staggered quarks is the conjugate of the library's.
  const bool conjugate = dagger != (staggered() && s.full());
  check(quarksmith_matrix_host(op(s), conjugate, int(x.size()), pieces<void*>(out, slices).data(),
                               pieces<const void*>(in, slices).data(), &format));
  for (Vector& v : out) v = rephased(std::move(v), s.sites);
  if (rho != 0 && !s.full())
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Vector turned = gamma5(x[k]);
      for (std::size_t n = 0; n < turned.size(); ++n) out[k][n] += Complex(0, dagger ? -rho : rho) * turned[n];
    }
  return out;
}

Vectors Quark::apply(const System& s, const Vectors& x) const {
  const Vectors once = multiply(s, s.dagger, x);
  return s.squared ? multiply(s, !s.dagger, once) : once;
}

/// M^-1 b or M^+^-1 b on all sites, of one flavour in four dimensions.
Vectors Quark::solve_full(bool dagger, const Vectors& b, double tolerance, Effort& effort) const {
  const auto turned = [&](Vector v) {
    v = rephased(std::move(v), QUARKSMITH_FULL);
    if (staggered()) return dagger ? v : alternate(std::move(v));
    return dagger ? gamma5(std::move(v)) : v;
  };
  Vectors in, out;
  for (const Vector& v : b) in.push_back(turned(v)), out.emplace_back(v.size());
  const std::string method = staggered() ? "" : " solver=" + solver_;
  quarksmith_solver* const solver =
      multigrid_ != nullptr
          ? multigrid_->solver(*links_, by_multigrid(dagger))
          : links_->solver((dagger && !staggered() ? conjugate_ : action_) + method + " precision=" + precision_);
  check(quarksmith_solver_limits(solver, tolerance, most_));
  std::vector<quarksmith_solve_report> reports(b.size(), initial(quarksmith_solve_report_init));
  const auto format = order_of(QUARKSMITH_FULL);
  const quarksmith_status status = quarksmith_solve(solver, int(b.size()), pieces<void*>(out, 1).data(),
                                                    pieces<const void*>(in, 1).data(), &format, reports.data());
  count(effort, reports, status);
  for (Vector& v : out) v = turned(std::move(v));
  return out;
}

/// By conjugate gradients here, as no solver of the library has A + i rho gamma_5. \param n A^+ A or A A^+
Vector Quark::solve_with_rho(const System& n, double shift, const Vector& b, double tolerance, Effort& effort) const {
  const auto product = [](const Vector& x, const Vector& y) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (std::size_t k = 0; k < x.size(); ++k) sum += (std::conj(x[k]) * y[k]).real();
    return all_sum(sum);
  };
  Vector y(b.size()), r = b, p = b;
  double rr = product(r, r);
  const double goal = tolerance * tolerance * rr;
  int iterations = 0;
  for (; rr > goal && iterations < most_; ++iterations) {
    Vector q = std::move(apply(n, {p})[0]);
    for (std::size_t k = 0; k < q.size(); ++k) q[k] += shift * p[k];
    const double a = rr / product(p, q);
    for (std::size_t k = 0; k < q.size(); ++k) y[k] += a * p[k], r[k] -= a * q[k];
    const double before = std::exchange(rr, product(r, r));
    for (std::size_t k = 0; k < q.size(); ++k) p[k] = r[k] + rr / before * p[k];
  }
  effort.iterations += iterations;
  effort.converged = effort.converged && rr <= goal;
  return y;
}

Vectors Quark::solve_shifted(const System& s, const std::vector<double>& shifts, const Vector& b, double tolerance,
                             Effort& effort) const {
  const bool turn = turns(s);
  Vectors out;
  if (rho != 0) {
    const System normal{.form = s.form, .sites = s.sites, .dagger = turn, .squared = true};
    for (const double shift : shifts) out.push_back(solve_with_rho(normal, shift, b, tolerance, effort));
    return out;
  }
  const int n = int(shifts.size());
  out.assign(shifts.size(), Vector(b.size()));
  quarksmith_shifted* const solver = links_->shifted(
      options(turn ? conjugate_ : action_, s) + (s.full() ? " even-odd=none" : "") + " precision=" + precision_, n);
  check(quarksmith_shifted_limits(solver, tolerance, most_, 0));
  std::vector<quarksmith_solve_report> reports(shifts.size(), initial(quarksmith_solve_report_init));
  const auto format = order_of(s.sites);
  const Vector in = turn ? gamma5(b) : rephased(b, s.sites);
  const quarksmith_status status = quarksmith_shifted_solve(solver, n, shifts.data(), pieces<void*>(out, 1).data(),
                                                            in.data(), &format, reports.data());
  count(effort, reports, status);
  for (Vector& v : out) v = turn ? gamma5(std::move(v)) : rephased(std::move(v), s.sites);
  return out;
}

/// By conjugate gradients with N = A^+ A: A^-1 = N^-1 A^+, A^+^-1 = A N^-1, (A A^+)^-1 = A N^-1 N^-1 A^+ unless it is N
/// of the conjugate.
Vectors Quark::solve_normal(const System& s, const Vectors& b, double tolerance, Effort& effort) const {
  // A of staggered quarks on one parity stands for N, and M M^+ is M^+ M.
  const bool is_n = turns(s) || (staggered() && (s.squared || !s.full()));
  const bool first = !is_n && s.squared == s.dagger, last = !is_n && s.dagger;
  const int times = first && last ? 2 : 1;
  Vectors y = first ? multiply(s, true, b) : b;
  for (Vector& v : y)
    for (int n = 0; n < times; ++n) v = solve_shifted(s, {0}, v, tolerance, effort)[0];
  return last ? multiply(s, false, y) : y;
}

Vectors Quark::solve(const System& s, const Vectors& b, double tolerance, Effort& effort) const {
  if (multigrid_ != nullptr && s.squared && rho == 0) {
    System one = s;
    one.squared = false;
    one.dagger = !s.dagger;
    const Vectors y = solve(one, b, tolerance, effort);
    one.dagger = s.dagger;
    return solve(one, y, tolerance, effort);
  }
  if (s.squared || slices > 1 || rho != 0 || (staggered() && !s.full())) return solve_normal(s, b, tolerance, effort);
  if (s.full()) return solve_full(s.dagger, b, tolerance, effort);
  // The asymmetric form of M on one parity has the solution of M x = b, b zero on the other one; the symmetric one is
  // T^-1 times it.
  const bool symmetric = s.form == std::string("symmetric");
  Vectors whole;
  for (const Vector& v : b)
    whole.push_back(on_all_sites(s.sites, symmetric && !s.dagger ? term(s.sites, false, v) : v));
  Vectors x = solve_full(s.dagger, whole, tolerance, effort);
  for (Vector& v : x) {
    v = on_half(s.sites, v);
    // The conjugate of T^-1 A is A^+ (T^+)^-1.
    if (symmetric && s.dagger) v = term(s.sites, true, v);
  }
  return x;
}

Vector Quark::on_all_sites(int sites, const Vector& half) const {
  Vector all(2 * half.size());
  for_each_half(sites, [&](std::size_t n, std::size_t k, std::size_t each) { std::copy_n(&half[k], each, &all[n]); });
  return all;
}

Vector Quark::on_half(int sites, const Vector& all) const {
  Vector half(all.size() / 2);
  for_each_half(sites, [&](std::size_t n, std::size_t k, std::size_t each) { std::copy_n(&all[n], each, &half[k]); });
  return half;
}

Vector Quark::term(int sites, bool dagger, const Vector& b) const {
  return on_half(sites, multiply({}, dagger, {on_all_sites(sites, b)})[0]);
}

/// The right-hand side of the symmetric form is T^-1 times that of one parity.
Vector Quark::divide_by_term(int sites, bool dagger, const Vector& b) const {
  quarksmith_operator* const o = op({.form = "symmetric", .sites = sites}, dagger);
  Handle<quarksmith_field> whole, made;
  check(quarksmith_operator_field(o, QUARKSMITH_FULL, 1, whole.out()));
  check(quarksmith_operator_field(o, sites, 1, made.out()));
  Vectors all(1, on_all_sites(sites, b)), out(1, Vector(b.size()));
  const auto full = order_of(QUARKSMITH_FULL), half = order_of(sites);
  const auto from = pieces<const void*>(all, slices);
  const auto to = pieces<void*>(out, slices);
  for (int s = 0; s < slices; ++s) check(quarksmith_field_set(whole, s, from[s], &full));
  check(quarksmith_reduce(o, made, whole));
  for (int s = 0; s < slices; ++s) check(quarksmith_field_get(made, s, to[s], &half));
  return std::move(out[0]);
}

Vector Quark::hop(int sites, bool dagger, const Vector& b) const {
  const int others = QUARKSMITH_EVEN + QUARKSMITH_ODD - sites;
  Vectors in(1, rephased(b, others)), out(1, Vector(b.size()));
  const auto format = order_of(sites);
  const std::string action = staggered() ? action_ : "action=wilson mass=0" + state().loaded.options();
  check(quarksmith_dslash_host(links_->op(action), sites, dagger, slices, pieces<void*>(out, slices).data(),
                               pieces<const void*>(in, slices).data(), &format));
  return rephased(std::move(out[0]), sites);
}

double Quark::log_det(int sites) const {
  double sum = 0;
  check(quarksmith_term_log_det(op({}), sites, &sum));
  return sum;
}

Spinors::Spinors(const QudaInvertParam& p, const Quark& quark, int sites)
    : format_(initial(quarksmith_spinor_format_init)), quark_(quark), sites_(sites) {
  format_.precision = precision_of("cpu_prec", p.cpu_prec);
  format_.sites = meaning<int>("dirac_order", p.dirac_order,
                               {{QUDA_DIRAC_ORDER, "QUDA_DIRAC_ORDER", QUARKSMITH_EVEN_ODD},
                                {QUDA_QDP_DIRAC_ORDER, "QUDA_QDP_DIRAC_ORDER", QUARKSMITH_EVEN_ODD},
                                {QUDA_LEX_DIRAC_ORDER, "QUDA_LEX_DIRAC_ORDER", QUARKSMITH_LEXICOGRAPHIC}});
  if (format_.sites == QUARKSMITH_LEXICOGRAPHIC && (sites != QUARKSMITH_FULL || quark.slices > 1))
    refuse("dirac_order QUDA_LEX_DIRAC_ORDER is served for all sites of one flavour; use QUDA_DIRAC_ORDER");
  format_.order = p.dirac_order == QUDA_QDP_DIRAC_ORDER ? QUARKSMITH_COLOUR_SPIN : QUARKSMITH_SPIN_COLOUR;
  format_.half = format_.sites == QUARKSMITH_EVEN_ODD;
  if (quark.on_thin_links()) std::copy_n(state().loaded.spread.begin(), 4, format_.spread);
  if (!quark.staggered())
    format_.basis =
        meaning<const char*>("gamma_basis", p.gamma_basis,
                             {{QUDA_DEGRAND_ROSSI_GAMMA_BASIS, "QUDA_DEGRAND_ROSSI_GAMMA_BASIS", "degrand_rossi"},
                              {QUDA_UKQCD_GAMMA_BASIS, "QUDA_UKQCD_GAMMA_BASIS", "ukqcd"},
                              {QUDA_CHIRAL_GAMMA_BASIS, "QUDA_CHIRAL_GAMMA_BASIS", "chiral"},
                              {QUDA_DIRAC_PAULI_GAMMA_BASIS, "QUDA_DIRAC_PAULI_GAMMA_BASIS", "non_relativistic"}});
}

/// Calls visit(field on these sites, bytes of the caller before the piece, numbers of a Vector before it).
template <class Visit>
void Spinors::for_each_piece(const Visit& visit) const {
  const std::size_t half = state().sites() / 2 * quark_.components(), slices = std::size_t(quark_.slices),
                    bytes = 2 * half * (format_.precision == QUARKSMITH_DOUBLE ? sizeof(double) : sizeof(float));
  const auto on = [&](int sites, std::size_t before, std::size_t own) {
    constexpr const char* names[] = {"even", "odd", "all"};
    Handle<quarksmith_field> field;
    check(quarksmith_field_create(
        state().context(),
        (std::string("precision=double sites=") + names[sites] + " spins=" + std::to_string(quark_.spins)).c_str(),
        field.out()));
    visit(field, before, own);
  };
  if (format_.sites == QUARKSMITH_LEXICOGRAPHIC) return on(QUARKSMITH_FULL, 0, 0);
  const bool full = sites_ == QUARKSMITH_FULL;
  for (std::size_t s = 0; s < slices; ++s)
    for (std::size_t p = 0; p < (full ? 2 : 1); ++p) {
      const std::size_t theirs = full && quark_.parity_of_five ? (p + s) % 2 : p;
      on(full ? int(p) : sites_, (theirs * slices + s) * bytes, (full ? 2 * s + p : s) * half);
    }
}

Vector Spinors::read(const void* array) const {
  if (array == nullptr) refuse("a spinor is NULL");
  Vector made(quark_.sites(sites_) * quark_.components());
  auto own = order_of(sites_);
  own.half = format_.half;
  for_each_piece([&](quarksmith_field* f, std::size_t before, std::size_t n) {
    check(quarksmith_field_set(f, 0, static_cast<const char*>(array) + before, &format_));
    check(quarksmith_field_get(f, 0, made.data() + n, &own));
  });
  return made;
}

void Spinors::write(const Vector& from, void* array) const {
  if (array == nullptr) refuse("a spinor is NULL");
  auto own = order_of(sites_);
  own.half = format_.half;
  for_each_piece([&](quarksmith_field* f, std::size_t before, std::size_t n) {
    check(quarksmith_field_set(f, 0, from.data() + n, &own));
    check(quarksmith_field_get(f, 0, static_cast<char*>(array) + before, &format_));
  });
}

}  // namespace quarksmith::quda
