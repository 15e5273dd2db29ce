#include "solvers/actions/domain_wall.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

constexpr std::array both = {Parity::even, Parity::odd};
using ComplexNumbers = std::vector<Complex64>;

bool are(const ComplexNumbers& numbers, double value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](const Complex64& z) { return z == value; });
}

}  // namespace

DomainWallHopping::DomainWallHopping(HoppingTerm hopping) : hopping_(std::move(hopping)) {
  const auto of_slices = [&](const ActionNumber& number) { return values().of_slices(number); };
  const ComplexNumbers diagonal = of_slices(info().b), shifted = of_slices(info().c), walls = of_slices(info().wall);
  const SliceMatrix b(diagonal, shifted, walls), a(of_slices(info().alpha), of_slices(info().beta), walls);
  const auto made = [&](const SliceMatrix& numerator, const SliceMatrix& denominator) {
    return std::make_shared<SliceTransform>(transform(numerator, denominator));
  };
  const SliceMatrix one = SliceMatrix::one(slices());
  const bool b_is_one = are(diagonal, 1) && are(shifted, 0);
  a_ = made(a, one);
  a_inverse_ = made(one, a);
  b_ = b_is_one ? nullptr : made(b, one);
  b_a_inverse_ = b_is_one ? a_inverse_ : made(b, a);
}

SliceTransform DomainWallHopping::transform(const SliceMatrix& numerator, const SliceMatrix& denominator) const {
  return {info().chain, hopping_.domain()->device_pointer(), hopping_.precision(), hopping_.basis(),
          SliceChain(numerator, denominator)};
}

DomainWallHopping DomainWallHopping::dirichlet() const {
  DomainWallHopping part = *this;
  part.hopping_ = hopping_.dirichlet();
  return part;
}

void DomainWallHopping::hop(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const {
  SpinorField to = out.by_slice();
  hopping_.apply(to, in.by_slice(), parity, dagger);
}

void DomainWallHopping::hop(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in,
                            Parity parity, Dagger dagger) const {
  SpinorField to = out.by_slice();
  hopping_.apply(to, a, x.by_slice(), b, in.by_slice(), parity, dagger);
}

double DomainWallHopping::flops(bool axpby) const {
  return hopping_.flops(axpby ? Epilogue::axpby : Epilogue::none) * slices();
}

DomainWallMatrix::DomainWallMatrix(const DomainWallHopping& parts) : parts_(&parts) {
  if (parts.has_b()) work_.emplace(field());
}

void DomainWallMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const DomainWallHopping& d = *parts_;
  if (!d.has_b()) {
    for (const Parity parity : both) {
      d.a().apply(out, in, parity, dagger);
      d.hop(out, 1, out, d.h(), in, parity, dagger);
    }
    return;
  }
  for (int n = 0; n < in.rhs(); ++n) {
    const SpinorField x = in.columns(n, 1);
    SpinorField y = out.columns(n, 1);
    for (const Parity parity : both) {
      d.a().apply(y, x, parity, dagger);
      if (dagger == Dagger::no) {
        d.b().apply(*work_, x, opposite(parity), dagger);
        d.hop(y, 1, y, d.h(), *work_, parity, dagger);
      } else {
        d.hop(*work_, x, parity, dagger);
        d.b().apply(y, 1, y, d.h(), *work_, parity, dagger);
      }
    }
  }
}

void DomainWallMatrix::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  if (!parts_->has_b()) return force.add_hops(x, y, weight);
  SpinorField z = x.like();
  for (const Parity parity : both) parts_->b().apply(z, x, parity, Dagger::no);
  force.add_hops(z, y, weight);
}

double DomainWallMatrix::flops() const {
  const DomainWallHopping& d = *parts_;
  const double b = d.has_b() ? d.b().flops(false, d.half_sites()) : 0;
  return 2 * (d.a().flops(false, d.half_sites()) + d.flops(true) + b);
}

DomainWallEvenOdd::DomainWallEvenOdd(const DomainWallHopping& parts, EvenOddForm form, int rhs)
    : parts_(&parts),
      form_(form),
      odd_(parts.hopping().domain(), parts.hopping().precision(), Subset::odd, rhs, 4, parts.slices()) {}

void DomainWallEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  dagger == Dagger::no ? apply_plain(out, in) : apply_conjugate(out, in);
}

void DomainWallEvenOdd::apply_plain(SpinorField& out, const SpinorField& in) const {
  const DomainWallHopping& d = *parts_;
  constexpr Dagger no = Dagger::no;
  SpinorField odd = odd_.columns(0, in.rhs());
  const bool symmetric = form_ == EvenOddForm::symmetric, first = symmetric || d.has_b();
  if (first) (symmetric ? d.b_a_inverse() : d.b()).apply(out, in, Parity::even, no);  // C in, or B in
  d.hop(odd, first ? out : in, Parity::odd, no);
  d.b_a_inverse().apply(odd, odd, Parity::odd, no);  // C H_oe ...
  if (!symmetric) d.a().apply(out, in, Parity::even, no);
  d.hop(out, 1, symmetric ? in : out, -d.h() * d.h(), odd, Parity::even, no);  // in, or A in, - h^2 H_eo odd
}

void DomainWallEvenOdd::apply_conjugate(SpinorField& out, const SpinorField& in) const {
  const DomainWallHopping& d = *parts_;
  constexpr Dagger yes = Dagger::yes;
  SpinorField odd = odd_.columns(0, in.rhs());
  d.hop(odd, in, Parity::odd, yes);
  d.b_a_inverse().apply(odd, odd, Parity::odd, yes);  // C^+ H^+ in
  d.hop(out, odd, Parity::even, yes);
  if (form_ == EvenOddForm::symmetric) {
    d.b_a_inverse().apply(out, 1, in, -d.h() * d.h(), out, Parity::even, yes);  // in - h^2 C^+ H^+ odd
  } else {
    if (d.has_b()) d.b().apply(out, out, Parity::even, yes);
    d.a().apply(out, -d.h() * d.h(), out, 1, in, Parity::even, yes);  // A^+ in - h^2 B^+ H^+ odd
  }
}

/// X is what H acts on: B x, or of the symmetric form, whose unknown is A x_e, C x; on odd sites -h C H_oe of that. Y_o
/// = -h C^+ (H^+)_oe y_e.
SpinorField DomainWallEvenOdd::completed(const SpinorField& even, Dagger dagger) const {
  const DomainWallHopping& d = *parts_;
  SpinorField odd(even.domain_pointer(), even.precision(), Subset::odd, even.rhs(), even.components(), even.slices());
  SpinorField all(even.domain_pointer(), even.precision(), Subset::full, even.rhs(), even.components(), even.slices());
  SpinorField first = even.like();
  first.copy_from(even);
  if (dagger == Dagger::no && form_ == EvenOddForm::symmetric)
    d.b_a_inverse().apply(first, even, Parity::even, dagger);
  else if (dagger == Dagger::no && d.has_b())
    d.b().apply(first, even, Parity::even, dagger);
  d.hop(odd, first, Parity::odd, dagger);
  d.b_a_inverse().apply(odd, odd, Parity::odd, dagger);
  Blas(odd).scale(-d.h(), odd, odd);
  all.copy_half(Parity::even, first);
  all.copy_half(Parity::odd, odd);
  return all;
}

void DomainWallEvenOdd::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  force.add_hops(completed(x, Dagger::no), completed(y, Dagger::yes), weight);
}

double DomainWallEvenOdd::flops() const {
  const DomainWallHopping& d = *parts_;
  const double c = d.b_a_inverse().flops(false, d.half_sites()), hops = d.flops(false) + d.flops(true);
  if (form_ == EvenOddForm::symmetric) return hops + 2 * c;
  return hops + c + d.a().flops(false, d.half_sites()) + (d.has_b() ? d.b().flops(false, d.half_sites()) : 0);
}

void DomainWallEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  SpinorField odd = odd_.columns(0, b.rhs());
  parts_->b_a_inverse().apply(odd, b, Parity::odd, Dagger::no);
  parts_->hop(reduced, 1, b, -parts_->h(), odd, Parity::even, Dagger::no);
}

void DomainWallEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const DomainWallHopping& d = *parts_;
  constexpr Dagger no = Dagger::no;
  const bool symmetric = form_ == EvenOddForm::symmetric;
  if (symmetric || d.has_b()) {  // B x_e, where x_e = A^-1 reduced if symmetric
    (symmetric ? d.b_a_inverse() : d.b()).apply(x, reduced, Parity::even, no);
    d.hop(x, 1, b, -d.h(), x, Parity::odd, no);
  } else {
    d.hop(x, 1, b, -d.h(), reduced, Parity::odd, no);
  }
  d.a_inverse().apply(x, x, Parity::odd, no);
  symmetric ? d.a_inverse().apply(x, reduced, Parity::even, no) : x.copy_half(Parity::even, reduced);
}

std::unique_ptr<EvenOddOperator> DomainWallDirac::even_odd_operator(EvenOddForm form, int rhs, Parity kept) const {
  if (kept == Parity::odd)
    throw UsageError(fmt::format("action {}: its even-odd form is on the even sites alone; use those",
                                 option_name(values().info().name)));
  return std::make_unique<DomainWallEvenOdd>(parts_, form, rhs);
}

std::unique_ptr<DiracOperator> DomainWallDirac::dirichlet() const {
  return std::make_unique<DomainWallDirac>(fields_, parts_.dirichlet());
}

void DomainWallDirac::embed(SpinorField& b, const SpinorField& source) const {
  const int count = parts_.slices(), last = count - 1;
  b.fill(0);
  SpinorField slices = b.by_slice();
  for (int n = 0; n < source.rhs(); ++n)
    for (const int s : {0, last}) slices.columns(n * count + s, 1).copy_from(source.columns(n, 1));
  SliceMatrix walls(count);
  walls(Chirality::plus).front() = 1;
  walls(Chirality::minus).back() = 1;
  const SliceTransform to_walls = parts_.transform(walls);
  for (const Parity parity : both) to_walls.apply(b, b, parity, Dagger::no);
  const ComplexNumbers beta = parts_.values().of_slices(parts_.info().beta),
                       c = parts_.values().of_slices(parts_.info().c);
  if (are(beta, -1) && are(c, 0)) return;
  SliceMatrix diagonal(count), hops(count);
  diagonal.diagonal.fill(beta);
  hops.diagonal.fill(c);
  const SliceTransform times_beta = parts_.transform(diagonal), times_c = parts_.transform(hops);
  SpinorField hopped = b.like();
  for (const Parity parity : both) parts_.hop(hopped, b, parity, Dagger::no);
  for (const Parity parity : both) {
    times_beta.apply(b, b, parity, Dagger::no);
    times_c.apply(b, -1, b, -parts_.h(), hopped, parity, Dagger::no);
  }
}

void DomainWallDirac::take_slice(SpinorField& quark, const SpinorField& x, int slice) const {
  const int slices = parts_.slices();
  SliceMatrix m(slices);
  m.diagonal[int(Chirality::minus)][slice] = 1;
  m.shifted[int(Chirality::plus)][slice] = 1;
  const SliceTransform transform = parts_.transform(m);
  SpinorField work = x.like();
  for (const Parity parity : both) transform.apply(work, x, parity, Dagger::no);
  const SpinorField all = work.by_slice();
  for (int n = 0; n < x.rhs(); ++n) quark.columns(n, 1).copy_from(all.columns(n * slices + slice, 1));
}

void DomainWallDirac::project(SpinorField& quark, const SpinorField& x) const { take_slice(quark, x, 0); }

void DomainWallDirac::midpoint(SpinorField& quark, const SpinorField& x) const {
  take_slice(quark, x, parts_.slices() / 2);
}

}  // namespace quarksmith
