/// \file
/// Work of a stream that was enqueued once: graphs, and copies that are taken along with it.
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/targets/gpu/memory.hpp"
#include "runtime/targets/gpu/sites.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// A graph by stream capture. The first launch is a plain one, so that all kernels are loaded when the second is
/// recorded: loading is not allowed during a capture.
class GpuProgram final : public Program {
 public:
  /// \param reported whether the user knows that iterations cannot be recorded.
  GpuProgram(gpuStream_t stream, std::function<void()> enqueue, bool& reported)
      : stream_(stream), enqueue_(std::move(enqueue)), reported_(&reported) {}
  ~GpuProgram() override {
    if (program_ == nullptr) return;
    (void)gpuStreamSynchronize(stream_);
    (void)gpuGraphExecDestroy(program_);
  }
  void launch() override {
    if (++launches_ == 2) record();
    if (program_ != nullptr) {
      check(gpuGraphLaunch(program_, stream_), "launch of a recorded iteration");
    } else {
      enqueue_();
    }
  }

 private:
  void record() {
    gpuGraph_t graph = nullptr;
    gpuError_t status = gpuStreamBeginCapture(stream_, gpuStreamCaptureModeThreadLocal);
    if (status == gpuSuccess) {
      bool recorded = true;
      try {
        enqueue_();
      } catch (const Error&) {  // the plain launch that follows reports it if it is more than a matter of recording
        recorded = false;
      }
      status = gpuStreamEndCapture(stream_, &graph);
      if (status == gpuSuccess && !recorded) status = gpuErrorStreamCaptureInvalidated;
    }
    if (status == gpuSuccess) status = gpuGraphInstantiateWithFlags(&program_, graph, 0);
    if (graph != nullptr) (void)gpuGraphDestroy(graph);
    if (status == gpuSuccess) return;
    program_ = nullptr;
    (void)gpuGetLastError();
    if (std::exchange(*reported_, true)) return;
    fmt::print(stderr, "quarksmith: iterations are launched kernel by kernel: they cannot be recorded: {}\n",
               gpuGetErrorString(status));
  }

  gpuStream_t stream_;
  std::function<void()> enqueue_;
  bool* reported_;
  gpuGraphExec_t program_ = nullptr;
  int launches_ = 0;
};

/// An event of a queue.
class GpuMark final : public TimeMark {
 public:
  explicit GpuMark(gpuStream_t stream) {
    check(gpuEventCreate(&event_), "a time");
    check(gpuEventRecord(event_, stream), "a time");
  }
  ~GpuMark() override { (void)gpuEventDestroy(event_); }
  GpuMark(const GpuMark&) = delete;
  GpuMark& operator=(const GpuMark&) = delete;
  double since(const TimeMark& earlier) const override {
    float milliseconds = 0;
    check(gpuEventSynchronize(event_), "a time");
    check(gpuEventElapsedTime(&milliseconds, static_cast<const GpuMark&>(earlier).event_, event_), "a time");
    return milliseconds * 1e-3;
  }

 private:
  gpuEvent_t event_ = nullptr;
};

/// Copies into a ring of pinned memory; an event marks each copy as complete.
class GpuSnapshots final : public Snapshots {
 public:
  GpuSnapshots(gpuStream_t stream, const double* from, int count, int depth)
      : stream_(stream), from_(from), count_(count), done_(depth, nullptr) {
    void* pinned = nullptr;
    check(gpuHostMalloc(&pinned, sizeof(double) * count * depth), "snapshots");
    ring_ = static_cast<double*>(pinned);
    for (gpuEvent_t& event : done_) check(gpuEventCreateWithFlags(&event, gpuEventDisableTiming), "snapshots");
  }
  ~GpuSnapshots() override {
    (void)gpuStreamSynchronize(stream_);  // no copy may be under way into memory that is freed
    for (gpuEvent_t event : done_) (void)gpuEventDestroy(event);
    (void)gpuHostFree(ring_);
  }
  void take() override {
    const std::size_t place = taken_++ % done_.size();
    copy_numbers(from_, ring_ + place * count_, count_, stream_);
    check(gpuGetLastError(), "snapshots");
    check(gpuEventRecord(done_[place], stream_), "snapshots");
  }
  const double* wait() override {
    const std::size_t place = waited_++ % done_.size();
    check(gpuEventSynchronize(done_[place]), "an iteration");
    return ring_ + place * count_;
  }

 private:
  gpuStream_t stream_;
  const double* from_;
  int count_;
  std::vector<gpuEvent_t> done_;
  double* ring_ = nullptr;
  std::size_t taken_ = 0, waited_ = 0;
};

}  // namespace quarksmith::QUARKSMITH_TARGET
