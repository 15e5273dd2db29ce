#include "runtime/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <string>

namespace quarksmith {
namespace {

/// A set of processors, with room for more of them than a cpu_set_t has.
struct Mask {
  static constexpr int word_bits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 128> words = {};

  static constexpr std::size_t bytes = sizeof(words);
  static Mask bound() {
    Mask m;
    if (sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(m.words.data())) != 0) m.words[0] = 1;
    return m;
  }
  bool bind() const { return sched_setaffinity(0, bytes, reinterpret_cast<const cpu_set_t*>(words.data())) == 0; }
  bool has(int n) const { return (words[n / word_bits] >> (n % word_bits) & 1) != 0; }
  int count() const {
    int all = 0;
    for (const unsigned long w : words) all += std::popcount(w);
    return all;
  }
};
constexpr int most_processors = Mask::word_bits * 128;

/// quota / period of a file that holds `QUOTA PERIOD` or `max PERIOD`, or of two files; 0 without a limit.
double quota_of(const std::filesystem::path& folder) {
  double quota = 0, period = 0;
  if (std::ifstream(folder / "cpu.max") >> quota >> period) return period > 0 ? quota / period : 0;
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

int bound_processors() { return Mask::bound().count(); }

int host_processors() {
  const Mask bound = Mask::bound();
  Mask all;
  all.words.fill(~0UL);
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
