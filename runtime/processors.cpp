#include "runtime/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>

namespace quarksmith {
namespace {

/// A set of processors, with room for more of them than a cpu_set_t has.
struct Mask {
  std::array<cpu_set_t, 8> sets = {};

  static Mask bound() {
    Mask m;
    if (sched_getaffinity(0, sizeof(m.sets), m.sets.data()) != 0) CPU_SET(0, m.sets.data());
    return m;
  }
  bool bind() const { return sched_setaffinity(0, sizeof(sets), sets.data()) == 0; }
  bool has(int n) const { return CPU_ISSET_S(n, sizeof(sets), sets.data()); }
  int count() const { return CPU_COUNT_S(sizeof(sets), sets.data()); }
};
constexpr int most_processors = 8 * sizeof(Mask::sets);

/// quota / period of a file that holds `QUOTA PERIOD` or `max PERIOD`, or of two files; 0 without a limit.
double quota_of(const std::filesystem::path& folder) {
  double quota = 0, period = 0;
  if (std::ifstream(folder / "cpu.max") >> quota >> period) return period > 0 ? quota / period : 0;
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

std::vector<int> bound_processors() {
  const Mask bound = Mask::bound();
  std::vector<int> all;
  for (int n = 0; n < most_processors; ++n)
    if (bound.has(n)) all.push_back(n);
  return all;
}

int host_processors() {
  const Mask bound = Mask::bound();
  Mask all;
  std::memset(all.sets.data(), 0xff, sizeof(all.sets));
  if (!all.bind()) return bound.count();
  const int count = Mask::bound().count();  // the system leaves out those that do not exist or are not allowed
  bound.bind();
  return count;
}

int quota_processors(const std::filesystem::path& root, const std::filesystem::path& group) {
  double least = 0;
  for (std::filesystem::path at = group.relative_path();; at = at.parent_path()) {
    const double quota = quota_of(root / at);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (at.empty()) break;
  }
  return static_cast<int>(std::ceil(least - 1e-9));
}

int quota_processors() {
  int least = 0;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // number:controllers:group, version 2 without controllers
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers != ",," && controllers.find(",cpu,") == std::string::npos) continue;
    const std::filesystem::path root = "/sys/fs/cgroup";
    const int quota = quota_processors(controllers == ",," ? root : root / "cpu", line.substr(second + 1));
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

ProcessorShare processor_share(Communicator& ranks) {
  const Mask mine = Mask::bound();
  std::vector<Mask> all(ranks.size());
  ranks.all_gather(&mine, sizeof(Mask), all.data());
  ProcessorShare share;
  share.ranks = static_cast<int>(ranks.host_ranks().size());
  share.processors = 0;
  double part = 0;
  for (int n = 0; n < most_processors; ++n) {
    int users = 0;
    for (const int rank : ranks.host_ranks()) users += all[rank].has(n);
    share.processors += users > 0;
    if (mine.has(n)) part += 1.0 / users;
  }
  if (const int quota = quota_processors(); quota > 0 && quota < share.processors) {
    share.processors = quota;
    part = std::min(part, static_cast<double>(quota) / share.ranks);
  }
  share.threads = std::max(1, static_cast<int>(part + 1e-9));
  return share;
}

}  // namespace quarksmith
