#include "apps/ranks.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/error.hpp"
#include "runtime/registry.hpp"

namespace quarksmith::apps {
namespace {

/// Seconds in which ranks that meet the same error have all met it.
constexpr double patience = 3;

/// Version and a digest of the names of all kernels (FNV-1a).
std::string build_text() {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const auto kernels : {cpu_kernels(), cuda_kernels()})
    for (const Kernel& k : kernels)
      for (const char c : k.name) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}, kernels {:016x}", QUARKSMITH_VERSION, digest);
}

}  // namespace

void require_same(Communicator& ranks, const std::string& text, const std::string& what, const std::string& remedy) {
  if (ranks.size() == 1) return;
  const std::string first = ranks.broadcast(text);
  ranks.together([&] {
    if (text != first)
      throw UsageError(fmt::format("rank {} has another {} than rank 0: '{}', not '{}'; {}", ranks.rank(), what, text,
                                   first, remedy));
  });
}

void join_ranks(int argc, const char* const* argv) {
  Communicator& ranks = *Communicator::world();
  if (ranks.size() == 1) return;
  if (ranks.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) throw Error("/dev/null cannot be opened");
  require_same(ranks, build_text(), "build of quarksmith", "start the same on all hosts");
  std::string line;
  for (int i = 1; i < argc; ++i) line += std::string(i > 1 ? " " : "") + argv[i];
  require_same(ranks, line, "command line", "start all ranks with the same");
}

int fail(const std::string& message, int status) {
  const auto print = [&](const std::string& who) { fmt::print(stderr, "quarksmith: error: {}{}\n", who, message); };
  Communicator* ranks = Communicator::self().get();
  try {
    ranks = Communicator::world().get();
    if (ranks->meet(patience)) {
      const bool alike = ranks->largest(ranks->broadcast(message) == message ? 0 : 1) == 0;
      if (!alike) print(fmt::format("rank {}: ", ranks->rank()));
      if (alike && ranks->rank() == 0) print("");
      return status;
    }
  } catch (const std::exception&) {  // MPI itself has failed; the first error is the one to tell
  }
  print(ranks->size() > 1 ? fmt::format("rank {}: ", ranks->rank()) : "");
  Communicator::abort(status);
  return status;
}

}  // namespace quarksmith::apps
