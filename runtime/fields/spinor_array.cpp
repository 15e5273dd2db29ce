#include "runtime/fields/spinor_array.hpp"

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/ranks/site_numbers.hpp"

namespace quarksmith {
namespace {

void move(ArrayMove move, const Domain& domain, int lanes, Subset subset) {
  if (move.array.spread && move.array.phased)  // SiteTurn holds one of them
    throw UsageError("an array with phases spread over all sites and with signs or a boundary's; give it one of both");
  const long long half = order_of_sites(domain, lanes).padded() * lanes;
  move.numbers = static_cast<const unsigned long long*>(domain.site_numbers(lanes).data());
  if (subset == Subset::odd) move.numbers += half;
  move.slots = static_cast<int>(half * parities(subset));
  std::ranges::copy(domain.lattice().global_extent(), move.extent);
  for (int mu = 0; mu < directions; ++mu) move.origin[mu] = domain.lattice().origin(mu);
  domain.device().move_array(move);
}

void copy(const SpinorArray& array, const SpinorField& field, int rhs, bool to_array) {
  ArrayMove work;
  work.array = array;
  work.field = stored_sites(order_of(field), field.select(field.operand(), rhs), field.precision().word_bytes);
  work.spins = field.spins();
  work.colours = field.colours();
  work.to_array = to_array;
  move(work, field.domain(), field.lanes(), field.subset());
}

void copy(const SpinorArray& array, const LinkField& links, int mu, bool to_array) {
  ArrayMove work;
  work.array = array;
  const StoredSites all = stored_sites(links);
  work.field = group_of(all, mu, all.pieces / directions);
  work.spins = work.colours = links.colours();
  work.to_array = to_array;
  move(work, links.domain(), links.lanes(), Subset::full);
}

}  // namespace

void copy_array(const SpinorArray& array, SpinorField& to, int rhs) { copy(array, to, rhs, false); }
void copy_array(const SpinorField& from, int rhs, const SpinorArray& array) { copy(array, from, rhs, true); }

void copy_array(const SpinorArray& array, LinkField& to, int mu) {
  copy(array, to, mu, false);
  to.changed();
}
void copy_array(const LinkField& from, int mu, const SpinorArray& array) { copy(array, from, mu, true); }

void set_unit(LinkField& links) {
  const int n = links.colours();
  std::vector<Complex64> one(static_cast<std::size_t>(n * n));
  for (int c = 0; c < n; ++c) one[static_cast<std::size_t>(c * (n + 1))] = 1;
  const std::size_t bytes = one.size() * sizeof(Complex64);
  const Memory there(links.domain().device_pointer(), bytes);
  links.domain().device().upload(there.data(), one.data(), bytes);
  SpinorArray same;  // for all sites: places are no steps apart
  same.spin = n;
  same.data = static_cast<char*>(there.data());
  for (int mu = 0; mu < directions; ++mu) copy_array(same, links, mu);
}

}  // namespace quarksmith
