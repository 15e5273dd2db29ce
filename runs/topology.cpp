#include "runs/topology.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

namespace fs = std::filesystem;

/// The numbers in a list as Linux writes it, such as `0-3,8`.
std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  const char* at = text.c_str();
  for (int first = 0, last = 0, used = 0; std::sscanf(at, "%d%n", &first, &used) == 1;) {
    at += used;
    last = first;
    if (std::sscanf(at, "-%d%n", &last, &used) == 1) at += used;
    for (int n = first; n <= last; ++n) numbers.push_back(n);
    if (*at == ',') ++at;
  }
  return numbers;
}

}  // namespace

int numa_node_of(const std::string& pci_address) {
  int node = -1;
  std::ifstream(fs::path("/sys/bus/pci/devices") / short_pci_address(pci_address) / "numa_node") >> node;
  return node;
}

std::vector<int> numa_nodes_of(const std::vector<int>& processors) {
  std::set<int> nodes;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", none)) {
    int node = 0;
    std::string list;
    if (std::sscanf(entry.path().filename().c_str(), "node%d", &node) != 1) continue;
    if (!(std::ifstream(entry.path() / "cpulist") >> list)) continue;
    for (const int n : numbers_of(list))
      if (std::binary_search(processors.begin(), processors.end(), n)) nodes.insert(node);
  }
  return {nodes.begin(), nodes.end()};
}

std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return text.empty() ? "none" : text;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

}  // namespace quarksmith::runs
