#include "runtime/fields/spinor_array.hpp"

#include <algorithm>

#include "runtime/fields/order.hpp"
#include "runtime/ranks/site_numbers.hpp"

namespace quarksmith {
namespace {

void copy(const SpinorArray& array, const SpinorField& field, int rhs, bool to_array) {
  const Domain& domain = field.domain();
  const long long half = order_of_sites(domain, field.lanes()).padded() * field.lanes();
  ArrayMove move;
  move.array = array;
  move.field = stored_sites(order_of(field), field.select(field.operand(), rhs), field.precision().word_bytes);
  move.numbers = static_cast<const unsigned long long*>(domain.site_numbers(field.lanes()).data());
  if (field.subset() == Subset::odd) move.numbers += half;
  move.slots = static_cast<int>(half * parities(field.subset()));
  std::ranges::copy(domain.lattice().global_extent(), move.extent);
  for (int mu = 0; mu < directions; ++mu) move.origin[mu] = domain.lattice().origin(mu);
  move.spins = field.spins();
  move.colours = field.colours();
  move.to_array = to_array;
  domain.device().move_array(move);
}

}  // namespace

void copy_array(const SpinorArray& array, SpinorField& to, int rhs) { copy(array, to, rhs, false); }
void copy_array(const SpinorField& from, int rhs, const SpinorArray& array) { copy(array, from, rhs, true); }

}  // namespace quarksmith
