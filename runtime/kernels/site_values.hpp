/// \file
/// What each site adds to the sums of a lattice expression, kept instead of added up. Include after
/// runtime/kernels/expression_site.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Kernel K with its sums of a site as numbers in a.out, of right-hand side and parity by their strides: how a kernel
/// adds up depends on lanes, blocks and the part of the lattice that a rank has (runtime/fields/site_sums.hpp does
/// not).
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
