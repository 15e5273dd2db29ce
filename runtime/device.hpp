/// \file
/// Where fields live and kernels run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/registry.hpp"

namespace quarksmith {

/// A target at run time: its memory, its kernels. Calls from one thread at a time.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// The host's processors.
  /// \throws Error this processor lacks the instruction set the library was built for.
  static std::shared_ptr<Device> cpu();
  /// GPU number `index`.
  /// \throws Error there is none, or the library was built without CUDA.
  static std::shared_ptr<Device> cuda(int index);
  /// `cpu`, `cuda`, `cuda:N` or `auto` (a GPU if there is one, else the CPU).
  /// \throws UsageError any other text; Error as above.
  static std::shared_ptr<Device> select(const std::string& choice);
  /// GPUs that can be used; 0 without CUDA.
  static int cuda_devices();

  /// `cpu` or `cuda:N`.
  virtual std::string name() const = 0;
  /// Model, memory and instruction set in words.
  virtual std::string description() const = 0;
  /// Kernels that run here.
  virtual std::span<const Kernel> kernels() const = 0;
  /// Lanes of a block that fill a register with numbers of so many bytes; 1 on GPUs.
  virtual int full_lanes(int element_bytes) const = 0;
  /// True if a site's reals are cut into short vectors, the site index fastest outside them.
  virtual bool short_vectors() const = 0;

  /// \throws Error not enough memory; the message says how much was asked for.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies between host and device; done when the call returns.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Copy within the device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Sets every byte.
  virtual void fill(void* memory, int byte, std::size_t bytes) = 0;
  /// Waits for all kernels; reports an error that one of them met.
  virtual void synchronize() = 0;

  /// Applies a kernel; it may still run when the call returns.
  virtual void run(const Kernel& kernel, const Arguments& arguments) = 0;
  /// Applies a reducing kernel and returns kernel.sums numbers for each right-hand side.
  virtual std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) = 0;

  /// Seconds that the device takes for the work that `enqueue` starts on it, launches included.
  virtual double time(const std::function<void()>& enqueue) = 0;

 protected:
  Device() = default;
};

/// Memory of a device.
class Memory {
 public:
  Memory() = default;
  Memory(std::shared_ptr<Device> device, std::size_t bytes);
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device& device() const { return *device_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  std::shared_ptr<Device> device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace quarksmith
