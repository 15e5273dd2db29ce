#include "apps/launch.hpp"

#include <fmt/format.h>

#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runs/ranks.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// Turns for which a thread that waits looks for work before it sleeps: some ten microseconds, as long as the pauses
/// between kernels. The 300000 of libgomp are milliseconds, in which other processes want the processor.
constexpr const char* spin_count = "1000";

/// Waiting threads give way to other processes soon. libgomp reads how before main begins: the command starts anew.
void wait_briefly(const char* const* argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (omp_get_max_threads() == 1) return;
  setenv("GOMP_SPINCOUNT", spin_count, 0);
  execv("/proc/self/exe", const_cast<char* const*>(argv));  // without /proc this process goes on as it is
}

/// False if the command line asks for results and errors alone; it has not been parsed yet.
bool wants_info(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--quiet" || (word == "--log-level" && next != "info")) return false;
  }
  return true;
}

}  // namespace

void join_ranks(int argc, const char* const* argv) {
  wait_briefly(argv);
  Communicator& ranks = runs::joined_ranks(wants_info(argc, argv));
  if (ranks.size() == 1) return;
  if (ranks.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) throw Error("/dev/null cannot be opened");
  std::string line;
  for (int i = 1; i < argc; ++i) line += std::string(i > 1 ? " " : "") + argv[i];
  runs::require_same(ranks, line, "command line", "start all ranks with the same");
}

int fail(const std::string& message, int status) {
  const auto print = [&](const std::string& who) { fmt::print(stderr, "quarksmith: error: {}{}\n", who, message); };
  const runs::Meeting m = runs::meet_in_error(message);
  Communicator* ranks = Communicator::self().get();
  try {
    ranks = Communicator::world().get();
  } catch (const std::exception&) {  // there is none
  }
  if (!m.alike && ranks->size() > 1)
    print(fmt::format("rank {}: ", ranks->rank()));
  else if (ranks->rank() == 0)
    print("");
  if (!m.all) Communicator::abort(status);
  return status;
}

}  // namespace quarksmith::apps
