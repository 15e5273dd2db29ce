/// \file
/// Positions of a field's numbers in memory, for kernels of coarse lattices (runtime/kernels/coarse_records.hpp).
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith {

/// Fields like this one. \throws UsageError it does not hold Dirac spinors in double or single.
FieldPlaces places_of(const SpinorField& f);
/// The sites of a subset that it holds.
Operand operand_on(const SpinorField& f, Subset subset);
/// First word of the site with these coordinates, among those that the field holds.
int first_word(const SpinorField& f, const Coordinates& x);
/// The lexicographic numbers of its sites, in the order of their first words: kernels that work on one after the other
/// find the lines of a cache that lanes share.
std::vector<long long> sites_in_memory(const SpinorField& f);

/// All numbers of a right-hand side, [lexicographic site][slice][12]; those of sites that it does not hold are zero.
std::vector<Complex64> numbers_of(const SpinorField& f, int rhs);
/// The other way.
void set_numbers(SpinorField& f, int rhs, const std::vector<Complex64>& numbers);

/// Numbers that a column of so many rows takes in memory.
constexpr int padded_rows(int rows) { return (rows + panel_rows - 1) / panel_rows * panel_rows; }
/// Whether items of kernels of coarse lattices are rows and numbers, not whole blocks or sites.
bool rows_apart(const Device& device);
/// Work items for the rows of a matrix in a product.
int row_items(const Device& device, int rows);
/// Work items for the matrix of a site in a product with matrices of 16 bits, and the groups of right-hand sides in it.
int tile_items(const Device& device, int rows);
int tile_groups(const Device& device, int columns);
/// Work items for the inversion of a matrix.
int column_items(const Device& device);
/// Groups of right-hand sides that are items of such kernels by themselves.
int column_groups(const Device& device, int columns);
/// Bit mu: coordinate mu is odd.
unsigned char odd_directions(const Coordinates& x);

Memory zeros(const std::shared_ptr<Device>& device, std::size_t bytes);
/// A copy in the memory of a device.
Memory on_device(const std::shared_ptr<Device>& device, const void* data, std::size_t bytes);
template <class T>
Memory on_device(const std::shared_ptr<Device>& device, const std::vector<T>& all) {
  return on_device(device, all.data(), all.size() * sizeof(T));
}

/// Fields of the same sites, whose numbers kernels read in the order of these sites.
class SiteOrder {
 public:
  SiteOrder() = default;
  /// \param like such a field. \param first the first words of its sites.
  SiteOrder(const SpinorField& like, std::vector<int> first);
  /// Room for so many right-hand sides.
  void reserve(int rhs) const;
  /// A copy of `in`, until the next one.
  Operand gather(const Operand& in, int rhs) const;

 private:
  DomainPointer domain_;
  const Kernel* gather_ = nullptr;
  long long numbers_ = 0;
  int word_bytes_ = 0, items_ = 0;
  Memory first_, record_;
  mutable Memory copy_;
};

}  // namespace quarksmith
