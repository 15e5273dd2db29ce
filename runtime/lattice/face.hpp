/// \file
/// Slices at the boundary of the local lattice, and their exchange with neighbouring ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// Number of a site among those with the same x_mu, lexicographic in the other directions.
inline std::size_t number_in_slice(const Lattice& lattice, int mu, const Coordinates& x) {
  std::size_t number = 0;
  for (int nu = directions - 1; nu >= 0; --nu)
    if (nu != mu) number = number * lattice.extent(nu) + x[nu];
  return number;
}

/// The results of value(site) for all sites of the slice x_mu = `at`, in the order of number_in_slice.
template <class Value>
auto slice_of(const Lattice& lattice, int mu, int at, const Value& value) {
  std::vector<decltype(value(0ll))> result;
  result.reserve(static_cast<std::size_t>(lattice.sites() / lattice.extent(mu)));
  long long inner = 1;
  for (int nu = 0; nu < mu; ++nu) inner *= lattice.extent(nu);
  const long long step = inner * lattice.extent(mu);
  for (long long outer = at * inner; outer < lattice.sites(); outer += step)
    for (long long i = outer; i < outer + inner; ++i) result.push_back(value(i));
  return result;
}

/// Exchanges values with neighbours: each rank gets `mine` of the rank `step` (+1 or -1) along mu; its own where the
/// direction is not split. Collective.
template <class Value>
std::vector<Value> from_neighbour(const Lattice& lattice, int mu, int step, std::vector<Value> mine,
                                  Communicator& communicator) {
  if (!lattice.split(mu)) return mine;
  std::vector<Value> theirs(mine.size());
  const std::size_t bytes = mine.size() * sizeof(Value);
  const Message send = {lattice.rank_at(mu, -step), 0, mine.data(), bytes};
  const Message receive = {lattice.rank_at(mu, step), 0, theirs.data(), bytes};
  communicator.start({&send, 1}, {&receive, 1});
  communicator.finish();
  return theirs;
}

}  // namespace quarksmith
