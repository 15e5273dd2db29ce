/// \file
/// A GPU: memory, launches, recorded programs, times. Included once, by device.cpp of a target, after its names.hpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/lattice/exact_sum.hpp"
#include "runtime/kernels/slabs.hpp"
#include "runtime/roofs.hpp"
#include "runtime/targets/gpu/board.hpp"
#include "runtime/targets/gpu/memory.hpp"
#include "runtime/targets/gpu/queue.hpp"
#include "runtime/targets/gpu/sites.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith::QUARKSMITH_TARGET {
namespace {

/// Blocks of a reducing launch at most; see sums.hpp: reducing_blocks.
constexpr int reducing_blocks = 2112;
constexpr int most_sums = Team::most_sums, most_rhs = Team::most_rhs;

int devices();

class GpuDevice final : public Device, public Roofs {
 public:
  explicit GpuDevice(int index) : index_(index) {
    const int count = devices();
    if (index >= count)
      throw Error(fmt::format("{} does not exist: {} GPU(s) found; use device cpu or a smaller number", name(), count));
    check(gpuSetDevice(index), name());
    check(gpuGetDeviceProperties(&properties_, index), name());
    int low = 0, high = 0;
    check(gpuDeviceGetStreamPriorityRange(&low, &high), name());
    check(gpuStreamCreateWithPriority(&stream_, gpuStreamNonBlocking, low), name());
    check(gpuStreamCreateWithPriority(&beside_, gpuStreamNonBlocking, high), name());
    check(gpuEventCreateWithFlags(&forked_, gpuEventDisableTiming), name());
    check(gpuEventCreateWithFlags(&joined_, gpuEventDisableTiming), name());
    memory_.emplace(index, properties_.totalGlobalMem, stream_);
    partial_ = static_cast<double*>(memory_->allocate(sizeof(double) * reducing_blocks * most_sums * most_rhs, name()));
    ticket_ = static_cast<unsigned*>(memory_->allocate(sizeof(unsigned) * most_rhs, name()));
    fill(ticket_, 0, sizeof(unsigned) * most_rhs);
    void* pinned = nullptr;
    check(gpuHostMalloc(&pinned, sizeof(double) * most_sums * most_rhs), name());
    sums_ = static_cast<double*>(pinned);
    choose_variants(properties_.name, architecture(properties_).number);
  }
  ~GpuDevice() override {
    (void)gpuHostFree(sums_);
    memory_->release(ticket_);
    memory_->release(partial_);
    (void)gpuEventDestroy(joined_);
    (void)gpuEventDestroy(forked_);
    (void)gpuStreamDestroy(beside_);
    (void)gpuStreamDestroy(stream_);
  }

  std::string name() const override { return fmt::format("{}:{}", target.name, index_); }
  DeviceIdentity identity() const override {
    int driver = 0, runtime = 0, clock = 0;
    check(gpuDriverGetVersion(&driver), name());
    check(gpuRuntimeGetVersion(&runtime), name());
    check(gpuDeviceGetAttribute(&clock, gpuDevAttrClockRate, index_), name());
    char address[32] = {};
    check(gpuDeviceGetPCIBusId(address, sizeof(address), index_), name());
    const Architecture a = architecture(properties_);
    return {.description = fmt::format("{}, {}, {} GiB, {} multiprocessors", properties_.name, a.words,
                                       properties_.totalGlobalMem >> 30, properties_.multiProcessorCount),
            .evidence = {{"device", properties_.name},
                         {"target", std::string(target.name)},
                         {a.key, a.number},
                         {"driver", version_text(driver)},
                         {"toolkit", version_text(runtime)},
                         {"clock_mhz", fmt::format("{}", clock / 1000)}},
            .dlpack = {2, index_},
            .pci_address = address};
  }
  bool reaches(const Device& other) const override {
    const auto* const gpu = dynamic_cast<const GpuDevice*>(&other);
    int can = 0;
    if (gpu != nullptr && gpuDeviceCanAccessPeer(&can, index_, gpu->index_) == gpuSuccess) return can != 0;
    (void)gpuGetLastError();
    return false;
  }
  std::string link(const std::string& a, const std::string& b, std::string& why) const override {
    return QUARKSMITH_TARGET::link_between(a, b, why);
  }
  std::span<const Kernel> kernels() const override { return kernels_of(target.name); }
  int full_lanes(int) const override { return 1; }
  bool short_vectors() const override { return true; }
  std::size_t cache_bytes() const override { return static_cast<std::size_t>(properties_.l2CacheSize); }
  double peak(int real_bytes) const override {
    int clock = 0;  // kHz
    check(gpuDeviceGetAttribute(&clock, gpuDevAttrClockRate, index_), name());
    return 2e3 * clock * properties_.multiProcessorCount * units_of(properties_, real_bytes);
  }

  void attach() override { check(gpuSetDevice(index_), name()); }
  void begin_range(const char* name) override { QUARKSMITH_TARGET::begin_range(name); }
  void end_range() override { QUARKSMITH_TARGET::end_range(); }
  void* allocate(std::size_t bytes) override {
    if (!given_.allocate) return memory_->allocate(bytes, name());
    void* const memory = given_.allocate(std::max<std::size_t>(bytes, 1), stream_);
    if (memory == nullptr)
      throw OutOfMemory(
          fmt::format("{}: the pool of the calling program has no memory for {} MiB; use a smaller "
                      "lattice, fewer right-hand sides or a lower precision",
                      name(), bytes >> 20));
    return memory;
  }
  void release(void* memory) noexcept override {
    if (given_.release)
      given_.release(memory, stream_);
    else
      memory_->release(memory);
  }
  void use(Allocator pool) override {
    if (held() > 0)
      throw UsageError(
          fmt::format("{} bytes of {} are in use; give the pool before anything else is made", held(), name()));
    given_ = std::move(pool);
  }
  std::string holder_of(const void* address) const override {
    gpuPointerAttributes found{};
    if (gpuPointerGetAttributes(&found, address) != gpuSuccess) {
      (void)gpuGetLastError();  // memory of the host that the driver does not know
      return {};
    }
    const bool here = found.type == gpuMemoryTypeDevice || found.type == gpuMemoryTypeManaged;
    return here ? fmt::format("{}:{}", target.name, found.device) : "";
  }
  void follow(void* stream) override { caller_ = static_cast<gpuStream_t>(stream); }
  void begin_for_caller() override {
    if (!caller_) return;
    check(gpuEventRecord(forked_, *caller_), name() + ": stream of the calling program");
    check(gpuStreamWaitEvent(stream_, forked_, 0), name());
  }
  void end_for_caller() override {
    if (!caller_) return synchronize();
    check(gpuEventRecord(joined_, stream_), name());
    check(gpuStreamWaitEvent(*caller_, joined_, 0), name() + ": stream of the calling program");
  }
  void upload(void* device, const void* host, std::size_t bytes) override {
    // On the stream of the kernels: a plain gpuMemcpy may return before the device has the data, and does not wait for
    // them nor they for it.
    check(gpuMemcpyAsync(device, host, bytes, gpuMemcpyHostToDevice, stream_), name());
    synchronize();
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    check(gpuMemcpyAsync(host, device, bytes, gpuMemcpyDeviceToHost, stream_), name());
    synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(gpuMemcpyAsync(to, from, bytes, gpuMemcpyDeviceToDevice, stream_), name());
  }
  void fill(void* memory, int byte, std::size_t bytes) override {
    check(gpuMemsetAsync(memory, byte, bytes, stream_), name());
  }
  void move_sites(const SiteMove& move) override {
    QUARKSMITH_TARGET::move_sites(move, stream_);
    check(gpuGetLastError(), name() + ": copies of sites");
  }
  void draw_sites(const SiteDraws& draws) override {
    QUARKSMITH_TARGET::draw_sites(draws, stream_);
    check(gpuGetLastError(), name() + ": noise");
  }
  void move_array(const ArrayMove& move) override {
    QUARKSMITH_TARGET::move_array(move, stream_);
    check(gpuGetLastError(), name() + ": copy of an array");
  }
  double largest(const SiteNumbers& numbers) override {
    std::array<double, sum_blocks> found;
    find_largest(numbers, partial_, stream_);
    check(gpuGetLastError(), name() + ": sums over sites");
    download(found.data(), partial_, sizeof(found));
    return *std::max_element(found.begin(), found.end());
  }
  ExactSum sum(const SiteNumbers& numbers, double largest) override {
    ExactSum sum(largest);
    std::array<UnitSum, sum_blocks> found;
    static_assert(sizeof(found) <= sizeof(double) * reducing_blocks * most_sums * most_rhs);
    auto* const partial = reinterpret_cast<UnitSum*>(partial_);
    add_up(numbers, largest, sum.scale(), partial, stream_);
    check(gpuGetLastError(), name() + ": sums over sites");
    download(found.data(), partial, sizeof(found));
    for (const UnitSum& part : found) sum.add(part.high, part.low, part.unusable);
    return sum;
  }
  std::vector<double> largest_in_slices(const SliceNumbers& numbers) override {
    std::vector<double> found(static_cast<std::size_t>(numbers.results()));
    const Scratch results(*this, found.size() * sizeof(double));
    QUARKSMITH_TARGET::largest_in_slices(numbers, static_cast<double*>(results.data), stream_);
    check(gpuGetLastError(), name() + ": sums over slices");
    download(found.data(), results.data, found.size() * sizeof(double));
    return found;
  }
  std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                       const double* phases, int momenta) override {
    std::vector<double> sums(static_cast<std::size_t>(numbers.results()) * momenta * 4);
    const Scratch results(*this, sums.size() * sizeof(double)), of_numbers(*this, units.size() * sizeof(SumUnits));
    upload(of_numbers.data, units.data(), units.size() * sizeof(SumUnits));
    QUARKSMITH_TARGET::sums_over_slices(numbers, static_cast<const SumUnits*>(of_numbers.data),
                                        reinterpret_cast<const double2*>(phases), momenta,
                                        static_cast<double*>(results.data), stream_);
    check(gpuGetLastError(), name() + ": sums over slices");
    download(sums.data(), results.data, sums.size() * sizeof(double));
    return sums;
  }
  void synchronize() override { check(gpuStreamSynchronize(stream_), name()); }

  void run(const Kernel& kernel, const Arguments& arguments) override {
    const bool adds_up = kernel.sums > 0 && kernel.family != "expression";  // those keep what each site gives
    if (adds_up && (kernel.sums > most_sums || arguments.rhs > most_rhs))
      throw UsageError(fmt::format("{}: {} sums of {} right-hand sides; at most {} of {}", kernel.name, kernel.sums,
                                   arguments.rhs, most_sums, most_rhs));
    Arguments a = arguments;
    a.sums = sums_;
    a.partial = partial_;
    a.ticket = ticket_;
    // Of forces, and of many right-hand sides, neighbours in t are read from the second cache:
    // runtime/kernels/slabs.hpp.
    const bool much = kernel.family == "expression" || (kernel.family == "hopping" && a.rhs >= register_tile);
    const bool large = launch_size_of(a.geometry.half_sites) == LaunchSize::large;
    a.geometry.slab = much && large ? slab_depth(a.geometry) : 0;
    if (a.part.half_sites == 0) a.part = a.geometry;
    a.part.slab = much && large ? slab_depth(a.part) : 0;
    variant(kernel, a).apply(a, {.stream = stream_});
    if (const gpuError_t status = gpuGetLastError(); status != gpuSuccess) check(status, std::string(kernel.name));
  }

  std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) override {
    run(kernel, arguments);
    check(gpuStreamSynchronize(stream_), std::string(kernel.name));
    return {sums_, sums_ + kernel.sums * arguments.rhs};
  }

  bool in_reach_of_mpi() const override { return QUARKSMITH_TARGET::in_reach_of_mpi(); }
  std::unique_ptr<SharedMemory> allocate_shared(std::size_t bytes, Communicator& communicator) override {
    if (communicator.largest(static_cast<double>(communicator.host_ranks().size())) > most_peers) return nullptr;
    auto memory = std::make_unique<PeerMemory>(bytes, communicator);
    if (communicator.sum(double(memory->complete())) < communicator.size()) {
      communicator.barrier();
      return nullptr;
    }
    return memory;
  }
  bool puts() const override { return QUARKSMITH_TARGET::puts(); }
  std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t bytes, int signals,
                                                      Communicator& communicator) override {
    if (!puts()) return Device::allocate_symmetric(bytes, signals, communicator);
    return QUARKSMITH_TARGET::allocate_symmetric(bytes, signals, communicator, beside_);
  }
  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    void* memory = nullptr;
    check(gpuHostMalloc(&memory, bytes), name());
    return {memory, [](void* m) { (void)gpuHostFree(m); }};
  }
  void run_halo(const Kernel& kernel, const Arguments& arguments, const HaloWork& work, bool beside) override {
    kernel.apply(arguments, {.stream = beside ? beside_ : stream_, .halo = &work});
    check(gpuGetLastError(), std::string(kernel.name));
  }
  void run_program(const Kernel& kernel, const Arguments& arguments, const std::vector<double>& sums) override {
    std::copy(sums.begin(), sums.end(), sums_);  // the kernel that left sums there before is done
    Arguments a = arguments;
    a.stage = SumStage::program;
    run(kernel, a);
  }
  void fork() override {
    check(gpuEventRecord(forked_, stream_), name());
    check(gpuStreamWaitEvent(beside_, forked_, 0), name());
  }
  void join() override {
    check(gpuEventRecord(joined_, beside_), name());
    check(gpuStreamWaitEvent(stream_, joined_, 0), name());
  }
  void download_beside(void* host, const void* device, std::size_t bytes) override {
    check(gpuMemcpyAsync(host, device, bytes, gpuMemcpyDeviceToHost, beside_), name());
  }
  void upload_beside(void* device, const void* host, std::size_t bytes) override {
    check(gpuMemcpyAsync(device, host, bytes, gpuMemcpyHostToDevice, beside_), name());
  }
  void wait_beside() override { check(gpuStreamSynchronize(beside_), name()); }

  std::unique_ptr<Program> program(std::function<void()> enqueue) override {
    return std::make_unique<GpuProgram>(stream_, std::move(enqueue), reported_);
  }
  std::unique_ptr<Snapshots> snapshots(const double* from, int count, int depth) override {
    return std::make_unique<GpuSnapshots>(stream_, from, count, depth);
  }
  bool asynchronous() const override { return true; }
  std::size_t free_memory() override { return memory_->free_bytes(name()); }

  std::unique_ptr<TimeMark> mark() override { return std::make_unique<GpuMark>(stream_); }
  double time(const std::function<void()>& enqueue) override {
    const GpuMark begin(stream_);
    enqueue();
    return GpuMark(stream_).since(begin);
  }
  double time_graph(const std::function<void()>& enqueue) override {
    gpuGraph_t graph;
    gpuGraphExec_t program;
    check(gpuStreamBeginCapture(stream_, gpuStreamCaptureModeThreadLocal), name());
    enqueue();
    check(gpuStreamEndCapture(stream_, &graph), name());
    check(gpuGraphInstantiateWithFlags(&program, graph, 0), name());
    check(gpuGraphLaunch(program, stream_), name());
    const double seconds = time([&] { (void)gpuGraphLaunch(program, stream_); });
    (void)gpuGraphExecDestroy(program);
    (void)gpuGraphDestroy(graph);
    return seconds;
  }

 private:
  /// Memory for as long as this lives.
  struct Scratch {
    Scratch(GpuDevice& owner, std::size_t bytes) : device(owner), data(owner.allocate(bytes)) {}
    ~Scratch() { device.release(data); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    GpuDevice& device;
    void* data;
  };

  int index_;
  gpuDeviceProp properties_{};
  std::optional<Pool> memory_;
  Allocator given_;                    ///< empty: of memory_
  std::optional<gpuStream_t> caller_;  ///< stream of the calling program
  gpuStream_t stream_ = nullptr, beside_ = nullptr;
  gpuEvent_t forked_ = nullptr, joined_ = nullptr;
  bool reported_ = false;
  double* partial_ = nullptr;
  unsigned* ticket_ = nullptr;
  double* sums_ = nullptr;  // pinned: kernels write it, the host reads it after synchronising
};

int devices() {
  int count = 0;
  if (gpuGetDeviceCount(&count) != gpuSuccess) {
    (void)gpuGetLastError();
    return 0;
  }
  return count;
}

}  // namespace

/// Of the target that includes this.
inline constexpr Target gpus(std::string_view name) {
  return {
      .name = name,
      .devices = devices,
      .open = [](int index) -> std::shared_ptr<Device> { return std::make_shared<GpuDevice>(index); },
      .table = [] { return target.name; },
  };
}

}  // namespace quarksmith::QUARKSMITH_TARGET
