// Which results of sweeps a device uses: its own first, then those of others of its architecture.
#include "runtime/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace quarksmith {
namespace {

/// A GPU whose results are in this build, or none.
const TunedDevice* a_gpu() {
  const auto all = tuned_devices();
  const auto gpu = std::find_if(all.begin(), all.end(), [](const TunedDevice& t) { return !t.architecture.empty(); });
  return gpu != all.end() ? &*gpu : nullptr;
}

TEST(Tuning, OwnResultsComeFirst) {
  for (const TunedDevice& t : tuned_devices()) {
    const auto found = tuned_for(t.name, t.architecture);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().name, t.name);
    for (const TunedDevice& other : found) EXPECT_EQ(other.architecture, t.architecture);
  }
}

TEST(Tuning, AGpuUsesResultsOfItsArchitecture) {
  const TunedDevice* gpu = a_gpu();
  if (gpu == nullptr) GTEST_SKIP() << "no GPU was tuned for this build";
  const auto found = tuned_for("a GPU that nobody has seen", gpu->architecture);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().architecture, gpu->architecture);
  EXPECT_FALSE(found.front().kernels.empty());
  EXPECT_TRUE(tuned_for("a GPU that nobody has seen", "0.0").empty());
}

TEST(Tuning, ProcessorsUseTheirOwnAlone) { EXPECT_TRUE(tuned_for("a processor that nobody has seen", "").empty()); }

}  // namespace
}  // namespace quarksmith
