#include "solvers/krylov/scalars.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {

const PrecisionInfo& computed_in(const PrecisionInfo& stored) {
  return find_precision(stored.element_bytes == 8 ? "double" : "single");
}

Scalars::Scalars(const std::shared_ptr<Device>& device, int rhs, Components components)
    : components_(components),
      device_(device),
      memory_(device, bytes_per_rhs * rhs),
      host_(static_cast<std::size_t>(rhs) * stride, 0.0) {
  slots_ = {{"active", active_slot}, {"status", status_slot}};
  upload(0, rhs);
}

int Scalars::slot(std::string_view name) {
  const auto found = slots_.find(name);
  if (found != slots_.end()) return found->second;
  const int next = static_cast<int>(slots_.size());
  if (next == most) throw UsageError(fmt::format("scalar '{}': a solver has at most {} scalars", name, most));
  slots_.emplace(name, next);
  return next;
}

std::size_t Scalars::place(int rhs, std::string_view name) const {
  const auto found = slots_.find(name);
  if (found == slots_.end()) throw UsageError(fmt::format("no update of this solver knows a scalar '{}'", name));
  return static_cast<std::size_t>(rhs) * stride + 2 * found->second;
}

Complex64 Scalars::get(int rhs, std::string_view name) const {
  const std::size_t at = place(rhs, name);
  return {host_.at(at), host_.at(at + 1)};
}

void Scalars::set(int rhs, std::string_view name, Complex64 value) {
  const std::size_t at = place(rhs, name);
  host_.at(at) = value.real();
  host_.at(at + 1) = value.imag();
}

void Scalars::copy(int to, int from) {
  std::copy_n(&host_.at(from * stride), stride, &host_.at(to * stride));
  device().copy(data() + to * stride, data() + from * stride, bytes_per_rhs);
}

void Scalars::upload(int first, int count) {
  device().upload(data() + first * stride, &host_.at(first * stride), bytes_per_rhs * count);
}

void Scalars::assign(const double* snapshot, int count) { std::copy_n(snapshot, count * stride, host_.data()); }

Step::Step(Scalars& scalars, const PrecisionInfo& precision, std::string_view name,
           std::initializer_list<std::pair<std::string_view, std::string_view>> renamed,
           std::initializer_list<std::string_view> shared)
    : scalars_(&scalars),
      kernel_(&find(scalars.device().kernels(), {.operation = name,
                                                 .precision = precision.name,
                                                 .spins = scalars.components().spins,
                                                 .colours = scalars.components().colours})) {
  int n = 0;
  for (std::string_view rest = kernel_->slots; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const int offset = std::find(shared.begin(), shared.end(), word) != shared.end() ? shared_slot : 0;
    for (const auto& [from, to] : renamed)
      if (word == from) {
        word = to;
        break;
      }
    slot_[n++] = static_cast<unsigned char>(scalars.slot(word) + offset);
  }
}

void Step::apply(const Fields& f, int first, int mask, long long most_sites, const double* rows) const {
  const SpinorField& any = *f.x;
  Arguments a = any.arguments();
  a.count = std::min(a.count, most_sites);
  a.rows = rows;
  for (const auto& [field, operand] :
       {std::pair{f.x, &a.x}, {f.y, &a.y}, {f.z, &a.z}, {f.w, &a.w}, {f.u, &a.in}, {f.v, &a.out}}) {
    if (field == nullptr) continue;
    const bool serves_all = field->rhs() == 1;
    if (field->count() != any.count() || !(serves_all || field->rhs() == any.rhs()) ||
        &field->precision() != (field == f.v ? &computed_in(any.precision()) : &any.precision()))
      throw UsageError(fmt::format("{} on spinor fields of different kinds", kernel_->name));
    *operand = field->operand();
    if (serves_all) operand->rhs_stride = operand->norm_rhs_stride = 0;
  }
  a.scalars = scalars_->data() + first * Scalars::stride;
  a.scalar_stride = Scalars::stride;
  a.mask = mask;
  std::copy(std::begin(slot_), std::end(slot_), a.slot);
  update(any.domain(), *kernel_, a);
}

SumRows::SumRows(const LinearOperator& a, const Scalars& scalars, int rhs)
    : a_(&a), scalars_(&scalars), groups_(a.sum_groups()) {
  const auto numbers = static_cast<std::size_t>(rhs) * groups_ * product_numbers(true);
  if (groups_ > 0) memory_ = Memory(a.domain()->device_pointer(), sizeof(double) * numbers);
}

void SumRows::apply(SpinorField& out, const SpinorField& in, ProductSums sums, const Step& step,
                    const Step::Fields& fields) const {
  sums.rows = static_cast<double*>(memory_.data());
  sums.scalars = scalars_->data();
  sums.scalar_stride = Scalars::stride;
  if (groups_ > 0 && a_->apply_summing(out, in, Dagger::no, sums)) return step.of_rows(fields, sums.rows, groups_);
  a_->apply(out, in, Dagger::no);
  step(fields);
}

}  // namespace quarksmith
