// Tests that every rank of a job runs together: mpirun -n N quarksmith_ranks_tests. Rank 0 reports, the others tell
// what fails on them; a failure on any rank is a failure of the job.
#ifdef QUARKSMITH_MPI
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <mpi.h>
#endif
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

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

/// Starts MPI as a program with threads does, if a launcher started this one; returns whether it is to be ended.
bool start_mpi() {
#ifdef QUARKSMITH_MPI
  for (const char* name : quarksmith::launcher_variables)
    if (std::getenv(name) != nullptr) {
      int level = 0;
      return MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS;
    }
#endif
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using quarksmith::Communicator;
  testing::InitGoogleTest(&argc, argv);
  [[maybe_unused]] const bool started = start_mpi();
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
    fmt::print("ranks: {} rank(s), {} a host: {} tests passed{}\n", world->size(), world->host_ranks().size(), passed,
               all_failed > 0 ? fmt::format(", failures on {} rank(s)", all_failed) : "");
#ifdef QUARKSMITH_MPI
  if (started) MPI_Finalize();
#endif
  return all_failed > 0;
}
