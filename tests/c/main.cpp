// Tests of the C interface; given a configuration of 4^4, actions and forces on it for
// tests/command/test_hmc_examples.py; given `offers` and names of commands, those that can be called.
#include <gtest/gtest.h>
#include <quarksmith.h>

#include <cstdio>

int print_dynamics(const char* path);  // dynamics_test.cpp

int main(int count, char** arguments) {
  if (count > 2 && arguments[1] == std::string("offers")) {
    static char help[65536];
    for (char** name = arguments + 2; *name != nullptr; ++name)
      if (quarksmith_help(*name, help, sizeof help) == QUARKSMITH_OK) std::printf("%s\n", *name);
    return 0;
  }
  GTEST_FLAG_SET(brief, true);
  testing::InitGoogleTest(&count, arguments);
  if (count == 2) return print_dynamics(arguments[1]);
  const int failed = RUN_ALL_TESTS();
  std::printf("C interface: %d tests passed\n", testing::UnitTest::GetInstance()->successful_test_count());
  return failed;
}
