#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/exact_sum.hpp"
#include "runtime/roofs.hpp"
#include "runtime/targets/cuda/memory.hpp"
#include "runtime/targets/cuda/nvml.hpp"
#include "runtime/targets/cuda/queue.hpp"
#include "runtime/targets/cuda/sites.hpp"

#if defined(QUARKSMITH_MPI)
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif
#endif

namespace quarksmith::cuda {
namespace {

/// Blocks of a reducing launch at most; see sums.hpp: reducing_blocks.
constexpr int reducing_blocks = 2112;
constexpr int most_sums = Team::most_sums, most_rhs = Team::most_rhs;

int devices();

/// Fused multiply-adds that a multiprocessor begins in a clock (CUDA C++ Programming Guide, throughput of arithmetic
/// instructions); 0: of a compute capability that is not known here.
int units_of(const cudaDeviceProp& p, int real_bytes) {
  struct Units {
    int major, minor, single, double_;
  };
  static constexpr Units known[] = {{7, 0, 64, 32}, {7, 5, 64, 2},   {8, 0, 64, 32},   {8, 6, 128, 2},
                                    {8, 9, 128, 2}, {9, 0, 128, 64}, {10, 0, 128, 64}, {12, 0, 128, 2}};
  for (const Units& u : known)
    if (u.major == p.major && u.minor == p.minor) return real_bytes == 8 ? u.double_ : u.single;
  return 0;
}

class CudaDevice final : public Device, public Roofs {
 public:
  explicit CudaDevice(int index) : index_(index) {
    const int count = devices();
    if (index >= count)
      throw Error(
          fmt::format("cuda:{} does not exist: {} GPU(s) found; use device cpu or a smaller number", index, count));
    check(cudaSetDevice(index), name());
    check(cudaGetDeviceProperties(&properties_, index), name());
    int low = 0, high = 0;
    check(cudaDeviceGetStreamPriorityRange(&low, &high), name());
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, low), name());
    check(cudaStreamCreateWithPriority(&beside_, cudaStreamNonBlocking, high), name());
    check(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming), name());
    check(cudaEventCreateWithFlags(&joined_, cudaEventDisableTiming), name());
    memory_.emplace(index, properties_.totalGlobalMem, stream_);
    partial_ = static_cast<double*>(allocate(sizeof(double) * reducing_blocks * most_sums * most_rhs));
    ticket_ = static_cast<unsigned*>(allocate(sizeof(unsigned) * most_rhs));
    fill(ticket_, 0, sizeof(unsigned) * most_rhs);
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, sizeof(double) * most_sums * most_rhs), name());
    sums_ = static_cast<double*>(pinned);
    choose_variants(properties_.name);
  }
  ~CudaDevice() override {
    cudaFreeHost(sums_);
    release(ticket_);
    release(partial_);
    cudaEventDestroy(joined_);
    cudaEventDestroy(forked_);
    cudaStreamDestroy(beside_);
    cudaStreamDestroy(stream_);
  }

  std::string name() const override { return fmt::format("cuda:{}", index_); }
  std::pair<int, int> exchange_name() const override { return {2, index_}; }
  std::string description() const override {
    return fmt::format("{}, compute capability {}.{}, {} GiB, {} multiprocessors", properties_.name, properties_.major,
                       properties_.minor, properties_.totalGlobalMem >> 30, properties_.multiProcessorCount);
  }
  std::map<std::string, std::string> facts() const override {
    int driver = 0, runtime = 0, clock = 0;
    check(cudaDriverGetVersion(&driver), name());
    check(cudaRuntimeGetVersion(&runtime), name());
    check(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, index_), name());
    const auto version = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
    return {{"device", properties_.name},
            {"target", "cuda"},
            {"compute_capability", fmt::format("{}.{}", properties_.major, properties_.minor)},
            {"driver", version(driver)},
            {"toolkit", version(runtime)},
            {"clock_mhz", fmt::format("{}", clock / 1000)}};
  }
  std::string pci_address() const override {
    char address[32] = {};
    check(cudaDeviceGetPCIBusId(address, sizeof(address), index_), name());
    return address;
  }
  bool reaches(const Device& other) const override {
    const auto* const gpu = dynamic_cast<const CudaDevice*>(&other);
    int can = 0;
    if (gpu != nullptr && cudaDeviceCanAccessPeer(&can, index_, gpu->index_) == cudaSuccess) return can != 0;
    cudaGetLastError();
    return false;
  }
  std::string link(const std::string& a, const std::string& b, std::string& why) const override {
    return link_between(a, b, why);
  }
  std::unique_ptr<EnergyMeter> energy_meter(std::string& why) const override {
    return cuda::energy_meter(pci_address(), why);
  }
  std::span<const Kernel> kernels() const override { return kernels_of("cuda"); }
  int full_lanes(int) const override { return 1; }
  bool short_vectors() const override { return true; }
  std::size_t cache_bytes() const override { return static_cast<std::size_t>(properties_.l2CacheSize); }
  double peak(int real_bytes) const override {
    int clock = 0;  // kHz
    check(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, index_), name());
    return 2e3 * clock * properties_.multiProcessorCount * units_of(properties_, real_bytes);
  }

  void attach() override { check(cudaSetDevice(index_), name()); }
  void begin_range(const char* name) override { nvtxRangePushA(name); }
  void end_range() override { nvtxRangePop(); }
  void* allocate(std::size_t bytes) override { return memory_->allocate(bytes, name()); }
  void release(void* memory) noexcept override { memory_->release(memory); }
  void upload(void* device, const void* host, std::size_t bytes) override {
    // On the stream of the kernels: a plain cudaMemcpy may return before the device has the data, and does not wait for
    // them nor they for it.
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), name());
    synchronize();
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_), name());
    synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), name());
  }
  void fill(void* memory, int byte, std::size_t bytes) override {
    check(cudaMemsetAsync(memory, byte, bytes, stream_), name());
  }
  void move_sites(const SiteMove& move) override {
    cuda::move_sites(move, stream_);
    check(cudaGetLastError(), name() + ": copies of sites");
  }
  void draw_sites(const SiteDraws& draws) override {
    cuda::draw_sites(draws, stream_);
    check(cudaGetLastError(), name() + ": noise");
  }
  double largest(const SiteNumbers& numbers) override {
    std::array<double, sum_blocks> found;
    find_largest(numbers, partial_, stream_);
    check(cudaGetLastError(), name() + ": sums over sites");
    download(found.data(), partial_, sizeof(found));
    return *std::max_element(found.begin(), found.end());
  }
  ExactSum sum(const SiteNumbers& numbers, double largest) override {
    ExactSum sum(largest);
    std::array<UnitSum, sum_blocks> found;
    static_assert(sizeof(found) <= sizeof(double) * reducing_blocks * most_sums * most_rhs);
    auto* const partial = reinterpret_cast<UnitSum*>(partial_);
    add_up(numbers, largest, sum.scale(), partial, stream_);
    check(cudaGetLastError(), name() + ": sums over sites");
    download(found.data(), partial, sizeof(found));
    for (const UnitSum& part : found) sum.add(part.high, part.low, part.unusable);
    return sum;
  }
  std::vector<double> largest_in_slices(const SliceNumbers& numbers) override {
    std::vector<double> found(static_cast<std::size_t>(numbers.results()));
    const Scratch results(*this, found.size() * sizeof(double));
    cuda::largest_in_slices(numbers, static_cast<double*>(results.data), stream_);
    check(cudaGetLastError(), name() + ": sums over slices");
    download(found.data(), results.data, found.size() * sizeof(double));
    return found;
  }
  std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                       const double* phases, int momenta) override {
    std::vector<double> sums(static_cast<std::size_t>(numbers.results()) * momenta * 4);
    const Scratch results(*this, sums.size() * sizeof(double)), of_numbers(*this, units.size() * sizeof(SumUnits));
    upload(of_numbers.data, units.data(), units.size() * sizeof(SumUnits));
    cuda::sums_over_slices(numbers, static_cast<const SumUnits*>(of_numbers.data),
                           reinterpret_cast<const double2*>(phases), momenta, static_cast<double*>(results.data),
                           stream_);
    check(cudaGetLastError(), name() + ": sums over slices");
    download(sums.data(), results.data, sums.size() * sizeof(double));
    return sums;
  }
  void synchronize() override { check(cudaStreamSynchronize(stream_), name()); }

  void run(const Kernel& kernel, const Arguments& arguments) override {
    const bool adds_up = kernel.sums > 0 && kernel.family != "expression";  // those keep what each site gives
    if (adds_up && (kernel.sums > most_sums || arguments.rhs > most_rhs))
      throw UsageError(fmt::format("{}: {} sums of {} right-hand sides; at most {} of {}", kernel.name, kernel.sums,
                                   arguments.rhs, most_sums, most_rhs));
    Arguments a = arguments;
    a.sums = sums_;
    a.partial = partial_;
    a.ticket = ticket_;
    variant(kernel, a).apply(a, {.stream = stream_});
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) check(status, std::string(kernel.name));
  }

  std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) override {
    run(kernel, arguments);
    check(cudaStreamSynchronize(stream_), std::string(kernel.name));
    return {sums_, sums_ + kernel.sums * arguments.rhs};
  }

  bool in_reach_of_mpi() const override {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }
  std::unique_ptr<SharedMemory> allocate_shared(std::size_t bytes, Communicator& communicator) override {
    if (static_cast<int>(communicator.host_ranks().size()) != communicator.size() || communicator.size() > most_peers)
      return nullptr;
    auto memory = std::make_unique<PeerMemory>(bytes, communicator);
    if (communicator.sum(double(memory->complete())) < communicator.size()) {
      communicator.barrier();
      return nullptr;
    }
    return memory;
  }
  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), name());
    return {memory, [](void* m) { cudaFreeHost(m); }};
  }
  void run_halo(const Kernel& kernel, const Arguments& arguments, const HaloWork& work, bool beside) override {
    kernel.apply(arguments, {.stream = beside ? beside_ : stream_, .halo = &work});
    check(cudaGetLastError(), std::string(kernel.name));
  }
  void run_program(const Kernel& kernel, const Arguments& arguments, const std::vector<double>& sums) override {
    std::copy(sums.begin(), sums.end(), sums_);  // the kernel that left sums there before is done
    Arguments a = arguments;
    a.stage = SumStage::program;
    run(kernel, a);
  }
  void fork() override {
    check(cudaEventRecord(forked_, stream_), name());
    check(cudaStreamWaitEvent(beside_, forked_), name());
  }
  void join() override {
    check(cudaEventRecord(joined_, beside_), name());
    check(cudaStreamWaitEvent(stream_, joined_), name());
  }
  void download_beside(void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, beside_), name());
  }
  void upload_beside(void* device, const void* host, std::size_t bytes) override {
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, beside_), name());
  }
  void wait_beside() override { check(cudaStreamSynchronize(beside_), name()); }

  std::unique_ptr<Program> program(std::function<void()> enqueue) override {
    return std::make_unique<CudaProgram>(stream_, std::move(enqueue), told_);
  }
  std::unique_ptr<Snapshots> snapshots(const void* from, std::size_t bytes, int depth) override {
    return std::make_unique<CudaSnapshots>(stream_, from, bytes, depth);
  }
  bool asynchronous() const override { return true; }
  std::size_t free_memory() override { return memory_->free_bytes(name()); }

  double time(const std::function<void()>& enqueue) override {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), name());
    check(cudaEventCreate(&end), name());
    check(cudaEventRecord(begin, stream_), name());
    enqueue();
    check(cudaEventRecord(end, stream_), name());
    check(cudaEventSynchronize(end), name());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), name());
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return milliseconds * 1e-3;
  }
  double time_graph(const std::function<void()>& enqueue) override {
    cudaGraph_t graph;
    cudaGraphExec_t program;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), name());
    enqueue();
    check(cudaStreamEndCapture(stream_, &graph), name());
    check(cudaGraphInstantiate(&program, graph, 0), name());
    check(cudaGraphLaunch(program, stream_), name());
    const double seconds = time([&] { cudaGraphLaunch(program, stream_); });
    cudaGraphExecDestroy(program);
    cudaGraphDestroy(graph);
    return seconds;
  }

 private:
  int index_;
  cudaDeviceProp properties_{};
  std::optional<Pool> memory_;
  cudaStream_t stream_ = nullptr, beside_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
  bool told_ = false;
  double* partial_ = nullptr;
  unsigned* ticket_ = nullptr;
  double* sums_ = nullptr;  // pinned: kernels write it, the host reads it after synchronising
};

int devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

}  // namespace

extern const Target target;
const Target target{
    .name = "cuda",
    .devices = devices,
    .open = [](int index) -> std::shared_ptr<Device> { return std::make_shared<CudaDevice>(index); },
    .table = [] { return std::string_view("cuda"); },
};

}  // namespace quarksmith::cuda
