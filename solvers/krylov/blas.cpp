#include "solvers/krylov/blas.hpp"

#include "runtime/error.hpp"

namespace quarksmith {

Blas::Blas(Device& device, const PrecisionInfo& precision, Components components)
    : device_(&device),
      precision_(&precision),
      components_(components),
      scale_(&kernel("scale")),
      axpby_(&kernel("axpby")),
      caxpby_(&kernel("caxpby")),
      norm2_(&kernel("norm2")),
      cdot_(&kernel("cdot")),
      residual_(&kernel("residual")) {}

const Kernel& Blas::kernel(std::string_view name) const {
  return find(
      device_->kernels(),
      {.operation = name, .precision = precision_->name, .spins = components_.spins, .colours = components_.colours});
}

std::vector<double> Blas::call(const Kernel& kernel, const Operands& f) const {
  const SpinorField& any = *(f.x != nullptr ? f.x : f.y);
  Arguments a = any.arguments();
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
  return reduce(any.domain(), kernel, a);
}

namespace {

/// Sum n of all right-hand sides.
double total(const std::vector<double>& each, int sums, int n) {
  double sum = 0;
  for (std::size_t i = n; i < each.size(); i += sums) sum += each[i];
  return sum;
}

}  // namespace

void Blas::scale(double a, const SpinorField& x, SpinorField& y) const { call(*scale_, {.x = &x, .y = &y, .a = a}); }

void Blas::axpby(double a, const SpinorField& x, double b, SpinorField& y) const {
  call(*axpby_, {.x = &x, .y = &y, .a = a, .b = b});
}

void Blas::axpby(Complex64 a, const SpinorField& x, Complex64 b, SpinorField& y) const {
  call(*caxpby_, {.x = &x, .y = &y, .a = a, .b = b});
}

void Blas::add_difference(Complex64 a, const SpinorField& x, const SpinorField& z, SpinorField& y) const {
  if (add_difference_ == nullptr) add_difference_ = &kernel("add_difference");
  call(*add_difference_, {.x = &x, .y = &y, .z = &z, .a = a});
}

double Blas::norm2(const SpinorField& x) const { return total(norms2(x), 1, 0); }

std::vector<double> Blas::norms2(const SpinorField& x) const { return call(*norm2_, {.x = &x}); }

Complex64 Blas::dot(const SpinorField& x, const SpinorField& y) const {
  const auto sums = call(*cdot_, {.x = &x, .y = &y});
  return {total(sums, 2, 0), total(sums, 2, 1)};
}

double Blas::residual(const SpinorField& x, SpinorField& y) const { return total(residuals(x, y), 1, 0); }

std::vector<double> Blas::residuals(const SpinorField& x, SpinorField& y) const {
  return call(*residual_, {.x = &x, .y = &y});
}

}  // namespace quarksmith
