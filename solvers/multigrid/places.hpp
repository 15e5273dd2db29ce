/// \file
/// Positions of a field's numbers in memory, for kernels of coarse lattices (runtime/kernels/coarse_records.hpp).
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith {

/// Places of numbers in fields like this one. \throws UsageError it does not hold Dirac spinors in double or single.
FieldPlaces places_of(const SpinorField& f);
/// The operand for the sites of a subset that the field holds.
Operand operand_on(const SpinorField& f, Subset subset);
/// First word of the site with these coordinates, among those that the field holds.
int first_word(const SpinorField& f, const Coordinates& x);
/// The lexicographic numbers of a field's sites, in the order of memory: kernels that work on them in this order reuse
/// cache lines that lanes share.
std::vector<long long> sites_in_memory(const SpinorField& f);

/// All numbers of a right-hand side, [lexicographic site][slice][12]; zero at sites that the field does not hold.
std::vector<Complex64> numbers_of(const SpinorField& f, int rhs);
/// Sets all numbers of a right-hand side, in the order of numbers_of.
void set_numbers(SpinorField& f, int rhs, const std::vector<Complex64>& numbers);

/// Length in memory of a column with `rows` rows.
constexpr int padded_rows(int rows) { return (rows + panel_rows - 1) / panel_rows * panel_rows; }
/// Whether work items of kernels of coarse lattices are single rows and numbers (GPUs), not whole blocks or sites.
bool rows_apart(const Device& device);
/// Work items for the rows of a matrix in a product.
int row_items(const Device& device, int rows);
/// Work items for the matrix of a site in a product with matrices of 16 bits, and the groups of right-hand sides in it.
int tile_items(const Device& device, int rows);
int tile_groups(const Device& device, int columns);
/// Work items for the inversion of a matrix.
int column_items(const Device& device);
/// Groups of right-hand sides that are separate work items of such kernels.
int column_groups(const Device& device, int columns);
/// Bit mu is set if coordinate mu is odd.
unsigned char odd_directions(const Coordinates& x);

Memory zeros(const std::shared_ptr<Device>& device, std::size_t bytes);
/// Copies data to the memory of a device.
Memory on_device(const std::shared_ptr<Device>& device, const void* data, std::size_t bytes);
template <class T>
Memory on_device(const std::shared_ptr<Device>& device, const std::vector<T>& all) {
  return on_device(device, all.data(), all.size() * sizeof(T));
}

/// Copies of fields in which the numbers of given sites are contiguous, for kernels.
class SiteOrder {
 public:
  SiteOrder() = default;
  /// \param like a field of this kind. \param first the first words of its sites.
  SiteOrder(const SpinorField& like, std::vector<int> first);
  /// Allocates memory for `rhs` right-hand sides.
  void reserve(int rhs) const;
  /// A copy of `in`, valid until the next call.
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
