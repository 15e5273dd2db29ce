/// \file
/// What tests on several ranks share: every rank also holds the whole lattice, on which it is alone.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/field.hpp"
#include "runtime/partition.hpp"

namespace ranks {

using namespace quarksmith;

/// All ranks that were started.
inline Communicator& world() { return *Communicator::world(); }

/// Grids to test with as many ranks as there are: every single direction, and those of several.
inline std::vector<Coordinates> grids() {
  const int n = world().size();
  std::vector<Coordinates> all;
  for (int mu = 0; mu < directions; ++mu) {
    Coordinates g{1, 1, 1, 1};
    g[mu] = n;
    if (n <= 4) all.push_back(g);
  }
  for (const Coordinates& g : {Coordinates{1, 1, 2, 2}, {2, 1, 1, 2}, {2, 2, 1, 1}, {2, 2, 2, 1}, {1, 2, 2, 2}})
    if (g[0] * g[1] * g[2] * g[3] == n) all.push_back(g);
  if (n == 1) all.resize(1);
  return all;
}

/// This rank's part of a lattice.
inline Lattice part(const Coordinates& extent, const Coordinates& grid) {
  return Partition{Communicator::world(), grid}.part(extent);
}

/// What the ranks of this job compute on: the CPU, or with QUARKSMITH_TEST_DEVICE=cuda GPU number (rank of the host)
/// modulo the GPUs that there are.
inline const std::shared_ptr<Device>& device() {
  static const std::shared_ptr<Device> chosen = [] {
    const char* asked = std::getenv("QUARKSMITH_TEST_DEVICE");
    if (asked == nullptr || std::string(asked) != "cuda") return Device::cpu();
    return Device::cuda(world().host_rank() % Device::cuda_devices());
  }();
  return chosen;
}

/// The sites of `here` from a field on the whole lattice.
template <class Field>
Field cut(const Field& whole, const Lattice& here) {
  Field result(here);
  for (long long i = 0; i < here.sites(); ++i) result.site[i] = whole.site[here.global_index(i)];
  return result;
}

}  // namespace ranks
