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

}  // namespace quarksmith
