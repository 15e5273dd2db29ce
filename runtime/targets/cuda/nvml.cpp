// NVML (NVIDIA Management Library): the links between GPUs. Loaded at first use.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/targets/cuda/names.hpp"
#include "runtime/targets/gpu/board.hpp"
#include "runtime/text.hpp"

namespace quarksmith::cuda {
namespace {

/// The functions used. NVML's header is not needed: they have had these types since driver 410.
struct Nvml {
  static constexpr int success = 0, nvlink = 2;  // NVML_SUCCESS, NVML_P2P_CAPS_INDEX_NVLINK
  /// nvmlPciInfo_t, and room behind it.
  struct PciInfo {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char address[32];
    char more[64];
  };

  explicit Nvml(std::string& why) {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      why = "libnvidia-ml.so.1 cannot be loaded; it comes with the driver";
      return;
    }
    int (*init)() = nullptr;
    const bool complete = load(init, "nvmlInit_v2") && load(shutdown, "nvmlShutdown") &&
                          load(find, "nvmlDeviceGetHandleByPciBusId_v2") && load(state, "nvmlDeviceGetNvLinkState") &&
                          load(remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2") && load(peer, "nvmlDeviceGetP2PStatus") &&
                          load(ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    ready = complete && init() == success;
    if (!ready) why = complete ? "NVML cannot be started" : "libnvidia-ml.so.1 is too old";
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (ready) shutdown();
    if (library != nullptr) dlclose(library);
  }

  template <class Function>
  bool load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
  }
  /// Active links of a GPU; with an address those that end there.
  int links(void* gpu, const std::string& address) const {
    constexpr unsigned most_links = 36;  // beyond those that exist the state is an error
    int count = 0;
    for (unsigned link = 0; link < most_links; ++link) {
      int active = 0;
      if (state(gpu, link, &active) != success || active == 0) continue;
      PciInfo end{};
      count += address.empty() || (remote(gpu, link, &end) == success && short_pci_address(end.address) == address);
    }
    return count;
  }

  void* library = nullptr;
  bool ready = false;
  int (*shutdown)() = nullptr;
  int (*find)(const char*, void**) = nullptr;
  int (*state)(void*, unsigned, int*) = nullptr;
  int (*remote)(void*, unsigned, PciInfo*) = nullptr;
  int (*peer)(void*, void*, int, int*) = nullptr;
  int (*ancestor)(void*, void*, int*) = nullptr;
};

/// What two GPUs have in common on the bus (nvmlGpuTopologyLevel_t).
std::string bus_text(int level) {
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

}  // namespace

std::string link_between(const std::string& a, const std::string& b, std::string& why) {
  const Nvml nvml(why);
  void *one = nullptr, *other = nullptr;
  if (!nvml.ready || nvml.find(a.c_str(), &one) != Nvml::success || nvml.find(b.c_str(), &other) != Nvml::success)
    return "unknown";
  if (const int direct = nvml.links(one, short_pci_address(b)); direct > 0)
    return fmt::format("NVLink, {} links", direct);
  int status = -1, level = -1;
  if (nvml.peer(one, other, Nvml::nvlink, &status) == Nvml::success && status == 0)
    return fmt::format("NVLink, {} links through a switch", std::min(nvml.links(one, ""), nvml.links(other, "")));
  return bus_text(nvml.ancestor(one, other, &level) == Nvml::success ? level : -1);
}

}  // namespace quarksmith::cuda
