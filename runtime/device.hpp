/// \file
/// Devices, where fields live and kernels run.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/registry.hpp"
#include "runtime/kernels/stored_sites.hpp"
#include "runtime/target.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

/// Work that was enqueued once and can be started again at little cost.
class Program {
 public:
  virtual ~Program() = default;
  /// Enqueues the work.
  virtual void launch() = 0;
};

/// Copies of a few numbers in device memory, taken in the order of the device's work without stopping it.
class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// Enqueues a copy. At most `depth` copies may be taken that were not waited for.
  virtual void take() = 0;
  /// Waits for the oldest copy that was not waited for; valid until `depth` further ones were taken.
  virtual const double* wait() = 0;
};

/// A moment in the order of the device's work.
class TimeMark {
 public:
  virtual ~TimeMark() = default;
  /// Seconds since an earlier moment of the same device. Waits until this one has come.
  virtual double since(const TimeMark& earlier) const = 0;
};

class ExactSum;
struct SiteDraws;

/// A target at run time: its memory, its kernels. Calls from one thread at a time.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

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
  /// Kind and number of the device as in DLPack (DLDeviceType, device_id).
  virtual std::pair<int, int> exchange_name() const { return {1, 0}; }
  /// Model, memory and instruction set in words.
  virtual std::string description() const = 0;
  /// Facts for tuning evidence: name, compute capability, versions, clock.
  virtual std::map<std::string, std::string> facts() const = 0;
  /// Address of a GPU on its bus, e.g. `00000000:19:00.0`; empty for the host's processors.
  virtual std::string pci_address() const { return {}; }
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
  /// \throws OutOfMemory not enough memory; the message says how much was asked for.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies between host and device; done when the call returns.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Memory of the host that such copies reach fastest, at least so many bytes, for the next of them.
  void* staging(std::size_t bytes);
  /// Copy within the device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Sets every byte.
  virtual void fill(void* memory, int byte, std::size_t bytes) = 0;
  /// Copies sites between fields, of which one may lie in memory that ranks share.
  virtual void move_sites(const SiteMove& move) = 0;
  /// Draws noise into the sites of a field; \param draws its numbers are memory of the device.
  virtual void draw_sites(const SiteDraws& draws) = 0;
  /// Largest absolute value of the finite ones.
  virtual double largest(const SiteNumbers& numbers) = 0;
  /// Sum of the numbers, rounded as suits the `largest` of all ranks.
  virtual ExactSum sum(const SiteNumbers& numbers, double largest) = 0;
  /// Largest |re| or |im| of the finite numbers, [slice][number].
  virtual std::vector<double> largest_in_slices(const SliceNumbers& numbers) = 0;
  /// Sums over slices with phases, [slice][momentum][number][4]: multiples of the units of the number (all,
  /// [slice][number]), real and imaginary part of the first, then of the second.
  /// \param phases of each momentum and site of a slice as (re, im), in memory of the device.
  virtual std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                               const double* phases, int momenta) = 0;
  /// Waits for all kernels; reports an error that one of them met.
  virtual void synchronize() = 0;

  /// Applies a kernel; it may still run when the call returns.
  virtual void run(const Kernel& kernel, const Arguments& arguments) = 0;
  /// Applies a reducing kernel and returns kernel.sums numbers for each right-hand side.
  virtual std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) = 0;

  /// The kernels and copies that `enqueue` starts, recorded where the device can (as a graph) when they are launched
  /// for the second time. `enqueue` must start the same work each time, allocate nothing and wait for nothing.
  virtual std::unique_ptr<Program> program(std::function<void()> enqueue) = 0;
  /// Copies of `count` numbers at `from` in the device's memory, of which up to `depth` are kept.
  virtual std::unique_ptr<Snapshots> snapshots(const double* from, int count, int depth) = 0;
  /// True if kernels run while the host does other things.
  virtual bool asynchronous() const = 0;

  /// True if MPI reads and writes memory of the device.
  virtual bool in_reach_of_mpi() const { return true; }
  /// True if what goes to other ranks must pass through memory of the host.
  bool staged(const Communicator& c) const { return c.size() > 1 && !in_reach_of_mpi(); }
  /// Memory here that all ranks of the host can store into, zero at first; null on all of them if one cannot.
  /// Collective.
  virtual std::unique_ptr<SharedMemory> allocate_shared(std::size_t bytes, Communicator& communicator) = 0;
  /// Memory of the host that the device copies from and to at full speed.
  virtual std::shared_ptr<void> allocate_host(std::size_t bytes) = 0;
  /// Applies the parts of a hopping kernel that `work` names; `beside`: on a second queue, see below.
  virtual void run_halo(const Kernel& kernel, const Arguments& arguments, const HaloWork& work, bool beside) = 0;
  /// Runs the program of a reducing kernel on device scalars alone, with these sums.
  virtual void run_program(const Kernel& kernel, const Arguments& arguments, const std::vector<double>& sums) = 0;
  // A second queue, whose work may run while that of the first does; a GPU prefers it.
  /// Later work of the second queue starts after the work that the first one has been given so far; join: the reverse.
  virtual void fork() {}
  virtual void join() {}
  virtual void download_beside(void* host, const void* device, std::size_t bytes) = 0;
  virtual void upload_beside(void* device, const void* host, std::size_t bytes) = 0;
  /// Waits for the second queue.
  virtual void wait_beside() {}

  /// Bytes of memory that can still be allocated.
  virtual std::size_t free_memory() = 0;
  /// Bytes that fields hold here at present.
  std::size_t held() const { return held_; }

  /// The moment at which all work so far is done, without waiting for it.
  virtual std::unique_ptr<TimeMark> mark() = 0;
  /// Seconds that the device takes for the work that `enqueue` starts on it, launches included.
  virtual double time(const std::function<void()>& enqueue) = 0;
  /// As time, with the work as one graph where the device has such: without the cost of launches.
  virtual double time_graph(const std::function<void()>& enqueue) = 0;
  /// Results of sweeps in this build for this kind of device, or another of its architecture.
  struct Tuned {
    int kernels = 0, stale = 0;  ///< and how many of them changed since
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
  mutable std::map<std::string_view, std::vector<const Kernel*>> by_operation_;  // of these kernels:
  mutable std::span<const Kernel> sorted_;
  std::vector<TunedDevice> sweeps_;
  Tuned tuned_;
  friend class Memory;
  std::size_t held_ = 0;
  std::shared_ptr<void> staging_;
  std::size_t staging_bytes_ = 0;
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
