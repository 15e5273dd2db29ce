#include "runtime/fields/site_random.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/memory_order.hpp"
#include "runtime/ranks/bordered.hpp"

namespace quarksmith {
namespace {

MemoryOrder order_of_sites(const Domain& domain, int lanes) {  // slots do not depend on what a site holds
  return {domain.device().short_vectors(), 1, 1, 8, domain.layout(lanes).geometry().half_sites, 2, lanes};
}

void require_double(const PrecisionInfo& precision) {
  if (precision.word_bytes != sizeof(double))
    throw UsageError(fmt::format("noise is drawn in double precision, the field is {}; convert it", precision.name));
}

/// On the sites that a field holds.
void draw(const Domain& domain, int lanes, Subset subset, SiteDraws draws) {
  const MemoryOrder order = order_of_sites(domain, lanes);
  const long long half = order.padded() * lanes;
  draws.numbers = static_cast<const unsigned long long*>(domain.site_numbers(lanes).data());
  if (subset == Subset::odd) draws.numbers += half;
  draws.slots = static_cast<int>(half * parities(subset));
  domain.device().draw_sites(draws);
}

}  // namespace

const Memory& Domain::site_numbers(int lanes) const {
  Memory& numbers = site_numbers_[lanes];
  if (numbers.bytes() > 0) return numbers;
  const MemoryOrder order = order_of_sites(*this, lanes);
  const LaneLayout& layout = this->layout(lanes);
  std::vector<unsigned long long> all(order.words(), SiteDraws::nowhere);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice_.sites(); ++i) {
    const Coordinates x = lattice_.coordinates(i);
    const auto [block, first] = layout.position(x);
    for (int lane = first; lane < lanes; lane += layout.boxes())  // copies too
      all[slot_of(order, int(Lattice::parity(x)), block, lane)] =
          static_cast<unsigned long long>(lattice_.global_index(i));
  }
  numbers = Memory(device_, all.size() * sizeof(all[0]));
  device().upload(numbers.data(), all.data(), numbers.bytes());
  return numbers;
}

void draw_momenta(LinkField& p, const RandomState& state) {
  require_double(p.precision());
  SiteDraws draws;
  draws.to = stored_sites(p);
  draws.random = state;
  draws.kind = SiteDraws::Kind::algebra;
  draws.colours = p.colours();
  draw(p.domain(), p.lanes(), Subset::full, draws);
  p.changed();
}

namespace {

void draw_numbers(SpinorField& eta, const RandomState& state, const BasisInfo& basis, SiteDraws::Kind kind) {
  require_double(eta.precision());
  const SpinorField slices = eta.by_slice();
  SiteDraws draws;
  draws.to = stored_sites(slices);
  draws.random = state;
  draws.kind = kind;
  draws.spins = eta.spins();
  draws.colours = eta.colours();
  std::copy(std::begin(basis.rotation), std::end(basis.rotation), draws.rotation);
  draw(eta.domain(), eta.lanes(), eta.subset(), draws);
}

}  // namespace

void draw_noise(SpinorField& eta, const RandomState& state, const BasisInfo& basis) {
  draw_numbers(eta, state, basis, SiteDraws::Kind::complex_numbers);
}

void draw_signs(SpinorField& eta, const RandomState& state, const BasisInfo& basis) {
  draw_numbers(eta, state, basis, SiteDraws::Kind::signs);
}

}  // namespace quarksmith
