/// \file
/// How devices, processors and memories of this host are joined.
#pragma once

#include <string>
#include <vector>

namespace quarksmith::runs {

/// NUMA node of a device on the PCI bus; -1 if the host does not tell.
int numa_node_of(const std::string& pci_address);
/// NUMA nodes of processors, which are in order.
std::vector<int> numa_nodes_of(const std::vector<int>& processors);
/// `0-3,8`
std::string ranges_text(const std::vector<int>& numbers);
std::string host_name();

}  // namespace quarksmith::runs
