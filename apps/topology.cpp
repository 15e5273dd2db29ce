#include "apps/topology.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

namespace quarksmith::apps {
namespace {

namespace fs = std::filesystem;

/// Domain, bus, device and function alone, in small letters: `0000:19:00.0`. Some write eight digits of the domain.
std::string short_address(std::string address) {
  if (address.size() > 12) address = address.substr(address.size() - 12);
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

/// NVML's header is not needed: these functions and numbers have been so since driver 410.
class Nvml final : public GpuLinks {
 public:
  explicit Nvml(std::string& why) {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      why = "libnvidia-ml.so.1 cannot be loaded; it comes with the driver";
      return;
    }
    load(init_, "nvmlInit_v2");
    load(shutdown_, "nvmlShutdown");
    load(find_, "nvmlDeviceGetHandleByPciBusId_v2");
    load(state_, "nvmlDeviceGetNvLinkState");
    load(remote_, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    load(peer_, "nvmlDeviceGetP2PStatus");
    load(ancestor_, "nvmlDeviceGetTopologyCommonAncestor");
    const bool complete = init_ && shutdown_ && find_ && state_ && remote_ && peer_ && ancestor_;
    started_ = complete && init_() == success;
    if (!started_) why = complete ? "NVML cannot be started" : "libnvidia-ml.so.1 is too old";
  }
  ~Nvml() override {
    if (started_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  bool ready() const { return started_; }

  std::string between(const std::string& a, const std::string& b) const override {
    void *one = nullptr, *other = nullptr;
    if (find_(a.c_str(), &one) != success || find_(b.c_str(), &other) != success) return "unknown";
    if (const int direct = links(one, short_address(b)); direct > 0) return fmt::format("NVLink, {} links", direct);
    int status = -1;
    if (peer_(one, other, nvlink, &status) == success && status == 0)
      return fmt::format("NVLink, {} links through a switch", std::min(links(one, ""), links(other, "")));
    int level = -1;
    if (ancestor_(one, other, &level) != success) return "no NVLink";
    switch (level) {
      case 0:
        return "PCIe, on one board";
      case 10:
        return "PCIe, through one switch";
      case 20:
        return "PCIe, through several switches";
      case 30:
        return "PCIe, through the host bridge";
      case 40:
        return "PCIe, through one NUMA node";
      case 50:
        return "PCIe, from one NUMA node to another";
      default:
        return "no NVLink";
    }
  }

 private:
  /// nvmlPciInfo_t, and room behind it.
  struct PciInfo {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char address[32];
    char more[64];
  };
  static constexpr int success = 0, nvlink = 2;  // NVML_SUCCESS, NVML_P2P_CAPS_INDEX_NVLINK
  static constexpr unsigned most_links = 36;     // beyond those that exist the state is an error

  template <class Function>
  void load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
  }
  /// Active links of a GPU; with an address those that end there.
  int links(void* gpu, const std::string& address) const {
    int count = 0;
    for (unsigned link = 0; link < most_links; ++link) {
      int active = 0;
      if (state_(gpu, link, &active) != success || active == 0) continue;
      PciInfo end{};
      count += address.empty() || (remote_(gpu, link, &end) == success && short_address(end.address) == address);
    }
    return count;
  }

  void* library_ = nullptr;
  bool started_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*find_)(const char*, void**) = nullptr;
  int (*state_)(void*, unsigned, int*) = nullptr;
  int (*remote_)(void*, unsigned, PciInfo*) = nullptr;
  int (*peer_)(void*, void*, int, int*) = nullptr;
  int (*ancestor_)(void*, void*, int*) = nullptr;
};

/// Numbers of a list as Linux writes it, `0-3,8`.
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

std::unique_ptr<GpuLinks> GpuLinks::open(std::string& why) {
  auto nvml = std::make_unique<Nvml>(why);
  if (!nvml->ready()) return nullptr;
  return nvml;
}

int numa_node_of(const std::string& pci_address) {
  int node = -1;
  std::ifstream(fs::path("/sys/bus/pci/devices") / short_address(pci_address) / "numa_node") >> node;
  return node;
}

std::vector<int> allowed_processors() {
  std::vector<int> all;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return all;
  for (int n = 0; n < CPU_SETSIZE; ++n)
    if (CPU_ISSET(n, &set)) all.push_back(n);
  return all;
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

}  // namespace quarksmith::apps
