// The order in which GPUs take the sites of a large lattice.
#include "runtime/kernels/slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace quarksmith;

Geometry of_extents(int x, int y, int z, int t) {
  Geometry g{};
  g.extent[0] = x, g.extent[1] = y, g.extent[2] = z, g.extent[3] = t;
  return g;
}

TEST(Slabs, TakeEverySiteOnceAndAllOfASlabBeforeTheNext) {
  for (const auto& [plane, z, t, depth] : {std::array{3, 8, 6, 4}, {1, 6, 2, 2}, {5, 12, 4, 6}}) {
    std::vector<int> seen;
    for (int index = 0; index < plane * z * t; ++index) {
      const int site = in_slabs(index, plane, z, t, depth);
      EXPECT_EQ(site / plane % z / depth, index / (plane * depth * t)) << index;     // its slab
      EXPECT_EQ(site / (plane * z), index % (plane * depth * t) / (plane * depth));  // t rises within it
      seen.push_back(site);
    }
    std::sort(seen.begin(), seen.end());
    for (int n = 0; n < plane * z * t; ++n) EXPECT_EQ(seen[n], n);
  }
}

TEST(Slabs, DivideTheLatticeAndAreNoDeeperThanACacheHolds) {
  EXPECT_EQ(slab_depth(of_extents(32, 32, 32, 64)), 8);
  EXPECT_EQ(slab_depth(of_extents(48, 48, 48, 96)), 4);
  EXPECT_EQ(slab_depth(of_extents(64, 64, 64, 128)), 4);
  EXPECT_EQ(slab_depth(of_extents(24, 24, 24, 48)), 8);
  EXPECT_EQ(slab_depth(of_extents(32, 32, 20, 64)), 10);
  for (const int z : {2, 4, 6, 14, 22, 26}) EXPECT_EQ(slab_depth(of_extents(32, 32, z, 64)), 0) << z;
}

}  // namespace
