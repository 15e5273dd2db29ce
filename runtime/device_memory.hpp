/// \file
/// Memory of a device, and copies between it and the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/communicator.hpp"

namespace quarksmith {

/// Memory of the same size on all ranks, into which the devices of others put data in the order of their second queues,
/// without the hosts. Each of its signals is a number that tells a rank how much has come.
class SymmetricMemory {
 public:
  virtual ~SymmetricMemory() = default;
  virtual char* data() const = 0;
  /// Copies to another rank; once the bytes are there, its signal of that number becomes `value`.
  /// \param to where, as an address of this rank's memory. \param from in this memory, too
  virtual void put(int rank, char* to, const char* from, std::size_t bytes, int signal, std::uint64_t value) = 0;
  /// What is put in the second queue from now on waits until a signal of this rank is at least `value`.
  virtual void await(int signal, std::uint64_t value) = 0;
  /// What is put in the second queue from now on waits until the sources of all puts so far may be overwritten.
  virtual void await_puts() = 0;
};

/// Memory of a device from a pool of the calling program. Both are given the queue (stream) of the library's work:
/// memory is first used by what is put there later, and last by what is there when it is released.
struct Allocator {
  std::function<void*(std::size_t bytes, void* stream)> allocate;  ///< null: the pool has no more
  std::function<void(void* memory, void* stream)> release;
};

/// Interface of a device's memory: allocation, copies, and memory shared with the host or other ranks.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// \throws OutOfMemory not enough memory; the message says how much was asked for.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies between host and device; done when the call returns.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Host memory of at least `bytes` with which copies are fastest; valid for the next copy.
  void* staging(std::size_t bytes);
  /// Copy within the device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Sets every byte.
  virtual void fill(void* memory, int byte, std::size_t bytes) = 0;

  /// True if MPI reads and writes memory of the device.
  virtual bool in_reach_of_mpi() const { return true; }
  /// True if messages to other ranks must pass through host memory.
  bool staged(const Communicator& c) const { return c.size() > 1 && !in_reach_of_mpi(); }
  /// Device memory that all ranks of the same host can store into, zero at first; null on all ranks if on any host one
  /// cannot. Collective.
  virtual std::unique_ptr<SharedMemory> allocate_shared(std::size_t bytes, Communicator& communicator) = 0;
  /// Whether devices of this build put data into each other's memory (NVSHMEM).
  virtual bool puts() const { return false; }
  /// \throws UsageError `puts` is false, or this process puts data among other ranks; Error it fails. Collective.
  virtual std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t bytes, int signals,
                                                              Communicator& communicator);
  /// Host memory that the device copies from and to at full speed.
  virtual std::shared_ptr<void> allocate_host(std::size_t bytes) = 0;
  /// Takes memory from a pool of the calling program from now on. \throws UsageError the device is of another kind, or
  /// some of its memory is in use.
  virtual void use(Allocator pool);
  /// The device in whose memory an address lies, `TARGET:N`; empty: the host's.
  virtual std::string holder_of(const void*) const { return {}; }
  /// Takes its turn in a stream of the calling program at `begin_for_caller` and `end_for_caller` from now on.
  /// \throws UsageError devices of this kind have no streams.
  virtual void follow(void* stream);
  /// Before work on memory of the calling program, and after it: that waits for what is in its stream, whose later work
  /// waits for it; without a stream it is done when `end_for_caller` returns.
  virtual void begin_for_caller() {}
  virtual void end_for_caller() {}
  /// Bytes of memory that can still be allocated.
  virtual std::size_t free_memory() = 0;
  /// Bytes that are allocated on the device at present.
  std::size_t held() const { return held_; }

 protected:
  DeviceMemory() = default;

 private:
  friend class Memory;
  std::size_t held_ = 0;
  std::shared_ptr<void> staging_;
  std::size_t staging_bytes_ = 0;
};

/// Owner of device memory: frees it in the destructor.
class Memory {
 public:
  Memory() = default;
  Memory(std::shared_ptr<DeviceMemory> device, std::size_t bytes);
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  DeviceMemory& device() const { return *device_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  std::shared_ptr<DeviceMemory> device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace quarksmith
