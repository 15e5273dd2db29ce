// Tests that every rank of a job runs together: mpirun -n N quarksmith_ranks_tests. Rank 0 reports; a failure on any
// rank is a failure of the job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/communicator.hpp"

int main(int argc, char** argv) {
  using quarksmith::Communicator;
  testing::InitGoogleTest(&argc, argv);
  const auto world = Communicator::world();
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world->rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
  }
  const int failed = RUN_ALL_TESTS();
  const int passed = testing::UnitTest::GetInstance()->successful_test_count();
  const double all_failed = world->sum(double(failed));
  if (world->rank() == 0)
    fmt::print("ranks: {} rank(s): {} tests passed{}\n", world->size(), passed,
               all_failed > 0 ? fmt::format(", failures on {} rank(s)", all_failed) : "");
  return all_failed > 0;
}
