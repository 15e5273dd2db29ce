/// \file
/// Memory of a GPU.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/error.hpp"

namespace quarksmith::cuda {

inline void check(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw Error(fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

/// Fields come and go at each step of molecular dynamics: giving their memory back to the driver and asking for it anew
/// takes longer than many a kernel. It is kept, in the order of a stream, up to a quarter of the device's: other codes
/// may use it too.
class Memory {
 public:
  Memory(int device, std::size_t total, cudaStream_t stream) : total_(total), stream_(stream) {
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
    if (status == cudaErrorMemoryAllocation && pool_ != nullptr) {  // what is kept may lie in pieces
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

}  // namespace quarksmith::cuda
