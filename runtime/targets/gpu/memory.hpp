/// \file
/// Memory of a GPU, its own and what it shares with others.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/communicator.hpp"
#include "runtime/targets/gpu/board.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

inline void check(gpuError_t status, const std::string& what) {
  if (status != gpuSuccess) throw Error(fmt::format("{}: {}", what, gpuGetErrorString(status)));
}

/// Fields are allocated at each step of molecular dynamics: returning their memory to the driver and allocating it
/// again takes longer than many kernels, 1 to 4 ms for a field of 32^3x64. A stream-ordered pool keeps what was once
/// used: beyond its threshold everything that is free would be returned whenever the host waits.
class Pool {
 public:
  Pool(int device, std::size_t total, gpuStream_t stream) : total_(total), stream_(stream) {
    int supported = 0;
    const std::string name = "memory of GPU " + std::to_string(device);
    check(gpuDeviceGetAttribute(&supported, gpuDevAttrMemoryPoolsSupported, device), name);
    if (supported == 0) return;
    check(gpuDeviceGetDefaultMemPool(&pool_, device), name);
    std::uint64_t kept = total;
    check(gpuMemPoolSetAttribute(pool_, gpuMemPoolAttrReleaseThreshold, &kept), name);
  }

  /// \throws OutOfMemory naming the device.
  void* allocate(std::size_t bytes, const std::string& name) {
    void* memory = nullptr;
    gpuError_t status = attempt(memory, bytes);
    if (status == gpuErrorMemoryAllocation && pool_ != nullptr) {  // the pool may be fragmented
      (void)gpuGetLastError();
      check(gpuStreamSynchronize(stream_), name);
      (void)gpuMemPoolTrimTo(pool_, 0);
      status = attempt(memory, bytes);
    }
    if (status == gpuErrorMemoryAllocation) {
      (void)gpuGetLastError();
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
      (void)gpuFreeAsync(memory, stream_);
    else
      (void)gpuFree(memory);
  }

  /// Returns to the driver what the pool of the device in use holds and does not use, for memory that is none of its.
  static void trim() {
    int device = 0;
    gpuMemPool_t pool = nullptr;
    if (gpuGetDevice(&device) == gpuSuccess && gpuDeviceSynchronize() == gpuSuccess &&
        gpuDeviceGetDefaultMemPool(&pool, device) == gpuSuccess)
      (void)gpuMemPoolTrimTo(pool, 0);
    (void)gpuGetLastError();
  }

  /// What can still be allocated.
  std::size_t free_bytes(const std::string& name) const {
    std::size_t free = 0, total = 0;
    check(gpuMemGetInfo(&free, &total), name);
    if (pool_ == nullptr) return free;
    std::uint64_t kept = 0, used = 0;
    check(gpuMemPoolGetAttribute(pool_, gpuMemPoolAttrReservedMemCurrent, &kept), name);
    check(gpuMemPoolGetAttribute(pool_, gpuMemPoolAttrUsedMemCurrent, &used), name);
    return free + (kept - used);
  }

 private:
  gpuError_t attempt(void*& memory, std::size_t bytes) {
    return pool_ != nullptr ? gpuMallocFromPoolAsync(&memory, std::max<std::size_t>(bytes, 1), pool_, stream_)
                            : gpuMalloc(&memory, bytes);
  }

  std::size_t total_;
  gpuStream_t stream_;
  gpuMemPool_t pool_ = nullptr;
};

/// Memory of this GPU and, mapped by interprocess communication, of the others of its host.
class PeerMemory final : public SharedMemory {
 public:
  /// Memory of ranks that cannot be mapped is null.
  PeerMemory(std::size_t bytes, Communicator& communicator) : communicator_(communicator) {
    communicator.free_dropped();
    struct Offer {
      gpuIpcMemHandle_t handle;
      int good;
    } mine{};
    void* memory = nullptr;
    gpuError_t status = allocate_for_peers(&memory, bytes);
    if (status == gpuErrorMemoryAllocation) {
      Pool::trim();
      status = allocate_for_peers(&memory, bytes);
    }
    mine.good = status == gpuSuccess && gpuMemset(memory, 0, bytes) == gpuSuccess &&
                gpuIpcGetMemHandle(&mine.handle, memory) == gpuSuccess && gpuDeviceSynchronize() == gpuSuccess;
    std::vector<Offer> offers(communicator.size());
    communicator.all_gather(&mine, sizeof(Offer), offers.data());
    for (const int rank : communicator.host_ranks()) {
      void* part = memory;
      if (rank == communicator.rank()) own_ = static_cast<int>(parts_.size());
      if (rank != communicator.rank() &&
          (!offers[rank].good ||
           gpuIpcOpenMemHandle(&part, offers[rank].handle, gpuIpcMemLazyEnablePeerAccess) != gpuSuccess))
        part = nullptr;
      parts_.push_back(part);
    }
    (void)gpuGetLastError();
    number_ = communicator.keep([memory] {
      if (memory != nullptr) (void)gpuFree(memory);
    });
  }
  ~PeerMemory() override {
    for (int n = 0; n < static_cast<int>(parts_.size()); ++n)
      if (n != own_ && parts_[n] != nullptr) (void)gpuIpcCloseMemHandle(parts_[n]);
    communicator_.drop(number_);  // memory must not be freed while others have it mapped
  }
  bool complete() const { return std::find(parts_.begin(), parts_.end(), nullptr) == parts_.end(); }
  void* part(int host_rank) const override { return parts_.at(host_rank); }

 private:
  Communicator& communicator_;
  int own_ = 0;
  long long number_;
  std::vector<void*> parts_;
};

}  // namespace quarksmith::QUARKSMITH_TARGET
