#include "runtime/fields/site_random.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/ranks/site_numbers.hpp"

namespace quarksmith {
namespace {

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

void draw_momenta(LinkField& p, const RandomState& state) {
  require_double(p.precision());
  if (&p.storage() != &algebra_storage(p.colours()))
    throw UsageError(
        fmt::format("momenta are drawn into storage {}, not {}", algebra_storage(p.colours()).name, p.storage().name));
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
