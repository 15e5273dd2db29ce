/// \file
/// What a target says of its GPUs beside the calls of its runtime library; board.cpp of its folder defines it. After a
/// target's names.hpp.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.hpp"
#include "runtime/target.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

extern const Target target;

/// What a GPU's kernels are compiled for: a fact of evidence, and in words.
struct Architecture {
  std::string key, number, words;
};
Architecture architecture(const gpuDeviceProp& properties);
/// Fused multiply-adds on vectors that a multiprocessor begins in a clock; 0: of an architecture not known here.
int units_of(const gpuDeviceProp& properties, int real_bytes);
/// A version of the driver or of the runtime library.
std::string version_text(int version);

/// Memory whose words other GPUs may write while kernels of this one read them.
gpuError_t allocate_for_peers(void** memory, std::size_t bytes);
/// Whether this MPI takes addresses of GPUs.
bool in_reach_of_mpi();

/// DeviceMemory::puts, and allocate_symmetric with this second queue.
bool puts();
std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t bytes, int signals, Communicator& communicator,
                                                    gpuStream_t queue);

/// Ranges in the timeline of the maker's profiler.
void begin_range(const char* name);
void end_range();

/// What joins two GPUs, in words, e.g. `NVLink, 18 links`, `PCIe, through the host bridge`; `unknown`, and `why` says
/// why. GPUs are named by their address on the bus.
std::string link_between(const std::string& a, const std::string& b, std::string& why);

}  // namespace quarksmith::QUARKSMITH_TARGET
