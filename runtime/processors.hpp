/// \file
/// Processors that a process may use, and the share of a rank in those of its host.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/communicator.hpp"

namespace quarksmith {

/// Processors to which this process is bound, in order.
std::vector<int> bound_processors();
/// Processors of this host to which this process could be bound, whatever its launcher chose.
int host_processors();
/// Processors that the quotas of CPU time of a control group and those above it are worth, rounded up; 0: no quota.
/// \param root where control groups are mounted. \param group below it, as /proc/self/cgroup has it.
int quota_processors(const std::filesystem::path& root, const std::filesystem::path& group);
/// The quota of this process.
int quota_processors();

/// Processors of a host for one of its ranks.
struct ProcessorShare {
  int ranks = 1;       ///< of this host
  int processors = 1;  ///< that these may use together
  int threads = 1;     ///< for this rank: no processor is counted twice
};
/// Divides the processors of each host among its ranks, by their bindings and quotas. Collective.
ProcessorShare processor_share(Communicator& ranks);

}  // namespace quarksmith
