#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "runtime/device.hpp"
#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// Blocks of a reducing launch at most; see runtime/target_cuda.hpp: reducing_blocks.
constexpr int reducing_blocks = 2112;
constexpr int most_sums = 8, most_rhs = 64;

void check(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw Error(fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    const int count = cuda_devices();
    if (index >= count)
      throw Error(
          fmt::format("cuda:{} does not exist: {} GPU(s) found; use device cpu or a smaller number", index, count));
    check(cudaSetDevice(index), name());
    check(cudaGetDeviceProperties(&properties_, index), name());
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name());
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
    cudaFree(ticket_);
    cudaFree(partial_);
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
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      std::size_t free = 0, total = 0;
      cudaGetLastError();
      cudaMemGetInfo(&free, &total);
      throw OutOfMemory(
          fmt::format("{}: no memory for {} MiB, {} MiB of {} are free; use a smaller lattice, fewer right-hand "
                      "sides or a lower precision",
                      name(), bytes >> 20, free >> 20, total >> 20));
    }
    check(status, name());
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
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
  cudaStream_t stream_ = nullptr;
  double* partial_ = nullptr;
  unsigned* ticket_ = nullptr;
  double* sums_ = nullptr;  // pinned: kernels write it, the host reads it after synchronising
};

}  // namespace

namespace cuda {
std::span<const Kernel> kernels();  // generated/cuda/registry.cpp
}

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

}  // namespace quarksmith
