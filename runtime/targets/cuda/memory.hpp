/// \file
/// Memory of a GPU, its own and what it shares with others.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/ranks/communicator.hpp"

namespace quarksmith::cuda {

inline void check(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw Error(fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

/// Fields are allocated at each step of molecular dynamics: returning their memory to the driver and allocating it
/// again takes longer than many kernels. A stream-ordered pool keeps up to a quarter of the device's memory; other
/// programs may use the device too.
class Pool {
 public:
  Pool(int device, std::size_t total, cudaStream_t stream) : total_(total), stream_(stream) {
    int supported = 0;
    const std::string name = "memory of GPU " + std::to_string(device);
    check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), name);
    if (supported == 0) return;
    check(cudaDeviceGetDefaultMemPool(&pool_, device), name);
    std::uint64_t kept = total / 4;
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), name);
  }

  /// \throws OutOfMemory naming the device.
  void* allocate(std::size_t bytes, const std::string& name) {
    void* memory = nullptr;
    cudaError_t status = attempt(memory, bytes);
    if (status == cudaErrorMemoryAllocation && pool_ != nullptr) {  // the pool may be fragmented
      cudaGetLastError();
      check(cudaStreamSynchronize(stream_), name);
      cudaMemPoolTrimTo(pool_, 0);
      status = attempt(memory, bytes);
    }
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemory(
          fmt::format("{}: no memory for {} MiB, {} MiB of {} are free; use a smaller lattice, fewer right-hand "
                      "sides or a lower precision",
                      name, bytes >> 20, free_bytes(name) >> 20, total_ >> 20));
    }
    check(status, name);
    return memory;
  }

  void release(void* memory) noexcept {
    if (pool_ != nullptr)
      cudaFreeAsync(memory, stream_);
    else
      cudaFree(memory);
  }

  /// What can still be allocated.
  std::size_t free_bytes(const std::string& name) const {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), name);
    if (pool_ == nullptr) return free;
    std::uint64_t kept = 0, used = 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &kept), name);
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), name);
    return free + (kept - used);
  }

 private:
  cudaError_t attempt(void*& memory, std::size_t bytes) {
    return pool_ != nullptr ? cudaMallocFromPoolAsync(&memory, std::max<std::size_t>(bytes, 1), pool_, stream_)
                            : cudaMalloc(&memory, bytes);
  }

  std::size_t total_;
  cudaStream_t stream_;
  cudaMemPool_t pool_ = nullptr;
};

/// Memory of this GPU and, mapped by CUDA's interprocess communication, of the others of its host.
class PeerMemory final : public SharedMemory {
 public:
  /// Memory of ranks that cannot be mapped is null.
  PeerMemory(std::size_t bytes, Communicator& communicator)
      : communicator_(communicator), own_(communicator.host_rank()) {
    struct Offer {
      cudaIpcMemHandle_t handle;
      int good;
    } mine{};
    void* memory = nullptr;
    mine.good = cudaMalloc(&memory, bytes) == cudaSuccess && cudaMemset(memory, 0, bytes) == cudaSuccess &&
                cudaIpcGetMemHandle(&mine.handle, memory) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    std::vector<Offer> offers(communicator.size());
    communicator.all_gather(&mine, sizeof(Offer), offers.data());
    for (const int rank : communicator.host_ranks()) {
      void* part = memory;
      if (rank != communicator.rank() &&
          (!offers[rank].good ||
           cudaIpcOpenMemHandle(&part, offers[rank].handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess))
        part = nullptr;
      parts_.push_back(part);
    }
    cudaGetLastError();
  }
  ~PeerMemory() override {
    for (int n = 0; n < static_cast<int>(parts_.size()); ++n)
      if (n != own_ && parts_[n] != nullptr) cudaIpcCloseMemHandle(parts_[n]);
    // Memory must not be freed while others have it mapped; after an error they may never arrive, and the job ends.
    if (std::uncaught_exceptions() == 0) communicator_.barrier();
    if (parts_[own_] != nullptr) cudaFree(parts_[own_]);
  }
  bool complete() const { return std::find(parts_.begin(), parts_.end(), nullptr) == parts_.end(); }
  void* part(int host_rank) const override { return parts_.at(host_rank); }

 private:
  Communicator& communicator_;
  int own_;
  std::vector<void*> parts_;
};

}  // namespace quarksmith::cuda
