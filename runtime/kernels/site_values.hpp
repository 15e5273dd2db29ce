/// \file
/// The contribution of each site to the sums of a lattice expression, stored instead of summed. Include after
/// runtime/kernels/expression_site.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Kernel K with the contributions of each site stored in a.out instead of summed: the order of a kernel's sums depends
/// on lanes, blocks and ranks, that of runtime/fields/site_sums.hpp does not.
template <class K>
struct SiteValues : K {
  static constexpr int sums = 0;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int number, int rhs, Lanes<double, W>*) {
    Lanes<double, W> values[K::sums] = {};
    K::template site<W>(a, number, rhs, values);
    Words<double, W, K::sums> words;
    QUARKSMITH_UNROLL
    for (int n = 0; n < K::sums; ++n) words.w[n] = values[n];
    const Site x = make_site(a, number, rhs);
    const long long shift = rhs * a.out.rhs_stride + x.parity * a.out.parity_stride;
    store_words<double, W, K::sums, 1>(a.out, x.place, shift, 0, words);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
