/// \file
/// Vector updates and inner products on spinor fields, by the generated kernels.
#pragma once

#include "runtime/field.hpp"

namespace quarksmith {

/// The kernels of one device and precision, looked up once. All fields of a call are of that kind and of equal shape;
/// with several right-hand sides the coefficients are shared and the sums add up all of them.
class Blas {
 public:
  /// \throws UsageError the build lacks one of the kernels.
  Blas(Device& device, const PrecisionInfo& precision);

  /// y = a x
  void scale(double a, const SpinorField& x, SpinorField& y) const;
  /// y = a x + b y
  void axpby(double a, const SpinorField& x, double b, SpinorField& y) const;
  void axpby(Complex64 a, const SpinorField& x, Complex64 b, SpinorField& y) const;
  /// |x|^2
  double norm2(const SpinorField& x) const;
  /// sum conj(x) y
  Complex64 dot(const SpinorField& x, const SpinorField& y) const;
  /// y = x - y; returns |y|^2
  double residual(const SpinorField& x, SpinorField& y) const;
  /// x = x + a p; r = r - a q; returns |r|^2
  double cg_step(double a, const SpinorField& p, SpinorField& x, const SpinorField& q, SpinorField& r) const;

  /// p = r + beta (p - omega v)
  void bicgstab_direction(const SpinorField& r, Complex64 beta, SpinorField& p, Complex64 omega,
                          const SpinorField& v) const;
  /// r = r - a v; returns |r|^2
  double bicgstab_half_step(Complex64 a, const SpinorField& v, SpinorField& r) const;
  /// <t, s> and |t|^2
  std::pair<Complex64, double> bicgstab_omega(const SpinorField& t, const SpinorField& s) const;
  /// x = x + a p + b s
  void bicgstab_step(Complex64 a, const SpinorField& p, Complex64 b, const SpinorField& s, SpinorField& x) const;
  /// r = r - a t; returns |r|^2 and <shadow, r>
  std::pair<double, Complex64> bicgstab_residual(Complex64 a, const SpinorField& t, SpinorField& r,
                                                 const SpinorField& shadow) const;

 private:
  struct Operands {
    const SpinorField *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr;
    Complex64 a = 0, b = 0, c = 0;
  };
  std::vector<double> call(const Kernel& kernel, const Operands& operands) const;

  Device* device_;
  const Kernel *scale_, *axpby_, *caxpby_, *norm2_, *cdot_, *residual_, *cg_step_;
  const Kernel *direction_, *half_step_, *omega_, *step_, *bicgstab_residual_;
};

}  // namespace quarksmith
