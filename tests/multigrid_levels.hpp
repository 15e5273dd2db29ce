/// \file
/// Identities of a level of multigrid, on one rank or several.
#pragma once

#include <gtest/gtest.h>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/multigrid/coarse_operator.hpp"
#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/noise.hpp"
#include "solvers/multigrid/parameters.hpp"
#include "tests/dense.hpp"

namespace multigrid_levels {

using namespace quarksmith;

inline void fill(SpinorField& f, unsigned long long counter) { draw(f, find_basis("degrand_rossi"), counter); }
/// |x - y| / |x|
inline double distance(const SpinorField& x, const SpinorField& y) {
  SpinorField d = y.like();
  d.copy_from(y);
  const Blas blas(x);
  return std::sqrt(blas.residual(x, d) / blas.norm2(x));
}
/// The same of all ranks.
inline double deviation(const dense::Vectors& x, const dense::Vectors& y, Communicator& ranks) {
  const double miss = dense::norm(dense::combine(1, x, -1, y)), size = dense::norm(y);
  return std::sqrt(ranks.sum(miss * miss) / ranks.sum(size * size));
}
/// Near-null vectors of noise.
inline SpinorField keep_noise(Transfer& t, unsigned long long counter) {
  SpinorField v = t.fine_field(t.vectors());
  fill(v, counter);
  t.keep(v);
  return v;
}

/// P and P^+ of fields of even sites are those of all sites, the odd ones left out or zero.
inline void expect_even_alone(const Transfer& t, double limit) {
  SpinorField coarse = t.coarse_field(5), again = coarse.like(), fine = t.fine_field(5);
  SpinorField even(fine.domain_pointer(), fine.precision(), Subset::even, 5, fine.components(), fine.slices()),
      half = even.like();
  fill(coarse, 12);
  t.prolong(fine, coarse);
  t.prolong(even, coarse);
  half.copy_half(Parity::even, fine);
  EXPECT_LE(distance(half, even), limit);
  fine.fill(0);
  fine.copy_half(Parity::even, even);
  t.restrict_to(coarse, fine);
  t.restrict_to(again, even);
  EXPECT_LE(distance(coarse, again), limit);
}

/// P^+ P = 1, (1 - P P^+) v = 0, and that P commutes with gamma_5.
inline void expect_projector(const Transfer& t, const SpinorField& v, const BasisInfo& basis, double limit) {
  SpinorField coarse = t.coarse_field(5), again = coarse.like(), fine = t.fine_field(5), kept = t.fine_field(v.rhs());
  fill(coarse, 2);
  t.prolong(fine, coarse);
  if (again.slices() == 1) again.fill(0xff);  // norms of several slices count what fills blocks of sites, too
  t.restrict_to(again, fine);
  EXPECT_LE(distance(coarse, again), limit);
  SpinorField projections = t.coarse_field(v.rhs());
  t.restrict_to(projections, v);
  t.prolong(kept, projections);
  EXPECT_LE(distance(v, kept), limit);
  const BasisInfo& chiral = find_basis("degrand_rossi");
  dense::put(dense::gamma5(dense::get(coarse, chiral)), again, chiral);
  const dense::Vectors turned = dense::gamma5(dense::get(fine, basis));
  t.prolong(fine, again);
  EXPECT_LE(deviation(dense::get(fine, basis), turned, fine.domain().communicator()), limit);
  expect_even_alone(t, limit);
}

/// C(a, b)^+ = gamma_5 C(b, a) gamma_5.
inline void expect_gamma5(const CoarseOperator& coarse, double limit) {
  const BasisInfo& chiral = find_basis("degrand_rossi");
  Communicator& ranks = coarse.domain()->communicator();
  const auto product = [&](const dense::Vectors& psi) { return dense::apply(coarse, psi, Dagger::no, chiral); };
  const auto dot = [&](const dense::Vectors& x, const dense::Vectors& y) {
    const Complex64 here = dense::dot(x, y);
    return Complex64(ranks.sum(here.real()), ranks.sum(here.imag()));
  };
  const auto noise = [&](unsigned long long counter) {
    SpinorField f = coarse.field();
    fill(f, counter);
    return dense::get(f, chiral);
  };
  const dense::Vectors u = noise(3), w = noise(30), mu = product(u);
  const double size = std::sqrt(dot(w, w).real() * dot(mu, mu).real());
  EXPECT_LE(std::abs(dot(w, mu) - std::conj(dot(dense::gamma5(u), product(dense::gamma5(w))))), limit * size);
}

/// The coarse operator is P^+ M P, it has its gamma_5, and the form in which it is solved has the same solutions.
inline void expect_product(const Transfer& t, const LinearOperator& fine, const CoarseOperator& coarse, double limit) {
  SpinorField x = t.coarse_field(3), y = x.like(), z = x.like(), in = t.fine_field(3), out = in.like();
  fill(x, 4);
  t.prolong(in, x);
  fine.apply(out, in, Dagger::no);
  t.restrict_to(y, out);
  coarse.apply(z, x, Dagger::no);
  EXPECT_LE(distance(y, z), limit);
  expect_gamma5(coarse, limit);

  SpinorField even = coarse.even_odd_operator().field(3), unknown = even.like(), prepared = even.like();
  const bool on_all = coarse.even_odd_operator().subset() == Subset::full;
  on_all ? unknown.copy_from(x) : unknown.copy_half(Parity::even, x);
  coarse.even_odd_operator().apply(even, unknown, Dagger::no);
  coarse.prepare(prepared, z);
  EXPECT_LE(distance(prepared, even), 10 * limit);
  coarse.reconstruct(y, unknown, z);
  EXPECT_LE(distance(x, y), 10 * limit);
  coarse.source(even, unknown);
  z.fill(0);
  on_all ? z.copy_from(even) : z.copy_half(Parity::even, even);
  coarse.prepare(prepared, z);
  EXPECT_LE(distance(unknown, prepared), 10 * limit);

  if (DirectSolve::unknowns(coarse.even_odd_operator()) > most_unknowns || coarse.domain()->lattice().ranks() > 1) {
    EXPECT_THROW(DirectSolve{coarse.even_odd_operator()}, UsageError);
    return;
  }
  DirectSolve inverse(coarse.even_odd_operator());  // by blocks: as good as elimination with all pivots
  coarse.even_odd_operator().apply(even, unknown, Dagger::no);
  inverse.apply(prepared, even, 3);
  EXPECT_LE(distance(unknown, prepared), coarse.precision().word_bytes == 8 ? 1e-10 : 1e-4);
}

}  // namespace multigrid_levels
