/// \file
/// The topology of this host: NUMA nodes of devices and processors.
#pragma once

#include <string>
#include <vector>

namespace quarksmith::runs {

/// NUMA node of a device on the PCI bus; -1 if it is unknown.
int numa_node_of(const std::string& pci_address);
/// NUMA nodes of processors. \param processors in ascending order.
std::vector<int> numa_nodes_of(const std::vector<int>& processors);
/// Ascending numbers as ranges, such as `0-3,8`.
std::string ranges_text(const std::vector<int>& numbers);
std::string host_name();

}  // namespace quarksmith::runs
