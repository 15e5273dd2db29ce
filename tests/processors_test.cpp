// Quotas of CPU time, and shares of a process that is alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/processors.hpp"

namespace {

using namespace quarksmith;

TEST(Processors, QuotasOfGroupsAndThoseAboveCount) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "quarksmith_groups";
  const auto write = [&](const std::string& folder, const std::string& name, const std::string& text) {
    std::filesystem::create_directories(root / folder);
    std::ofstream(root / folder / name) << text;
  };
  write("a/b", "cpu.max", "max 100000\n");
  EXPECT_EQ(quota_processors(root, "/a/b"), 0);
  write("a", "cpu.max", "250000 100000\n");
  EXPECT_EQ(quota_processors(root, "/a/b"), 3);
  write("a/b", "cpu.max", "100000 100000\n");
  EXPECT_EQ(quota_processors(root, "/a/b"), 1);
  write("old", "cpu.cfs_quota_us", "-1\n");
  write("old", "cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_processors(root, "/old"), 0);
  write("old", "cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(quota_processors(root, "/old"), 4);
  EXPECT_EQ(quota_processors(root, "/"), 0);
  std::filesystem::remove_all(root);
}

TEST(Processors, OneProcessHasThoseItIsBoundTo) {
  const ProcessorShare share = processor_share(*Communicator::self());
  const int quota = quota_processors();
  EXPECT_EQ(share.ranks, 1);
  const int bound = static_cast<int>(bound_processors().size());
  EXPECT_EQ(share.threads, quota > 0 ? std::min(quota, bound) : bound);
  EXPECT_LE(bound, host_processors());
}

}  // namespace
