// Memory of the CPU as a device.
#include <gtest/gtest.h>

#include "runtime/targets/cpu/pool.hpp"

namespace {

constexpr std::size_t mega = std::size_t(1) << 20;

TEST(Pool, LargePiecesAreKeptForTheNextOfAboutTheSameSize) {
  quarksmith::cpu::Pool pool(64 * mega);
  void* const first = pool.allocate(20 * mega);
  pool.release(first);
  EXPECT_EQ(pool.kept_bytes(), 20 * mega);
  void* const small = pool.allocate(8 * mega);  // far smaller: another piece
  EXPECT_NE(small, first);
  void* const again = pool.allocate(18 * mega);
  EXPECT_EQ(again, first);
  EXPECT_EQ(pool.kept_bytes(), 0u);
  void* const larger = pool.allocate(21 * mega);
  EXPECT_NE(larger, first);
  for (void* memory : {small, again, larger}) pool.release(memory);
  EXPECT_EQ(pool.kept_bytes(), 50 * mega);
}

TEST(Pool, NoMoreIsKeptThanItMay) {
  quarksmith::cpu::Pool pool(16 * mega);
  void *const a = pool.allocate(10 * mega), *const b = pool.allocate(10 * mega), *const c = pool.allocate(100);
  for (void* memory : {a, b, c}) pool.release(memory);
  EXPECT_EQ(pool.kept_bytes(), 10 * mega);
}

}  // namespace
