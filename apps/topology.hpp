/// \file
/// How the GPUs, processors and memories of this host are joined.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace quarksmith::apps {

/// The links between GPUs, as NVML (NVIDIA Management Library) knows them.
class GpuLinks {
 public:
  virtual ~GpuLinks() = default;
  /// In words, e.g. `NVLink, 18 links`, `PCIe, through the host bridge`. GPUs are named by their address on the bus.
  virtual std::string between(const std::string& a, const std::string& b) const = 0;
  /// Null, and `why` says why, if there is no NVML.
  static std::unique_ptr<GpuLinks> open(std::string& why);
};

/// NUMA node of a device on the PCI bus; -1 if the host does not tell.
int numa_node_of(const std::string& pci_address);
/// Processors on which this process may run, in order.
std::vector<int> allowed_processors();
/// NUMA nodes of these.
std::vector<int> numa_nodes_of(const std::vector<int>& processors);
/// `0-3,8`
std::string ranges_text(const std::vector<int>& numbers);
std::string host_name();

}  // namespace quarksmith::apps
