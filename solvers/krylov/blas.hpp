/// \file
/// Vector updates and inner products on spinor fields, by the generated kernels.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// The kernels of one device and precision, looked up once. All fields of a call have this precision and equal shape;
/// with several right-hand sides coefficients are shared, and sums extend over all of them unless stated otherwise.
/// Updates whose coefficients stay on the device: solvers/krylov/scalars.hpp.
class Blas {
 public:
  /// \throws UsageError the build lacks one of the kernels.
  Blas(Device& device, const PrecisionInfo& precision, Components components = {});
  /// Operations on the vectors of an operator, or on fields like `x`.
  explicit Blas(const LinearOperator& a) : Blas(a.domain()->device(), a.precision(), a.components()) {}
  explicit Blas(const SpinorField& x) : Blas(x.device(), x.precision(), x.components()) {}

  /// y = a x
  void scale(double a, const SpinorField& x, SpinorField& y) const;
  /// y = a x + b y
  void axpby(double a, const SpinorField& x, double b, SpinorField& y) const;
  void axpby(Complex64 a, const SpinorField& x, Complex64 b, SpinorField& y) const;
  /// y += a (x - z). \throws UsageError the build lacks its kernel.
  void add_difference(Complex64 a, const SpinorField& x, const SpinorField& z, SpinorField& y) const;
  /// |x|^2
  double norm2(const SpinorField& x) const;
  /// sum conj(x) y
  Complex64 dot(const SpinorField& x, const SpinorField& y) const;
  /// y = x - y; returns |y|^2
  double residual(const SpinorField& x, SpinorField& y) const;
  /// Squared norm of each right-hand side.
  std::vector<double> norms2(const SpinorField& x) const;
  std::vector<double> residuals(const SpinorField& x, SpinorField& y) const;

 private:
  struct Operands {
    const SpinorField *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr;
    Complex64 a = 0, b = 0, c = 0;
  };
  const Kernel& kernel(std::string_view name) const;
  /// The sums of every right-hand side, one after another.
  std::vector<double> call(const Kernel& kernel, const Operands& operands) const;

  Device* device_;
  const PrecisionInfo* precision_;
  Components components_;
  const Kernel *scale_, *axpby_, *caxpby_, *norm2_, *cdot_, *residual_;
  mutable const Kernel* add_difference_ = nullptr;  ///< null until it is needed
};

}  // namespace quarksmith
