/// \file
/// Operators whose backward hops have other coefficients than forward hops, as with a chemical potential. Their hops
/// all have one length: `long_hops` of the arguments has no other use, and its `bulk[mu]` is what multiplies a backward
/// hop in addition to the coefficient of the forward one.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <int Mu, class R, int N>
QUARKSMITH_INLINE Colour<R, N> weighted(const Arguments& a, const Colour<R, N>& h) {
  return (R{} + scalar<R>(a.long_hops.bulk[Mu])) * h;
}
template <int Mu, class R, int N>
QUARKSMITH_INLINE Scaled<R, N> weighted(const Arguments& a, const Scaled<R, N>& h) {
  return {scalar<R>(a.long_hops.bulk[Mu]) * h.factor, h.h};
}

}  // namespace quarksmith::QUARKSMITH_TARGET
