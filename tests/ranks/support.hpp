/// \file
/// What tests on several ranks share: every rank also holds the whole lattice, on which it is alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/lattice/partition.hpp"

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

/// Those into which a lattice can be cut.
inline std::vector<Coordinates> grids(const Coordinates& extent) {
  std::vector<Coordinates> fitting;
  for (const Coordinates& g : grids()) {
    bool even = true;
    for (int mu = 0; mu < directions; ++mu) even = even && extent[mu] % (2 * g[mu]) == 0;
    if (even) fitting.push_back(g);
  }
  return fitting;
}

/// E.g. `1x1x2x2`.
inline std::string text(const Coordinates& x) {
  std::string all;
  for (int mu = 0; mu < directions; ++mu) all += (mu > 0 ? "x" : "") + std::to_string(x[mu]);
  return all;
}

/// Whether all ranks have the same number, to the last bit.
inline bool same_everywhere(double value) {
  std::vector<double> all(world().size());
  world().all_gather(&value, sizeof(value), all.data());
  return std::count(all.begin(), all.end(), all[0]) == static_cast<long>(all.size());
}

/// This rank's part of a lattice.
inline Lattice local_lattice(const Coordinates& extent, const Coordinates& grid) {
  return Partition{Communicator::world(), grid}.local_lattice(extent);
}

/// Calls body(this rank's part) for each grid into which a lattice can be cut.
template <class Body>
void on_grids(const Coordinates& extent, const Body& body) {
  for (const Coordinates& grid : grids(extent)) {
    SCOPED_TRACE(text(grid));
    body(local_lattice(extent, grid));
  }
}

/// What the ranks of this job compute on: the CPU, or with QUARKSMITH_TEST_DEVICE=cuda GPU number (rank of the host)
/// modulo the GPUs that there are.
inline const std::shared_ptr<Device>& device() {
  static const std::shared_ptr<Device> chosen = [] {
    const char* asked = std::getenv("QUARKSMITH_TEST_DEVICE");
    return Device::select(asked == nullptr ? "cpu" : asked, world().host_rank());
  }();
  return chosen;
}

/// A part among those of all ranks; the whole lattice belongs to each rank alone.
inline DomainPointer domain_of(const Lattice& lattice) {
  return std::make_shared<Domain>(lattice, device(),
                                  lattice.ranks() > 1 ? Communicator::world() : Communicator::self());
}

/// What all ranks need and one can make alone, e.g. fields on the whole lattice: `make(n)` for n < count runs on one
/// rank each, side by side, and all get copies. \param like makes a result whose sites are to be filled.
template <class Make, class Like>
auto shared(std::size_t count, const Make& make, const Like& like) {
  std::vector<decltype(make(count))> all;
  const std::size_t size = static_cast<std::size_t>(world().size()), rank = static_cast<std::size_t>(world().rank());
  for (std::size_t n = 0; n < count; ++n) all.push_back(n % size == rank ? make(n) : like(n));
  for (std::size_t n = 0; n < count; ++n)
    world().broadcast(all[n].site.data(), all[n].site.size() * sizeof(all[n].site[0]), static_cast<int>(n % size));
  return all;
}

/// The sites of `here` from a field on the whole lattice.
template <class Field>
Field cut(const Field& whole, const Lattice& here) {
  Field result(here, whole.colours());
  for (long long i = 0; i < here.sites(); ++i)
    std::copy_n(whole.site.at(here.global_index(i)), whole.site.each(), result.site.at(i));
  return result;
}

}  // namespace ranks
