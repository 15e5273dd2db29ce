#include "solvers/multigrid/places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"

namespace quarksmith {
namespace {

bool is_double(const SpinorField& f) { return f.precision().word_bytes == 8; }

/// Calls visit(number in numbers_of, word of its real part) for the sites that a field holds and all of their copies.
template <class Visit>
void for_each_number(const SpinorField& f, const Visit& visit) {
  const Lattice& lattice = f.domain().lattice();
  const FieldPlaces places = places_of(f);
  const long long stride = f.operand().rhs_stride / places.slices;
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    if (!holds(f.subset(), Lattice::parity(x))) continue;
    const int first = first_word(f, x);
    for (int slice = 0; slice < places.slices; ++slice)
      for (int n = 0; n < spinor_numbers; ++n)
        for (int copy = 0; copy < places.copies; ++copy) {
          const std::size_t at = slice * stride + first + copy * places.apart;
          visit(std::size_t((i * places.slices + slice) * spinor_numbers + n), at + places.word[2 * n],
                at + places.word[2 * n + 1]);
        }
  }
}

template <class T>
std::vector<T> words_of(const SpinorField& f, int rhs) {
  std::vector<T> words(static_cast<std::size_t>(f.operand().rhs_stride));
  f.device().download(words.data(), f.select(f.operand(), rhs).data, words.size() * sizeof(T));
  return words;
}
template <class T>
void read(const SpinorField& f, int rhs, std::vector<Complex64>& numbers) {
  const std::vector<T> words = words_of<T>(f, rhs);
  for_each_number(f, [&](std::size_t n, std::size_t re, std::size_t im) { numbers[n] = {words[re], words[im]}; });
}
template <class T>
void write(SpinorField& f, int rhs, const std::vector<Complex64>& numbers) {
  std::vector<T> words(static_cast<std::size_t>(f.operand().rhs_stride));
  for_each_number(f, [&](std::size_t n, std::size_t re, std::size_t im) {
    words[re] = static_cast<T>(numbers[n].real());
    words[im] = static_cast<T>(numbers[n].imag());
  });
  f.device().upload(f.select(f.operand(), rhs).data, words.data(), words.size() * sizeof(T));
}

}  // namespace

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

Operand operand_on(const SpinorField& f, Subset subset) {
  return subset == Subset::full ? f.operand() : f.operand(subset == Subset::even ? Parity::even : Parity::odd);
}

int first_word(const SpinorField& f, const Coordinates& x) {
  const LaneLayout& layout = f.domain().layout(f.lanes());
  const auto [block, lane] = layout.position(x);
  const bool second = f.subset() == Subset::full && Lattice::parity(x) == Parity::odd;
  return static_cast<int>(order_of(f).word(block + (second ? layout.geometry().half_sites : 0), lane, 0));
}

std::vector<long long> sites_in_memory(const SpinorField& f) {
  const Lattice& lattice = f.domain().lattice();
  std::vector<std::pair<int, long long>> sites;
  for (long long i = 0; i < lattice.sites(); ++i)
    if (const Coordinates x = lattice.coordinates(i); holds(f.subset(), Lattice::parity(x)))
      sites.emplace_back(first_word(f, x), i);
  std::ranges::sort(sites);
  std::vector<long long> numbers;
  for (const auto& [word, number] : sites) numbers.push_back(number);
  return numbers;
}

std::vector<Complex64> numbers_of(const SpinorField& f, int rhs) {
  std::vector<Complex64> numbers(static_cast<std::size_t>(f.domain().lattice().sites()) * f.slices() * spinor_numbers);
  is_double(f) ? read<double>(f, rhs, numbers) : read<float>(f, rhs, numbers);
  return numbers;
}

void set_numbers(SpinorField& f, int rhs, const std::vector<Complex64>& numbers) {
  is_double(f) ? write<double>(f, rhs, numbers) : write<float>(f, rhs, numbers);
}

bool rows_apart(const Device& device) { return device.short_vectors(); }

int row_items(const Device& device, int rows) { return rows_apart(device) ? rows / item_rows * item_parts : 1; }

int tile_items(const Device& device, int rows) {
  const int tiles = rows / tile_size;
  return rows_apart(device) ? (tiles + warp_tiles - 1) / warp_tiles * warp_parts * warp_size : 1;
}

int tile_groups(const Device& device, int columns) {
  return rows_apart(device) ? (columns + warp_columns - 1) / warp_columns : 1;
}

int column_items(const Device& device) { return rows_apart(device) ? warp_size : 1; }

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
