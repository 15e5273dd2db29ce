#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "runtime/cuda_memory.hpp"
#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/exact_sum.hpp"
#include "runtime/kernels/targets/sites_cuda.hpp"

namespace quarksmith {

namespace cuda {
std::span<const Kernel> kernels();  // generated/cuda/registry.cpp
}  // namespace cuda

namespace {

/// Blocks of a reducing launch at most; see runtime/kernels/targets/cuda.hpp: reducing_blocks.
constexpr int reducing_blocks = 2112;
constexpr int most_sums = Team::most_sums, most_rhs = Team::most_rhs;

using cuda::check;

/// A CUDA graph by stream capture. The first launch is a plain one, so that all kernels are loaded when the second is
/// recorded: loading is not allowed during a capture.
class CudaProgram final : public Program {
 public:
  /// \param told whether the user knows that iterations cannot be recorded.
  CudaProgram(cudaStream_t stream, std::function<void()> enqueue, bool& told)
      : stream_(stream), enqueue_(std::move(enqueue)), told_(&told) {}
  ~CudaProgram() override {
    if (program_ == nullptr) return;
    cudaStreamSynchronize(stream_);
    cudaGraphExecDestroy(program_);
  }
  void launch() override {
    if (++launches_ == 2) record();
    if (program_ != nullptr) {
      check(cudaGraphLaunch(program_, stream_), "launch of a recorded iteration");
    } else {
      enqueue_();
    }
  }

 private:
  void record() {
    cudaGraph_t graph = nullptr;
    cudaError_t status = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
    if (status == cudaSuccess) {
      bool recorded = true;
      try {
        enqueue_();
      } catch (const Error&) {  // the plain launch that follows reports it if it is more than a matter of recording
        recorded = false;
      }
      status = cudaStreamEndCapture(stream_, &graph);
      if (status == cudaSuccess && !recorded) status = cudaErrorStreamCaptureInvalidated;
    }
    if (status == cudaSuccess) status = cudaGraphInstantiate(&program_, graph, 0);
    if (graph != nullptr) cudaGraphDestroy(graph);
    if (status == cudaSuccess) return;
    program_ = nullptr;
    cudaGetLastError();
    if (std::exchange(*told_, true)) return;
    fmt::print(stderr, "quarksmith: iterations are launched kernel by kernel: they cannot be recorded: {}\n",
               cudaGetErrorString(status));
  }

  cudaStream_t stream_;
  std::function<void()> enqueue_;
  bool* told_;
  cudaGraphExec_t program_ = nullptr;
  int launches_ = 0;
};

/// Copies into a ring of pinned memory; an event marks each copy as complete.
class CudaSnapshots final : public Snapshots {
 public:
  CudaSnapshots(cudaStream_t stream, const void* from, std::size_t bytes, int depth)
      : stream_(stream), from_(from), bytes_(bytes), done_(depth, nullptr) {
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, bytes * depth), "snapshots");
    ring_ = static_cast<char*>(pinned);
    for (cudaEvent_t& event : done_) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "snapshots");
  }
  ~CudaSnapshots() override {
    cudaStreamSynchronize(stream_);  // no copy may be under way into memory that is freed
    for (cudaEvent_t event : done_) cudaEventDestroy(event);
    cudaFreeHost(ring_);
  }
  void take() override {
    const std::size_t place = taken_++ % done_.size();
    check(cudaMemcpyAsync(ring_ + place * bytes_, from_, bytes_, cudaMemcpyDeviceToHost, stream_), "snapshots");
    check(cudaEventRecord(done_[place], stream_), "snapshots");
  }
  const double* wait() override {
    const std::size_t place = waited_++ % done_.size();
    check(cudaEventSynchronize(done_[place]), "an iteration");
    return reinterpret_cast<const double*>(ring_ + place * bytes_);
  }

 private:
  cudaStream_t stream_;
  const void* from_;
  std::size_t bytes_;
  std::vector<cudaEvent_t> done_;
  char* ring_ = nullptr;
  std::size_t taken_ = 0, waited_ = 0;
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
    // Memory must not go while others have it mapped; after an error they may never come, and the job ends.
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

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    const int count = cuda_devices();
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
  std::span<const Kernel> kernels() const override { return cuda_kernels(); }
  int full_lanes(int) const override { return 1; }
  bool short_vectors() const override { return true; }

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
    std::array<double, cuda::sum_blocks> found;
    cuda::find_largest(numbers, partial_, stream_);
    check(cudaGetLastError(), name() + ": sums over sites");
    download(found.data(), partial_, sizeof(found));
    return *std::max_element(found.begin(), found.end());
  }
  ExactSum sum(const SiteNumbers& numbers, double largest) override {
    ExactSum sum(largest);
    std::array<cuda::UnitSum, cuda::sum_blocks> found;
    static_assert(sizeof(found) <= sizeof(double) * reducing_blocks * most_sums * most_rhs);
    auto* const partial = reinterpret_cast<cuda::UnitSum*>(partial_);
    cuda::add_up(numbers, largest, sum.scale(), partial, stream_);
    check(cudaGetLastError(), name() + ": sums over sites");
    download(found.data(), partial, sizeof(found));
    for (const cuda::UnitSum& part : found) sum.add(part.high, part.low, part.unusable);
    return sum;
  }
  void synchronize() override { check(cudaStreamSynchronize(stream_), name()); }

  void run(const Kernel& kernel, const Arguments& arguments) override {
    if (kernel.sums > most_sums || arguments.rhs > most_rhs)
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
  std::optional<cuda::Memory> memory_;
  cudaStream_t stream_ = nullptr, beside_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
  bool told_ = false;
  double* partial_ = nullptr;
  unsigned* ticket_ = nullptr;
  double* sums_ = nullptr;  // pinned: kernels write it, the host reads it after synchronising
};

}  // namespace

std::span<const Kernel> built_cuda_kernels();
std::span<const Kernel> built_cuda_kernels() { return cuda::kernels(); }

std::shared_ptr<Device> Device::cuda(int index) { return std::make_shared<CudaDevice>(index); }

int Device::cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

bool Device::cuda_reaches(int from, int to) {
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, from, to) == cudaSuccess) return can != 0;
  cudaGetLastError();
  return false;
}

}  // namespace quarksmith
