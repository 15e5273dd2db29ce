/// \file
/// Sums over ranks that kernels form themselves.
#pragma once

#include <memory>

#include "runtime/device.hpp"

namespace quarksmith {

/// Access for kernels to sums over ranks: a function to call on CPUs; on GPUs of one host, memory into which all ranks
/// store.
class RankSums {
 public:
  RankSums(const std::shared_ptr<Device>& device, Communicator& communicator);

  /// Value of Arguments::team; null if the host must add up (GPUs that cannot reach each other's memory).
  const Team* team() const { return team_; }

 private:
  Team host_;
  std::unique_ptr<SharedMemory> partial_sums_;
  Memory on_device_, exchanges_;
  const Team* team_ = nullptr;
};

}  // namespace quarksmith
