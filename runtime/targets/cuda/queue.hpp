/// \file
/// Work of a CUDA stream that was enqueued once: graphs, and copies that are taken along with it.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/targets/cuda/memory.hpp"

namespace quarksmith::cuda {

/// A graph by stream capture. The first launch is a plain one, so that all kernels are loaded when the second is
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

}  // namespace quarksmith::cuda
