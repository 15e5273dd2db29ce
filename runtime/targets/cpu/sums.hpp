/// \file
/// Sums over the sites of a field on the CPU target that are the same for all chunks, lanes and parts of a lattice.
/// Include after runtime/targets/cpu/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// sum + rest += value, where `rest` is what `sum` was rounded by (D. E. Knuth, The Art of Computer Programming 2,
/// 4.2.2): a sum of twice the digits, which gives the same number in any order when it is rounded at the end.
template <class R>
QUARKSMITH_INLINE void add_exactly(R& sum, R& rest, const R& value) {
  const R total = sum + value, added = total - sum;
  rest = rest + ((sum - (total - added)) + (value - added));
  sum = total;
}

/// Kernel K with such sums.
template <class K>
struct ExactSums : K {
  static constexpr bool exact_sums = true;
};

/// apply() of such a kernel. A pair of numbers for each sum and chunk stands in a.partial, and goes to other ranks.
template <class K, class = void>
  requires K::exact_sums
void apply(const Arguments& a, const Launch&) {
  constexpr int N = K::sums, W = lanes_of<K>;
  const int covered = boxes_of(a.geometry), boxes = W < covered ? W : covered;  // other lanes are copies
  const int count = K::count(a), chunks = (count + chunk_blocks - 1) / chunk_blocks;
  for (int rhs = 0; rhs < a.rhs; rhs += K::tile) {
    if (inactive(a, rhs, K::tile)) continue;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Lanes<double, W> sums[N] = {}, rests[N] = {};
      const int end = (chunk + 1) * chunk_blocks < count ? (chunk + 1) * chunk_blocks : count;
      for (int index = chunk * chunk_blocks; index < end; ++index) {
        Lanes<double, W> site[N] = {};
        K::template site<W>(a, index, rhs, site);
        for (int n = 0; n < N; ++n) add_exactly(sums[n], rests[n], site[n]);
      }
      for (int n = 0; n < N; ++n) {
        double* const pair = a.partial + 2 * (chunk * N + n);
        pair[0] = pair[1] = 0;
        for (int l = 0; l < boxes; ++l) {
          add_exactly(pair[0], pair[1], get_lane(sums[n], l));
          pair[1] += get_lane(rests[n], l);
        }
      }
    }
    double pairs[2 * N] = {}, totals[N];
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int n = 0; n < N; ++n) {
        const double* const pair = a.partial + 2 * (chunk * N + n);
        add_exactly(pairs[2 * n], pairs[2 * n + 1], pair[0]);
        pairs[2 * n + 1] += pair[1];
      }
    if (a.team != nullptr) a.team->sum(a.team->context, pairs, 2 * N);
    for (int n = 0; n < N; ++n) totals[n] = pairs[2 * n] + pairs[2 * n + 1];
    if constexpr (requires { K::scalar_program(a, rhs, totals); }) {
      K::scalar_program(a, rhs, totals);
    } else {
      for (int n = 0; n < N; ++n) a.sums[rhs * N + n] = totals[n];
    }
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
