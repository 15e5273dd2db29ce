#include "runs/ranks.hpp"

#include <fmt/format.h>

#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/error.hpp"
#include "runtime/processors.hpp"
#include "runtime/registry.hpp"

namespace quarksmith::runs {
namespace {

/// Seconds that a rank with an error waits for the others to meet the same one.
constexpr double patience = 3;

/// Version and a digest of the names of all kernels (FNV-1a).
std::string build_text() {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const Target* target : targets())
    for (const Kernel& k : kernels_of(target->name))
      for (const char c : k.name) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}, kernels {:016x}", QUARKSMITH_VERSION, digest);
}

/// Ranks that a launcher (mpirun) has started on this host; 0: unknown.
int launched_here() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks == nullptr ? 0 : std::atoi(ranks);
}

/// Makes waiting ranks yield if there are more ranks than processors. Open MPI reads the variable when it starts.
void yield_if_crowded() {
  const int quota = quota_processors(), host = host_processors();
  if (launched_here() > (quota > 0 ? std::min(quota, host) : host)) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

std::string count_text(int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

}  // namespace

void divide_processors(Communicator& ranks, bool tell) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  ProcessorShare share = processor_share(ranks);
  if (const int others = launched_here(); ranks.size() == 1 && others > 1)  // `ranks` does not know them
    share.threads = std::max(1, std::min(share.threads, host_processors() / others));
  const int before = omp_get_max_threads();
  if (share.threads >= before) return;
  omp_set_num_threads(share.threads);
  if (!tell || ranks.rank() != 0) return;
  const std::string processors = count_text(share.processors, "processor"),
                    threads = count_text(share.threads, "thread");
  if (share.ranks > 1)
    fmt::print(stderr, "quarksmith: {} ranks share {} of this host: {} each (OMP_NUM_THREADS sets another number)\n",
               share.ranks, processors, threads);
  else
    fmt::print(stderr, "quarksmith: the quota of CPU time is that of {}: {} (OMP_NUM_THREADS sets another number)\n",
               processors, threads);
}

void require_same(Communicator& ranks, const std::string& text, const std::string& what, const std::string& remedy) {
  if (ranks.size() == 1) return;
  const std::string first = ranks.broadcast(text);
  ranks.together([&] {
    if (text != first)
      throw UsageError(fmt::format("rank {} has another {} than rank 0: '{}', not '{}'; {}", ranks.rank(), what, text,
                                   first, remedy));
  });
}

Communicator& joined_ranks(bool tell) {
  yield_if_crowded();
  static const Communicator* last = nullptr;
  Communicator& ranks = *Communicator::world();
  if (&ranks == last) return ranks;
  divide_processors(ranks, tell);
  require_same(ranks, build_text(), "build of quarksmith", "start the same on all hosts");
  last = &ranks;
  return ranks;
}

Meeting meet_in_error(const std::string& message) {
  try {
    Communicator& ranks = *Communicator::world();
    if (!ranks.meet(patience)) return {false, false};
    return {true, ranks.largest(ranks.broadcast(message) == message ? 0 : 1) == 0};
  } catch (const std::exception&) {  // MPI itself has failed; the first error is the one to tell
    return {false, false};
  }
}

}  // namespace quarksmith::runs
