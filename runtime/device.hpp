/// \file
/// Devices, where fields live and kernels run.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device_memory.hpp"
#include "runtime/registry.hpp"
#include "runtime/site_operations.hpp"
#include "runtime/target.hpp"
#include "runtime/tuning.hpp"
#include "runtime/work_queue.hpp"

namespace quarksmith {

/// Identity of a device.
struct DeviceIdentity {
  std::string description;                      ///< model, memory and instruction set in words
  std::map<std::string, std::string> evidence;  ///< for results of sweeps: model, compute capability, versions, clock
  std::pair<int, int> dlpack = {1, 0};          ///< DLDeviceType and device_id
  std::string pci_address = {};                 ///< e.g. `00000000:19:00.0`; empty for the host's processors
};

/// A target at run time: what it is, its memory, its kernels and the order in which they run. Calls from one thread at
/// a time.
class Device : public DeviceMemory, public WorkQueue, public SiteOperations {
 public:
  /// The host's processors.
  /// \throws Error this processor lacks the instruction set the library was built for.
  static std::shared_ptr<Device> cpu();
  /// `cpu`, another target, `TARGET:N` for its device number N, or `auto` (an accelerator if there is one, else the
  /// CPU). \param rank of this process on its host: ranks that name no number take the devices in turn.
  /// \throws UnknownName any other text. \throws Error there is no such device, or no kernels for it.
  static std::shared_ptr<Device> select(const std::string& choice, int rank = 0);
  /// Choices for `select` besides `auto`, for messages.
  static std::string choices();

  /// `cpu` or `TARGET:N`.
  virtual std::string name() const = 0;
  virtual DeviceIdentity identity() const = 0;
  std::string description() const { return identity().description; }
  /// True if it can access the memory of another device.
  virtual bool reaches(const Device&) const { return false; }
  /// The connection of two devices of this kind, given by their addresses on the bus, in words; if it is unknown, `why`
  /// gives the reason.
  virtual std::string link(const std::string&, const std::string&, std::string&) const { return "unknown"; }
  /// Kernels that run here.
  virtual std::span<const Kernel> kernels() const = 0;
  /// Kernels of an operation, in the order of `kernels`; valid until kernels are added.
  std::span<const Kernel* const> kernels_named(std::string_view operation) const;
  /// Lanes of a block that fill a register with numbers of so many bytes; 1 on GPUs.
  virtual int full_lanes(int element_bytes) const = 0;
  /// True if a site's reals are cut into short vectors, the site index fastest outside them.
  virtual bool short_vectors() const = 0;

  /// Makes this the device of the calling thread: needed before the other calls in threads that did not open it.
  virtual void attach() {}

  /// Begins and ends a named range that a profiler shows, if the device has one (NVTX).
  virtual void begin_range(const char*) {}
  virtual void end_range() {}

  /// Applies a kernel; it may still run when the call returns.
  virtual void run(const Kernel& kernel, const Arguments& arguments) = 0;
  /// Applies a reducing kernel and returns kernel.sums numbers for each right-hand side.
  virtual std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) = 0;

  /// Applies the stages of a hopping kernel that `work` names; with `beside` on the second queue.
  virtual void run_halo(const Kernel& kernel, const Arguments& arguments, const HaloWork& work, bool beside) = 0;
  /// Runs the program of a reducing kernel on device scalars alone, with these sums.
  virtual void run_program(const Kernel& kernel, const Arguments& arguments, const std::vector<double>& sums) = 0;

  /// Results of sweeps in this build for this kind of device, or another of its architecture.
  struct Tuned {
    int kernels = 0, stale = 0;  ///< measured kernels, and how many of them have changed since
    std::string on;              ///< the device that most of them were measured on
  };
  const Tuned& tuned() const { return tuned_; }
  /// Results of sweeps: the device's own first (tuned_for).
  const std::vector<TunedDevice>& sweeps() const { return sweeps_; }
  /// Disables tuned variants: every kernel runs in its default form.
  void forget_tuning() { variants_.clear(); }

 protected:
  Device() = default;
  /// Looks up what the build knows of devices of that name and architecture; kernels() must be ready.
  void choose_variants(std::string_view device, std::string_view architecture = {});
  /// The variant of a kernel that is fastest for such a launch, or the kernel itself.
  const Kernel& variant(const Kernel& kernel, const Arguments& arguments) const;

 private:
  std::vector<std::array<const Kernel*, launch_sizes>> variants_;  // by index of the kernel and LaunchSize
  // Kernels by operation, those in sorted_.
  mutable std::map<std::string_view, std::vector<const Kernel*>> by_operation_;
  mutable std::span<const Kernel> sorted_;
  std::vector<TunedDevice> sweeps_;
  Tuned tuned_;
};

/// A range of a profiler that ends with the scope.
class ProfilerRange {
 public:
  ProfilerRange(Device& device, const char* name) : device_(&device) { device.begin_range(name); }
  ~ProfilerRange() { device_->end_range(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  Device* device_;
};

}  // namespace quarksmith
