#include "solvers/multigrid/places.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"

namespace quarksmith {
FieldPlaces places_of(const SpinorField& f) {
  if (f.components() != Components{} || f.precision().norm || f.precision().spin_words != 6)
    throw UsageError(
        fmt::format("multigrid: fields of {} spins and {} colours in {}; it works on Dirac spinors of "
                    "three colours in double or single",
                    f.spins(), f.colours(), f.precision().name));
  const MemoryOrder order = order_of(f);
  FieldPlaces places{};
  for (int n = 0; n < 2 * spinor_numbers; ++n) places.word[n] = static_cast<int>(order.word(0, 0, n));
  places.apart = f.domain().layout(f.lanes()).boxes();
  places.copies = f.lanes() / places.apart;
  places.slices = f.slices();
  return places;
}

int first_word(const SpinorField& f, const Coordinates& x) {
  const LaneLayout& layout = f.domain().layout(f.lanes());
  const auto [block, lane] = layout.position(x);
  const bool second = f.subset() == Subset::full && Lattice::parity(x) == Parity::odd;
  return static_cast<int>(order_of(f).word(block + (second ? layout.geometry().half_sites : 0), lane, 0));
}

bool rows_apart(const Device& device) { return device.short_vectors(); }

int row_items(const Device& device, int rows) { return rows_apart(device) ? rows / item_rows * item_parts : 1; }

int column_items(const Device& device) { return rows_apart(device) ? item_columns : 1; }

int column_groups(const Device& device, int columns) {
  return rows_apart(device) ? (columns + panel_columns - 1) / panel_columns : 1;
}

unsigned char odd_directions(const Coordinates& x) {
  unsigned char bits = 0;
  for (int mu = 0; mu < directions; ++mu) bits = static_cast<unsigned char>(bits | (x[mu] % 2) << mu);
  return bits;
}

Memory zeros(const std::shared_ptr<Device>& device, std::size_t bytes) {
  Memory memory(device, bytes);
  device->fill(memory.data(), 0, bytes);
  return memory;
}

Memory on_device(const std::shared_ptr<Device>& device, const void* data, std::size_t bytes) {
  Memory memory(device, bytes);
  device->upload(memory.data(), data, bytes);
  return memory;
}

SiteOrder::SiteOrder(const SpinorField& like, std::vector<int> first)
    : domain_(like.domain_pointer()),
      numbers_(static_cast<long long>(first.size()) * like.slices() * 2 * spinor_numbers),
      word_bytes_(like.precision().word_bytes),
      items_(static_cast<int>(first.size()) * like.slices()) {
  if (!rows_apart(domain_->device())) return;
  gather_ = &find(domain_->device().kernels(), {.operation = "gather_numbers", .precision = like.precision().name});
  first_ = on_device(domain_->device_pointer(), first);
  const CoarseSites record{.places = places_of(like),
                           .sites = static_cast<int>(first.size()),
                           .first = static_cast<const int*>(first_.data())};
  record_ = on_device(domain_->device_pointer(), &record, sizeof record);
}

void SiteOrder::reserve(int rhs) const {
  const std::size_t bytes = static_cast<std::size_t>(numbers_) * rhs * word_bytes_;
  if (gather_ != nullptr && copy_.bytes() < bytes) copy_ = Memory(domain_->device_pointer(), bytes);
}

Operand SiteOrder::gather(const Operand& in, int rhs) const {
  if (gather_ == nullptr) return {};
  reserve(rhs);
  Operand copy;
  copy.data = copy_.data();
  copy.rhs_stride = numbers_;
  Arguments a = arguments_for(*domain_, 1, rhs);
  a.count = items_;
  a.matrix = record_.data();
  a.in = in;
  a.out = copy;
  domain_->device().run(*gather_, a);
  return copy;
}

}  // namespace quarksmith
