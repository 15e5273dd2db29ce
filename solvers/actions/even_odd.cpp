#include "solvers/actions/even_odd.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

HoppingEvenOdd::HoppingEvenOdd(const HoppingTerm& hopping, int rhs, Parity kept)
    : hopping_(&hopping),
      kept_(kept),
      odd_(hopping.field(subset_of(others()), rhs)),
      t_(hopping.term().diagonal()),
      h_(hopping.h()) {}

GeneralEvenOdd::GeneralEvenOdd(const HoppingTerm& hopping, EvenOddForm form, int rhs, Parity kept)
    : HoppingEvenOdd(hopping, rhs, kept), form_(form) {
  if (hopping.has_term()) even_.emplace(hopping.field(subset(), rhs));
}

bool GeneralEvenOdd::apply_summing(SpinorField& out, const SpinorField& in, Dagger dagger,
                                   const ProductSums& sums) const {
  if (sum_groups() == 0) return false;
  apply(out, in, dagger, &sums);
  return true;
}

void GeneralEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger dagger, const ProductSums* sums) const {
  const double s = hopping_->inverse_scale(), hh = h_ * h_;
  SpinorField odd = odd_.columns(0, in.rhs());
  if (form_ == EvenOddForm::asymmetric) {
    hopping_->apply_inverse(odd, in, others(), dagger, sums);       // T_oo^-1 D_oe in
    hopping_->apply_t(out, in, -s * hh, odd, kept_, dagger, sums);  // T_ee in - h^2 D_eo odd
  } else if (dagger == Dagger::no || !hopping_->has_term()) {
    hopping_->apply_inverse(odd, in, others(), dagger, sums);                    // T_oo^-1 D_oe in
    hopping_->apply_inverse(out, 1, in, -s * s * hh, odd, kept_, dagger, sums);  // in - h^2 T_ee^-1 D_eo odd
  } else {
    SpinorField even = even_->columns(0, in.rhs());
    hopping_->apply_inverse_term(even, 1, in, kept_, dagger);  // the conjugate has T_ee^-1 on the right
    hopping_->apply_inverse(odd, even, others(), dagger, sums);
    hopping_->apply(out, 1, in, -hh, odd, kept_, dagger, sums);
  }
}

double GeneralEvenOdd::flops() const {
  if (!hopping_->has_term()) return hopping_->flops(Epilogue::none) + hopping_->flops(Epilogue::axpby);
  return hopping_->flops(Epilogue::tinv) +
         hopping_->flops(form_ == EvenOddForm::symmetric ? Epilogue::axpby_tinv : Epilogue::taxpby);
}

double GeneralEvenOdd::residual_scale() const { return form_ == EvenOddForm::symmetric ? hopping_->term().size() : 1; }

SpinorField GeneralEvenOdd::completed(const SpinorField& even, Dagger dagger) const {
  SpinorField all = hopping_->field(Subset::full, even.rhs());
  all.copy_half(kept_, even);
  if (hopping_->has_term()) {
    hopping_->apply_inverse(all, -h_, even, others(), dagger);
    return all;
  }
  SpinorField odd = hopping_->field(subset_of(others()), even.rhs());
  odd.fill(0);
  hopping_->apply(odd, 0, odd, -h_ * hopping_->inverse_scale(), even, others(), dagger);
  all.copy_half(others(), odd);
  return all;
}

void GeneralEvenOdd::multiply_term(SpinorField& out, const SpinorField& in) const {
  if (form_ != EvenOddForm::symmetric) return EvenOddOperator::multiply_term(out, in);
  if (!hopping_->has_term()) return Blas(out).scale(t_, in, out);
  if (hopping_->term().stands_alone()) return hopping_->apply_term(out, in, kept_);
  SpinorField none = odd_.columns(0, in.rhs());
  none.fill(0);
  hopping_->apply_t(out, in, 0, none, kept_, Dagger::no);
}

/// Symmetric form: y^+ dA x = -((T_ee^-1)^+ y)^+ d(D_eo T_oo^-1 D_oe) x h^2 - ((T_ee^-1)^+ y)^+ dT_ee (A - 1) x.
void GeneralEvenOdd::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  const bool symmetric = form_ == EvenOddForm::symmetric;
  std::optional<SpinorField> left;
  if (symmetric) {
    left.emplace(y.like());
    if (hopping_->has_term())
      hopping_->apply_inverse_term(*left, 1, y, kept_, Dagger::yes);
    else
      Blas(*left).scale(hopping_->inverse_scale(), y, *left);
  }
  SpinorField psi = completed(x, Dagger::no);
  const SpinorField chi = completed(left ? *left : y, Dagger::yes);
  force.add_hops(psi, chi, weight);
  if (hopping_->term().stored() == nullptr) return;
  if (symmetric) {
    SpinorField rest = x.like();
    for (int k = 0; k < x.rhs(); ++k) {
      SpinorField one = rest.columns(k, 1);
      apply(one, x.columns(k, 1), Dagger::no);
    }
    Blas(rest).axpby(1, x, -1, rest);
    psi.copy_half(kept_, rest);
  }
  force.add_site_term(psi, chi, weight);
}

void GeneralEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  const double s = hopping_->inverse_scale(), scale = form_ == EvenOddForm::symmetric ? s : 1;
  if (!hopping_->has_term()) {
    hopping_->apply(reduced, scale, b, -h_ * scale * s, b, kept_, Dagger::no);
    return;
  }
  SpinorField odd = odd_.columns(0, b.rhs()), even = even_->columns(0, b.rhs());
  hopping_->apply_inverse_term(odd, 1, b, others());
  SpinorField& sum = form_ == EvenOddForm::symmetric ? even : reduced;
  hopping_->apply(sum, 1, b, -h_, odd, kept_, Dagger::no);
  if (form_ == EvenOddForm::symmetric) hopping_->apply_inverse_term(reduced, 1, even, kept_);
}

void GeneralEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const double s = hopping_->inverse_scale();
  if (!hopping_->has_term()) {
    hopping_->apply(x, s, b, -h_ * s, reduced, others(), Dagger::no);
  } else {
    SpinorField odd = odd_.columns(0, b.rhs());
    hopping_->apply(odd, 1, b, -h_, reduced, others(), Dagger::no);
    hopping_->apply_inverse_term(x, 1, odd, others());
  }
  x.copy_half(kept_, reduced);
}

HermitianEvenOdd::HermitianEvenOdd(const HoppingTerm& hopping, int rhs, Parity parity)
    : HoppingEvenOdd(hopping, rhs, parity) {}

void HermitianEvenOdd::apply(SpinorField& out, const SpinorField& in, Dagger) const {
  SpinorField other = odd_.columns(0, in.rhs());
  hopping_->apply(other, in, others(), Dagger::no);
  hopping_->apply(out, t_ * t_, in, -h_ * h_, other, kept_, Dagger::no);
}

void HermitianEvenOdd::add_force(ForceSink&, const SpinorField&, const SpinorField&, double) const {
  throw UsageError("an operator that stands for M^+ M has the force of x alone; leave y out");
}

/// Since D^+ = -D, the derivative of x^+ D D x is -2 Re (D x)^+ dD x: x on the sites of this operator, D x on the
/// others.
void HermitianEvenOdd::add_squared_force(ForceSink& force, const SpinorField& x,
                                         const std::vector<double>& residues) const {
  SpinorField hopped = hopping_->field(subset_of(others()), x.rhs());
  SpinorField psi = hopping_->field(Subset::full, x.rhs()), chi = psi.like();
  hopping_->apply(hopped, x, others(), Dagger::no);
  for (int k = 0; k < x.rhs(); ++k) {
    SpinorField one = hopped.columns(k, 1);
    Blas(one).scale(h_ * residues[std::size_t(k)], one, one);
  }
  psi.fill(0);
  chi.fill(0);
  psi.copy_half(kept_, x);
  chi.copy_half(others(), hopped);
  force.add_hops(psi, chi, 1);
}

double HermitianEvenOdd::flops() const { return hopping_->flops(Epilogue::none) + hopping_->flops(Epilogue::axpby); }

void HermitianEvenOdd::prepare(SpinorField& reduced, const SpinorField& b) const {
  hopping_->apply(reduced, t_, b, -h_, b, kept_, Dagger::no);
}

void HermitianEvenOdd::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  const double s = 1 / t_;
  hopping_->apply(x, s, b, -h_ * s, reduced, others(), Dagger::no);
  x.copy_half(kept_, reduced);
}

double HermitianEvenOdd::residual_scale() const { return 1 / std::abs(t_); }

std::unique_ptr<EvenOddOperator> even_odd(const HoppingTerm& hopping, EvenOddForm form, int rhs, Parity kept) {
  if (!hopping.term().is_invertible())
    throw UsageError(
        fmt::format("{}: the part of the Dirac operator that does not hop is singular: solve on all sites (even-odd "
                    "none)",
                    hopping.values().text()));
  if (hopping.values().info().anti_hermitian && !hopping.has_term())
    return std::make_unique<HermitianEvenOdd>(hopping, rhs, kept);
  return std::make_unique<GeneralEvenOdd>(hopping, form, rhs, kept);
}

}  // namespace quarksmith
