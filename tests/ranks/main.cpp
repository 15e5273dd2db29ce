// Tests that every rank of a job runs together: mpirun -n N quarksmith_ranks_tests. Rank 0 reports, the others tell
// what fails on them; a failure on any rank is a failure of the job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/communicator.hpp"

namespace {

/// Tells the failures of a rank.
class Failures final : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& r) override {
    if (!r.failed()) return;  // exceptions have no file
    const char* file = r.file_name() != nullptr ? r.file_name() : "exception";
    fmt::print(stderr, "rank {}: {}:{}: {}\n", rank_, file, r.line_number(), r.message());
  }
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  using quarksmith::Communicator;
  testing::InitGoogleTest(&argc, argv);
  const auto world = Communicator::world();
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world->rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new Failures(world->rank()));  // which owns it
  }
  const int failed = RUN_ALL_TESTS();
  const int passed = testing::UnitTest::GetInstance()->successful_test_count();
  const double all_failed = world->sum(double(failed));
  if (world->rank() == 0)
    fmt::print("ranks: {} rank(s): {} tests passed{}\n", world->size(), passed,
               all_failed > 0 ? fmt::format(", failures on {} rank(s)", all_failed) : "");
  return all_failed > 0;
}
