/// \file
/// Random numbers of sites, the same on any grid of ranks.
#pragma once

#include "runtime/fields/field.hpp"
#include "runtime/kernels/site_draws.hpp"

namespace quarksmith {

/// The random stream of a local site; it depends only on `state` and the number of the site in the global lattice.
inline Random random_at(const Lattice& lattice, long long site, const RandomState& state) {
  return stream_of(state, static_cast<unsigned long long>(lattice.global_index(site)));
}

/// Draws momenta i p_a T_a, tr T_a T_b = 1/2, with independent Gaussian p_a of variance 1.
/// \throws UsageError they are not stored as momenta (algebra_storage) in double.
void draw_momenta(LinkField& p, const RandomState& state);
/// Complex numbers with <|eta|^2> = 1 on the sites of a double field, for all of its right-hand sides and slices, drawn
/// in the DeGrand-Rossi basis and turned to `basis`.
/// \throws UsageError the field is not double.
void draw_noise(SpinorField& eta, const RandomState& state, const BasisInfo& basis);
/// Draws numbers (+-1 +- i) / sqrt 2 like draw_noise, in a tenth of the time.
void draw_signs(SpinorField& eta, const RandomState& state, const BasisInfo& basis);

}  // namespace quarksmith
