#include "runtime/fields/field.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/ranks/rank_sums.hpp"

namespace quarksmith {

Hops hops_of(const Lattice& lattice, const std::array<double, directions>& bulk,
             const std::array<Complex64, directions>& phase) {
  Hops hops;
  for (int mu = 0; mu < directions; ++mu) {
    hops.bulk[mu] = bulk[mu];
    const bool first = lattice.origin(mu) == 0;
    const bool last = lattice.origin(mu) + lattice.extent(mu) == lattice.global_extent(mu);
    for (const int back : {0, 1}) {
      const Complex64 edge = bulk[mu] * ((back ? first : last) ? phase[mu] : 1.0);
      hops.edge_re[mu][back] = edge.real();
      hops.edge_im[mu][back] = edge.imag();
    }
  }
  return hops;
}

Arguments arguments_for(const Domain& domain, int lanes, int rhs) {
  Arguments a;
  a.geometry = domain.layout(lanes).geometry();
  a.rhs = rhs;
  if (domain.rank_sums() != nullptr) a.team = domain.rank_sums()->team();
  return a;
}

std::vector<double> reduce(const Domain& domain, const Kernel& kernel, const Arguments& arguments) {
  std::vector<double> sums = domain.device().reduce(kernel, arguments);
  // Kernels of the CPU add up over the ranks themselves.
  if (domain.device().asynchronous() || arguments.team == nullptr) domain.communicator().sum(sums);
  return sums;
}

void update(const Domain& domain, const Kernel& kernel, const Arguments& arguments) {
  const bool by_host = domain.rank_sums() != nullptr && domain.rank_sums()->team() == nullptr;
  if (!by_host || kernel.sums == 0 || kernel.scalar_program.empty()) return domain.device().run(kernel, arguments);
  Arguments a = arguments;
  a.stage = SumStage::sums;
  domain.device().run_program(kernel, arguments, reduce(domain, kernel, a));
}

namespace {
constexpr std::size_t few = 1 << 16;  ///< numbers for which one thread is enough
}

void set_zero(Complex64* numbers, std::size_t count) {
#pragma omp parallel for schedule(static) if (count > few)
  for (std::size_t n = 0; n < count; ++n) numbers[n] = 0;
}

void copy_numbers(const Complex64* from, Complex64* to, std::size_t count) {
#pragma omp parallel for schedule(static) if (count > few)
  for (std::size_t n = 0; n < count; ++n) to[n] = from[n];
}

void throw_not_three(std::size_t each, std::size_t of_three) {
  throw UsageError(
      fmt::format("a field with {} complex numbers a site does not have three colours, which have {}; use "
                  "links of three colours here",
                  each, of_three));
}

SpinorField::SpinorField(DomainPointer domain, const PrecisionInfo& precision, Subset subset, int rhs,
                         Components components, int slices)
    : domain_(std::move(domain)),
      precision_(&precision),
      subset_(subset),
      rhs_(rhs),
      slices_(slices),
      lanes_(domain_->lanes(precision.element_bytes)),
      components_(components) {
  const auto [spins, colours] = components;
  if (rhs < 1) throw UsageError(fmt::format("a spinor field needs at least one right-hand side, not {}", rhs));
  if (spins < 1 || spins == 3 || spins > 4)
    throw UsageError(fmt::format("a site field of {} colour vectors; use 1, 2 or 4", spins));
  if (colours < 1 || colours > most_colours)
    throw UsageError(fmt::format("a site field of {} colours; use 1 to {}", colours, most_colours));
  if (colours != 3 && precision.spin_words != 6)
    throw UsageError(fmt::format("{} stores vectors of three colours, not of {}; use double, single, half or quarter",
                                 precision.name, colours));
  if (slices < 1) throw UsageError(fmt::format("a spinor field of {} slices; use at least one", slices));
  data_ = std::make_shared<Memory>(domain_->device_pointer(), data_bytes());
  if (precision.norm) norm_ = std::make_shared<Memory>(domain_->device_pointer(), norm_bytes());
  // Element-wise kernels go over what fills the last blocks of slices, too.
  if (slices > 1 && order_of(*this).padded() > order_of(*this).blocks) fill(0);
}

std::size_t SpinorField::data_bytes() const {
  return static_cast<std::size_t>(order_of(*this).words()) * precision_->word_bytes * rhs_ * slices_;
}

std::size_t SpinorField::norm_bytes() const {
  return precision_->norm ? static_cast<std::size_t>(norms()) * sizeof(float) * rhs_ : 0;
}

/// Of a right-hand side.
long long SpinorField::norms() const {
  const MemoryOrder order = order_of(*this);
  return order.padded() * order.parities * lanes_ * slices_;
}

std::size_t SpinorField::bytes_per_rhs() const { return (data_bytes() + norm_bytes()) / rhs_; }

SpinorField SpinorField::columns(int first, int count) const {
  if (first < 0 || count < 1 || first + count > rhs_)
    throw UsageError(fmt::format("right-hand sides {} to {} of a field that has {}", first, first + count - 1, rhs_));
  SpinorField part(*this);
  part.first_ = first_ + first;
  part.rhs_ = count;
  return part;
}

SpinorField SpinorField::by_slice() const {
  SpinorField part(*this);
  part.first_ *= slices_;
  part.rhs_ *= slices_;
  part.slices_ = 1;
  return part;
}

long long SpinorField::count() const {
  const MemoryOrder order = order_of(*this);
  return slices_ == 1 ? order.blocks * order.parities : order.padded() * order.parities * slices_;
}

Arguments SpinorField::arguments() const {
  Arguments a = arguments_for(*domain_, lanes_, rhs_);
  a.count = count();
  if (slices_ > 1) a.geometry.half_sites = static_cast<int>(a.count);  // blocks are counted with their filling
  return a;
}

Operand SpinorField::operand() const {
  const MemoryOrder order = order_of(*this);
  Operand f;
  f.data = data_->data();
  if (precision_->norm) f.norm = static_cast<float*>(norm_->data());
  f.rhs_stride = order.words() * slices_;
  f.norm_rhs_stride = norms();
  f.lanes = lanes_;
  return select(f, first_);
}

Operand SpinorField::operand(Parity parity) const {
  if (!holds(subset_, parity)) throw UsageError("the spinor field does not hold the parity that was asked for");
  Operand f = operand();
  if (subset_ == Subset::full && parity == Parity::odd) {
    const MemoryOrder order = order_of(*this);
    f.data = static_cast<char*>(f.data) + order.parity_words() * precision_->word_bytes;
    if (f.norm != nullptr) f.norm += order.padded() * lanes_;
  }
  return f;
}

Operand SpinorField::select(Operand f, int rhs) const {
  f.data = static_cast<char*>(f.data) + rhs * f.rhs_stride * precision_->word_bytes;
  if (f.norm != nullptr) f.norm += rhs * f.norm_rhs_stride;
  return f;
}

void SpinorField::fill(int byte) {
  const Operand f = operand();
  device().fill(f.data, byte, data_bytes());
  if (precision_->norm) device().fill(f.norm, byte, norm_bytes());
}

namespace {

void check_kind(const SpinorField& a, const SpinorField& b, const char* what) {
  if (!alike(a.domain(), b.domain()) || &a.precision() != &b.precision() || a.rhs() != b.rhs() ||
      a.components() != b.components() || a.slices() != b.slices())
    throw UsageError(
        fmt::format("{} between spinor fields of different kinds: {} {} with {} right-hand sides, {} "
                    "spins, {} colours and {} slices, {} {} with {}, {}, {} and {}",
                    what, a.domain().lattice().text(), a.precision().name, a.rhs(), a.spins(), a.colours(), a.slices(),
                    b.domain().lattice().text(), b.precision().name, b.rhs(), b.spins(), b.colours(), b.slices()));
}

}  // namespace

void SpinorField::copy_from(const SpinorField& other) {
  check_kind(*this, other, "copy");
  if (subset_ != other.subset_) throw UsageError("copy between spinor fields of different subsets; use copy_half");
  const Operand to = operand(), from = other.operand();
  device().copy(to.data, from.data, data_bytes());
  if (precision_->norm) device().copy(to.norm, from.norm, norm_bytes());
}

void SpinorField::copy_half(Parity parity, const SpinorField& other) {
  check_kind(*this, other, "copy");
  if (slices_ > 1) return by_slice().copy_half(parity, other.by_slice());
  const Operand to = operand(parity), from = other.operand(parity);
  const MemoryOrder order = order_of(*this);
  for (int r = 0; r < rhs_; ++r) {
    const Operand there = select(to, r), here = other.select(from, r);
    device().copy(there.data, here.data, static_cast<std::size_t>(order.parity_words()) * precision_->word_bytes);
    if (precision_->norm)
      device().copy(there.norm, here.norm, static_cast<std::size_t>(order.padded()) * lanes_ * sizeof(float));
  }
}

TermField::TermField(DomainPointer domain, const PrecisionInfo& precision)
    : domain_(std::move(domain)), precision_(&precision), lanes_(domain_->lanes(precision.element_bytes)) {
  data_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(order_of(*this).words()) * precision.word_bytes);
  if (precision.word_bytes != 8) return;
  norm_ = Memory(domain_->device_pointer(), norms() * sizeof(float));
  domain_->device().fill(norm_.data(), 0, norm_.bytes());  // what fills blocks must not be the largest
}

/// Of both parities, with what fills blocks.
std::size_t TermField::norms() const {
  const MemoryOrder order = order_of(*this);
  return static_cast<std::size_t>(order.padded()) * order.lanes * order.parities;
}

Operand TermField::operand(Parity parity) const {
  const MemoryOrder order = order_of(*this);
  Operand f;
  f.data = data_.data();
  f.parity_stride = order.parity_words();
  f.lanes = lanes_;
  f.norm_rhs_stride = static_cast<long long>(norms() / 2);
  if (norm_.data() != nullptr)
    f.norm = static_cast<float*>(norm_.data()) + (parity == Parity::odd ? f.norm_rhs_stride : 0);
  return f;
}

void TermField::fill(int byte) { domain_->device().fill(data_.data(), byte, data_.bytes()); }

void TermField::set_largest(double largest) {
  const auto number = static_cast<float>(largest);
  domain_->device().upload(norm_.data(), &number, sizeof number);
}

double TermField::largest() const {
  const auto* norms_of_sites = static_cast<const float*>(norm_.data());
  return domain_->device().largest({.rows = static_cast<long long>(norms()), .stride = 1, .single = norms_of_sites});
}

}  // namespace quarksmith
