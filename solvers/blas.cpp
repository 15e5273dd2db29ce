#include "solvers/blas.hpp"

#include "runtime/error.hpp"

namespace quarksmith {

Blas::Blas(Device& device, const PrecisionInfo& precision) : device_(&device) {
  const auto kernel = [&](std::string_view name) {
    return &find(device.kernels(), {.operation = name, .precision = precision.name});
  };
  scale_ = kernel("scale");
  axpby_ = kernel("axpby");
  caxpby_ = kernel("caxpby");
  norm2_ = kernel("norm2");
  cdot_ = kernel("cdot");
  residual_ = kernel("residual");
  cg_step_ = kernel("cg_step");
  direction_ = kernel("bicgstab_direction");
  half_step_ = kernel("bicgstab_half_step");
  omega_ = kernel("bicgstab_omega");
  step_ = kernel("bicgstab_step");
  bicgstab_residual_ = kernel("bicgstab_residual");
}

std::vector<double> Blas::call(const Kernel& kernel, const Operands& f) const {
  const SpinorField& any = *(f.x != nullptr ? f.x : f.y);
  Arguments a = arguments_for(any.domain(), any.lanes(), any.rhs());
  a.count = any.count();
  for (const auto& [field, operand] : {std::pair{f.x, &a.x}, {f.y, &a.y}, {f.z, &a.z}, {f.w, &a.w}}) {
    if (field == nullptr) continue;
    if (field->count() != any.count() || field->rhs() != any.rhs() || &field->precision() != &any.precision())
      throw UsageError("vector update on spinor fields of different kinds");
    *operand = field->operand();
  }
  a.a = {f.a.real(), f.a.imag()};
  a.b = {f.b.real(), f.b.imag()};
  a.c = {f.c.real(), f.c.imag()};
  if (kernel.sums == 0) {
    device_->run(kernel, a);
    return {};
  }
  const std::vector<double> each = device_->reduce(kernel, a);
  std::vector<double> total(kernel.sums, 0.0);
  for (std::size_t n = 0; n < each.size(); ++n) total[n % kernel.sums] += each[n];
  return total;
}

void Blas::scale(double a, const SpinorField& x, SpinorField& y) const { call(*scale_, {.x = &x, .y = &y, .a = a}); }

void Blas::axpby(double a, const SpinorField& x, double b, SpinorField& y) const {
  call(*axpby_, {.x = &x, .y = &y, .a = a, .b = b});
}

void Blas::axpby(Complex64 a, const SpinorField& x, Complex64 b, SpinorField& y) const {
  call(*caxpby_, {.x = &x, .y = &y, .a = a, .b = b});
}

double Blas::norm2(const SpinorField& x) const { return call(*norm2_, {.x = &x})[0]; }

Complex64 Blas::dot(const SpinorField& x, const SpinorField& y) const {
  const auto sums = call(*cdot_, {.x = &x, .y = &y});
  return {sums[0], sums[1]};
}

double Blas::residual(const SpinorField& x, SpinorField& y) const { return call(*residual_, {.x = &x, .y = &y})[0]; }

double Blas::cg_step(double a, const SpinorField& p, SpinorField& x, const SpinorField& q, SpinorField& r) const {
  return call(*cg_step_, {.x = &p, .y = &x, .z = &q, .w = &r, .a = a})[0];
}

void Blas::bicgstab_direction(const SpinorField& r, Complex64 beta, SpinorField& p, Complex64 omega,
                              const SpinorField& v) const {
  call(*direction_, {.x = &r, .y = &p, .z = &v, .a = beta, .b = omega});
}

double Blas::bicgstab_half_step(Complex64 a, const SpinorField& v, SpinorField& r) const {
  return call(*half_step_, {.x = &v, .y = &r, .a = a})[0];
}

std::pair<Complex64, double> Blas::bicgstab_omega(const SpinorField& t, const SpinorField& s) const {
  const auto sums = call(*omega_, {.x = &t, .y = &s});
  return {{sums[0], sums[1]}, sums[2]};
}

void Blas::bicgstab_step(Complex64 a, const SpinorField& p, Complex64 b, const SpinorField& s, SpinorField& x) const {
  call(*step_, {.x = &p, .y = &s, .w = &x, .a = a, .b = b});
}

std::pair<double, Complex64> Blas::bicgstab_residual(Complex64 a, const SpinorField& t, SpinorField& r,
                                                     const SpinorField& shadow) const {
  const auto sums = call(*bicgstab_residual_, {.x = &t, .y = &r, .z = &shadow, .a = a});
  return {sums[0], {sums[1], sums[2]}};
}

}  // namespace quarksmith
