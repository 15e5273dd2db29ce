#include "solvers/eigen/eigen_operator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/site_random.hpp"
#include "runtime/text.hpp"
#include "runtime/action_values.hpp"
#include "solvers/actions/even_twist.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

Spectrum spectrum_of(const std::string& name) {
  static constexpr std::pair<std::string_view, Spectrum> names[] = {
      {"normal", Spectrum::normal}, {"hermitian", Spectrum::hermitian}, {"staggered", Spectrum::staggered}};
  return by_name("operator", name, names);
}

std::optional<double> shift_between(const LinearOperator& a, const LinearOperator& b, const BasisInfo& basis) {
  const Blas blas(a);
  SpinorField v = a.field(), with = a.field(), difference = a.field();
  draw_noise(v, {1, 0}, basis);
  a.apply(with, v, Dagger::no);
  b.apply(difference, v, Dagger::no);
  blas.axpby(1, with, -1, difference);
  const double shift = blas.dot(v, difference).real() / blas.norm2(v);
  blas.axpby(-shift, v, 1, difference);
  if (blas.norm2(difference) > 1e-24 * blas.norm2(with)) return {};
  return shift;
}

/// i gamma_5 M.
struct EigenOperator::Root final : LinearOperator {
  Root(const LinearOperator& m, const BasisInfo& basis) : m_(&m), turn_(m, 1, basis, 1), work_(m.field()) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger) const override {
    m_->apply(work_, in, Dagger::no);
    turn_.turn(out, work_, Dagger::no);
  }
  Subset subset() const override { return m_->subset(); }
  const DomainPointer& domain() const override { return m_->domain(); }
  const PrecisionInfo& precision() const override { return m_->precision(); }
  Components components() const override { return m_->components(); }
  double flops() const override { return m_->flops(); }

  /// Whether i gamma_5 M is anti-Hermitian, by random vectors.
  bool is_sound(const BasisInfo& basis) const {
    const Blas blas(*m_);
    SpinorField x = m_->field(), y = m_->field(), image = m_->field();
    draw_noise(x, {1, 0}, basis);
    draw_noise(y, {1, 1}, basis);
    apply(image, y, Dagger::no);
    const Complex64 one = blas.dot(x, image);
    apply(image, x, Dagger::no);
    const Complex64 sum = one + std::conj(blas.dot(y, image));
    return std::abs(sum) <= 1e-10 * std::sqrt(blas.norm2(image) * blas.norm2(y));
  }

 private:
  const LinearOperator* m_;
  TwistedOperator turn_;
  mutable SpinorField work_;
};

EigenOperator::EigenOperator(Spectrum kind, const Action& action, const DiracOperator& dirac, const BasisInfo& basis,
                             EvenOddForm even_odd_form, int block) {
  const auto refuse = [&](std::string_view what) {
    throw UsageError(fmt::format("action {}: {}; use operator normal", action.name(), what));
  };
  if (kind == Spectrum::staggered) {
    if (!action.is_squared()) refuse("operator staggered is -D^2 of actions whose D is anti-Hermitian beside a number");
    even_odd_ = dirac.square(Parity::even, block);
    shift_ = std::pow(action.values()(action.info().diagonal), 2);
    positive_ = even_odd_.get();
    return;
  }
  if (kind == Spectrum::normal && even_odd_form != EvenOddForm::none) {
    even_odd_ = dirac.even_odd_operator(even_odd_form, block);
    if (!even_odd_->hermitian()) made_ = std::make_unique<NormalOperator>(*even_odd_, block);
    positive_ = made_ ? made_.get() : static_cast<const LinearOperator*>(even_odd_.get());
    return;
  }
  made_ = std::make_unique<NormalOperator>(dirac.matrix(), block);
  positive_ = made_.get();
  if (kind == Spectrum::normal) return;
  if (action.spins() != 4 || action.slices() != 1)
    refuse("operator hermitian is gamma_5 M of one field of Dirac spinors");
  root_ = std::make_unique<Root>(dirac.matrix(), basis);
  if (!root_->is_sound(basis)) refuse("gamma_5 M is not Hermitian with these parameters");
}

EigenOperator::~EigenOperator() = default;

Eigenpairs EigenOperator::find(const EigenOptions& options) const {
  Eigenpairs pairs = find_eigenpairs(*positive_, options, root_.get());
  for (double& value : pairs.values) value -= shift_;
  return pairs;
}

std::vector<double> EigenOperator::residuals(const SpinorField& vectors, const std::vector<double>& values) const {
  const LinearOperator& a = root_ ? static_cast<const LinearOperator&>(*root_) : *positive_;
  const Blas blas(a);
  SpinorField image = a.field();
  std::vector<double> all;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const SpinorField v = vectors.columns(static_cast<int>(n), 1);
    a.apply(image, v, Dagger::no);
    const Complex64 value = root_ ? Complex64(0, values[n]) : Complex64(values[n] + shift_);
    blas.axpby(-value, v, Complex64(1), image);
    all.push_back(std::sqrt(blas.norm2(image)));
  }
  return all;
}

}  // namespace quarksmith
